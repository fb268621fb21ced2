// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "app/machine/control_groups.hpp"

namespace spsolve {
namespace {

namespace fs = std::filesystem;

class QuotaOfProcessors : public ::testing::Test {
 protected:
  ~QuotaOfProcessors() override { fs::remove_all(root_); }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  double quota() const { return processor_quota(root_).processors; }

  fs::path root_ = fs::temp_directory_path() / ("spsolve_quota_" + std::to_string(getpid()));
};

TEST_F(QuotaOfProcessors, IsUnlimitedWithoutGroups) {
  EXPECT_TRUE(std::isinf(quota()));
  write("proc/self/cgroup", "0::/\n");
  EXPECT_TRUE(std::isinf(quota()));
}

TEST_F(QuotaOfProcessors, OfVersion2IsTheLeastUpToTheRoot) {
  write("proc/self/cgroup", "0::/jobs/step\n");
  write("sys/fs/cgroup/jobs/step/cpu.max", "max 100000\n");
  EXPECT_TRUE(std::isinf(quota()));
  write("sys/fs/cgroup/jobs/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 1.5);
  write("sys/fs/cgroup/cpu.max", "50000 50000\n");
  EXPECT_EQ(quota(), 1.0);
}

TEST_F(QuotaOfProcessors, OfVersion1) {
  write("proc/self/cgroup", "5:memory:/other\n4:cpu,cpuacct:/docker/abc\n0::/\n");
  write("sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us", "100000\n");
  EXPECT_TRUE(std::isinf(quota()));
  write("sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "250000\n");
  EXPECT_EQ(quota(), 2.5);
  write("sys/fs/cgroup/cpu/other/cpu.cfs_quota_us", "1\n");  // another controller's group
  EXPECT_EQ(quota(), 2.5);
}

TEST_F(QuotaOfProcessors, IsFoundWhereverGroupsAreMounted) {
  write("proc/self/cgroup", "4:cpu,cpuacct:/docker/abc/step\n0::/jobs/step\n");
  write("proc/self/mountinfo",
        "25 20 0:22 / /sys/fs/cgroup ro shared:9 - tmpfs tmpfs ro\n"
        "26 25 0:23 /docker/abc /cpus rw,nosuid shared:10 master:2 - cgroup none rw,cpu,cpuacct\n"
        "27 25 0:24 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n");
  EXPECT_TRUE(std::isinf(quota()));
  write("sys/fs/cgroup/unified/jobs/cpu.max", "400000 100000\n");
  EXPECT_EQ(quota(), 4.0);
  EXPECT_EQ(processor_quota(root_).group, root_ / "sys/fs/cgroup/unified/jobs");
  write("cpus/cpu.cfs_period_us", "100000\n");
  write("cpus/cpu.cfs_quota_us", "300000\n");  // the quota of /docker/abc, which is the mounted group
  EXPECT_EQ(quota(), 3.0);
  write("cpus/step/cpu.cfs_period_us", "100000\n");
  write("cpus/step/cpu.cfs_quota_us", "200000\n");
  EXPECT_EQ(quota(), 2.0);
}

/// A container may see the groups of others, and of the whole host, at several places.
TEST_F(QuotaOfProcessors, IsThatOfTheMountThatShowsTheGroup) {
  write("proc/self/cgroup", "0::/jobs/17\n");
  write("proc/self/mountinfo",
        "26 25 0:24 /other /mnt/other rw - cgroup2 cgroup2 rw\n"
        "27 25 0:24 /jobs /mnt/my\\040jobs rw - cgroup2 cgroup2 rw\n");
  write("mnt/other/cpu.max", "100000 100000\n");
  write("mnt/my jobs/17/cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(), 3.0);
}

TEST_F(QuotaOfProcessors, OfAContainerThatSeesAnotherPath) {
  write("proc/self/cgroup", "0::/../../user.slice\n");
  write("proc/self/mountinfo", "27 25 0:24 /box /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  write("sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_EQ(quota(), 1.0);
}

}  // namespace
}  // namespace spsolve
