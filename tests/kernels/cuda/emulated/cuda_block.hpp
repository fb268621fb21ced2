// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file defines the subset of CUDA that the kernels need, for a host compiler. A block is a set of fibers
// that run one after the other, each up to a barrier, a shuffle or a wait for a copy. There is one thread of
// the host, and one block at a time.

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#ifndef EMULATED_ARCHITECTURE
#define EMULATED_ARCHITECTURE 900
#endif
#define __CUDA_ARCH__ EMULATED_ARCHITECTURE
#define __device__
#define __forceinline__ inline
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)
#define __shared__
#define __constant__
#define __align__(bytes)

using std::max, std::min;  // CUDA has them without a namespace

struct Coordinates {
  unsigned x, y, z;
};
inline Coordinates threadIdx, blockIdx, blockDim, gridDim;

namespace emulated {

/// Runs the threads of a block as fibers. A fiber begins by a ucontext, and lives as long as the program.
/// Later switches are long jumps between stacks, because swapcontext() asks the kernel for the mask of
/// signals at every switch, which took most of the time of the tests. The file must be compiled with
/// -U_FORTIFY_SOURCE, which would refuse jumps between stacks.
class Fibers {
 public:
  /// Runs `thread` as threads 0 .. n - 1. Aborts the program with a message if all of them wait (deadlock).
  void run(int n, void (*thread)()) {
    const auto threads = static_cast<std::size_t>(n);
    thread_ = thread;
    block_ = Barrier{n};
    warps_.assign(threads / 32, Barrier{32});
    values_.resize(threads);
    if (fibers_.size() < threads) fibers_.resize(threads);
    for (Fiber& fiber : fibers_) fiber.ended = false;
    for (bool all_ended = false; !all_ended;) {
      all_ended = true;
      bool any_progress = false;
      for (std::size_t first = 0; first < threads; first += 32) {
        do {
          progress_ = false;
          if (resume_warp(first, std::min(first + 32, threads))) all_ended = false;
          any_progress = any_progress || progress_;
        } while (warps_run_ahead && progress_);
      }
      if (!all_ended && !any_progress) {
        std::fputs("deadlock: all threads of the block wait\n", stderr);
        std::abort();
      }
    }
  }

  void yield() {
    if (_setjmp(fibers_[threadIdx.x].position) == 0) _longjmp(scheduler_, 1);
  }
  void progress() { progress_ = true; }
  void meet_block() { meet(block_); }
  void meet_warp() { meet(warps_[threadIdx.x / 32]); }
  /// Waits for `threads` threads at the barrier of this number.
  void meet(int barrier, int threads) {
    named_[barrier].threads = threads;
    meet(named_[barrier]);
  }

  /// Says whether a warp runs until it waits for others before the next warp runs. Otherwise warps take turns
  /// whenever their lanes meet.
  bool warps_run_ahead = false;

  /// Returns the value of another lane of the warp.
  template <class T>
  T shuffle(T value, unsigned lane) {
    static_assert(sizeof(T) <= sizeof(double));
    std::memcpy(&values_[threadIdx.x], &value, sizeof value);
    meet_warp();
    std::memcpy(&value, &values_[threadIdx.x / 32 * 32 + lane], sizeof value);
    meet_warp();
    return value;
  }

  /// Returns one bit of every lane of the warp.
  unsigned ballot(bool value) {
    values_[threadIdx.x] = value;
    meet_warp();
    unsigned votes = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
      votes |= unsigned{values_[threadIdx.x / 32 * 32 + lane] != 0} << lane;
    meet_warp();
    return votes;
  }

 private:
  static constexpr std::size_t stack_bytes = 1 << 17;
  struct Fiber {
    std::vector<char> stack;  // empty until it begins
    jmp_buf position;         // where it goes on
    bool ended = false;
  };
  struct Barrier {
    int threads = 0, arrived = 0;
    unsigned generation = 0;
  };

  /// Runs the threads of a warp until each of them yields. Returns false if all of them have ended before.
  bool resume_warp(std::size_t first, std::size_t end) {
    bool any = false;
    for (std::size_t i = first; i < end; ++i) {
      if (fibers_[i].ended) continue;
      any = true;
      threadIdx = {static_cast<unsigned>(i), 0, 0};
      resume(fibers_[i]);
    }
    return any;
  }
  /// Runs a fiber until it yields.
  void resume(Fiber& fiber) {
    if (_setjmp(scheduler_) != 0) return;
    if (!fiber.stack.empty()) _longjmp(fiber.position, 1);
    fiber.stack.resize(stack_bytes);
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = fiber.stack.data();
    context.uc_stack.ss_size = stack_bytes;
    makecontext(&context, run_threads, 0);
    setcontext(&context);
  }
  static void run_threads();
  void meet(Barrier& barrier) {
    const unsigned generation = barrier.generation;
    if (++barrier.arrived == barrier.threads) {
      barrier.arrived = 0;
      ++barrier.generation;
      progress_ = true;
    }
    while (barrier.generation == generation) yield();
  }

  void (*thread_)() = nullptr;
  Barrier block_;
  std::vector<Barrier> warps_;
  Barrier named_[16];
  std::vector<double> values_;
  std::vector<Fiber> fibers_;
  jmp_buf scheduler_;
  bool progress_ = false;
};
inline Fibers fibers;  // the running block, on which the CUDA functions below act

/// Runs a thread of one block after the other, each when the fiber is resumed.
inline void Fibers::run_threads() {
  for (;;) {
    fibers.thread_();
    fibers.fibers_[threadIdx.x].ended = true;
    fibers.progress_ = true;
    fibers.yield();
  }
}

}  // namespace emulated

inline void __syncthreads() { emulated::fibers.meet_block(); }
inline void __syncwarp() { emulated::fibers.meet_warp(); }
template <class T>
T __shfl_sync(unsigned, T value, unsigned lane) {
  return emulated::fibers.shuffle(value, lane);
}
template <class T>
T __shfl_up_sync(unsigned, T value, unsigned by) {
  const unsigned lane = threadIdx.x % 32;
  return emulated::fibers.shuffle(value, lane >= by ? lane - by : lane);
}
template <class T>
T __shfl_down_sync(unsigned, T value, unsigned by) {
  const unsigned lane = threadIdx.x % 32;
  return emulated::fibers.shuffle(value, lane + by < 32 ? lane + by : lane);
}
inline unsigned __ballot_sync(unsigned, bool value) { return emulated::fibers.ballot(value); }
inline int __any_sync(unsigned, bool value) { return emulated::fibers.ballot(value) != 0; }

inline unsigned atomicAdd(unsigned* to, unsigned value) {
  const unsigned before = *to;
  *to += value;
  return before;
}
inline int __popc(unsigned bits) { return std::popcount(bits); }

inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __dmul_rn(double a, double b) { return a * b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline unsigned __float_as_uint(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float __uint_as_float(unsigned bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline int __double2loint(double value) { return static_cast<int>(std::bit_cast<std::uint64_t>(value)); }
inline int __double2hiint(double value) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 32);
}
inline double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(std::uint64_t{static_cast<std::uint32_t>(high)} << 32 |
                               static_cast<std::uint32_t>(low));
}
