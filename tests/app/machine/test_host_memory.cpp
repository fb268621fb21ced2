// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "app/machine/host_memory.hpp"

namespace spsolve {
namespace {

namespace fs = std::filesystem;

/// Imitates a file system that reports 1000 KiB of memory, 800 of them free.
class HostMemoryOf : public ::testing::Test {
 protected:
  HostMemoryOf() { write("proc/meminfo", "MemTotal:  1000 kB\nMemFree:  10 kB\nMemAvailable:  800 kB\n"); }
  ~HostMemoryOf() override { fs::remove_all(root_); }

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  void expect(double all, double free_now, const std::string& whose) const {
    EXPECT_EQ(available_memory(false, root_).bytes, all);
    EXPECT_EQ(available_memory(true, root_).bytes, free_now);
    EXPECT_TRUE(available_memory(true, root_).whose.ends_with(whose)) << available_memory(true, root_).whose;
  }

 private:
  fs::path root_ = fs::temp_directory_path() / ("spsolve_host_memory_" + std::to_string(getpid()));
};

TEST_F(HostMemoryOf, TheMachine) {
  expect(1024000, 819200, "free on this machine");
  write("proc/self/cgroup", "0::/\n");
  expect(1024000, 819200, "free on this machine");
}

TEST_F(HostMemoryOf, ContainersOfVersion2) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "5000\n");
  write("sys/fs/cgroup/memory.current", "3000\n");
  write("sys/fs/cgroup/memory.stat", "anon 100\nfile 2500\nactive_file 200\ninactive_file 800\n");
  expect(5000, 3000, "sys/fs/cgroup/memory.max");
  write("sys/fs/cgroup/memory.max", "max\n");
  expect(1024000, 819200, "free on this machine");
}

TEST_F(HostMemoryOf, GroupsAboveOfVersion2) {
  write("proc/self/cgroup", "0::/jobs/job 7:a/step\n");
  write("sys/fs/cgroup/jobs/job 7:a/step/memory.max", "max\n");
  write("sys/fs/cgroup/jobs/job 7:a/memory.max", "9000\n");
  write("sys/fs/cgroup/jobs/job 7:a/memory.current", "1000\n");
  write("sys/fs/cgroup/jobs/memory.max", "9500\n");
  write("sys/fs/cgroup/jobs/memory.current", "9900\n");
  expect(9000, 0, "/jobs/memory.max");
}

TEST_F(HostMemoryOf, GroupsOfVersion1) {
  write("proc/self/cgroup", "7:cpuset:/elsewhere\n4:cpu,memory:/slurm/job_7\n0::/\n");
  write("sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", "9000\n");
  write("sys/fs/cgroup/memory/slurm/job_7/memory.usage_in_bytes", "4000\n");
  write("sys/fs/cgroup/memory/slurm/job_7/memory.stat", "inactive_file 7\ntotal_inactive_file 1500\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  expect(9000, 6500, "slurm/job_7/memory.limit_in_bytes");
}

/// The path may be that of the host, which is not visible inside a container.
TEST_F(HostMemoryOf, ContainersOfVersion1) {
  write("proc/self/cgroup", "4:memory:/docker/0123\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9000\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "4000\n");
  expect(9000, 5000, "cgroup/memory/memory.limit_in_bytes");
}

}  // namespace
}  // namespace spsolve
