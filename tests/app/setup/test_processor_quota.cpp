// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "app/machine/control_groups.hpp"

namespace spsolve {
namespace {

namespace fs = std::filesystem;

class ProcessorQuota : public ::testing::Test {
 protected:
  ~ProcessorQuota() override { fs::remove_all(root_); }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  double quota() const { return processor_quota(root_); }

 private:
  fs::path root_ = fs::temp_directory_path() / ("spsolve_quota_" + std::to_string(getpid()));
};

TEST_F(ProcessorQuota, IsUnlimitedWithoutGroups) {
  EXPECT_TRUE(std::isinf(quota()));
  write("proc/self/cgroup", "0::/\n");
  EXPECT_TRUE(std::isinf(quota()));
}

TEST_F(ProcessorQuota, OfVersion2IsTheLeastUpToTheRoot) {
  write("proc/self/cgroup", "0::/jobs/step\n");
  write("sys/fs/cgroup/jobs/step/cpu.max", "max 100000\n");
  EXPECT_TRUE(std::isinf(quota()));
  write("sys/fs/cgroup/jobs/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 1.5);
  write("sys/fs/cgroup/cpu.max", "50000 50000\n");
  EXPECT_EQ(quota(), 1.0);
}

TEST_F(ProcessorQuota, OfVersion1) {
  write("proc/self/cgroup", "5:memory:/other\n4:cpu,cpuacct:/docker/abc\n0::/\n");
  write("sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us", "100000\n");
  EXPECT_TRUE(std::isinf(quota()));
  write("sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "250000\n");
  EXPECT_EQ(quota(), 2.5);
  write("sys/fs/cgroup/cpu/other/cpu.cfs_quota_us", "1\n");  // another controller's group
  EXPECT_EQ(quota(), 2.5);
}

}  // namespace
}  // namespace spsolve
