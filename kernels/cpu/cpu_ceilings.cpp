// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/cpu_ceilings.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

#include "kernels/cpu/cpu_tiles.hpp"
#include "kernels/memory.hpp"
#include "kernels/rounding.hpp"

// Compiles one version per instruction set; the program selects one when it starts.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define SPSOLVE_VERSIONS [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#else
#define SPSOLVE_VERSIONS
#endif

namespace spsolve {
namespace {

constexpr int chain_bytes = 512;  // independent sums: eight registers of the widest kind

template <class T>
[[gnu::always_inline]] inline T fma_chains(std::int64_t repeats) {
  constexpr int chains = chain_bytes / sizeof(T);
  T sums[chains];
  for (int i = 0; i < chains; ++i) sums[i] = static_cast<T>(i);
  for (std::int64_t repeat = 0; repeat < repeats; ++repeat)
#pragma GCC unroll 128
    for (int i = 0; i < chains; ++i) sums[i] = std::fma(sums[i], T(0.999), T(0.5));
  T sum = 0;
  for (const T value : sums) sum += value;
  return sum;
}

SPSOLVE_VERSIONS double fma_fp64(std::int64_t repeats) { return fma_chains<double>(repeats); }
SPSOLVE_VERSIONS float fma_fp32(std::int64_t repeats) { return fma_chains<float>(repeats); }
#undef SPSOLVE_VERSIONS

/// Returns the rate of `work` units per call. Boost is the best of seven calls, sustained their median.
template <class Call>
Ceiling rate(const char* name, const char* unit, double work, Call&& call) {
  constexpr int repeats = 7;
  double seconds[repeats];
  call();
  for (double& once : seconds) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    once = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  std::sort(seconds, seconds + repeats);
  return {name, unit, work / seconds[0], work / seconds[repeats / 2]};
}

template <class T>
Ceiling measure_fma(const char* name, T (*chains)(std::int64_t)) {
  constexpr std::int64_t repeats = 4'000'000;
  int threads = 0;
  volatile T kept;
  const auto run = [&] {
    T sum = 0;
    threads = 0;
#pragma omp parallel reduction(+ : sum, threads)
    {
      sum = chains(repeats);
      threads = 1;
    }
    kept = sum;
  };
  run();
  return rate(name, "flop/s", 2.0 * repeats * (chain_bytes / sizeof(T)) * threads, run);
}

Ceiling measure_copy() {
  // The arrays are far larger than the caches, also with many sockets, and lie near the threads that copy
  // them.
  constexpr std::size_t row_bytes = 4096;
  const auto bytes = static_cast<std::size_t>(round_up<std::int64_t>(
      std::max<std::int64_t>(256 << 20, 4 * cache_bytes(_SC_LEVEL3_CACHE_SIZE, 0)), row_bytes));
  const OwnedMemory from = allocate(host_memory(), bytes, row_bytes),
                    to = allocate(host_memory(), bytes, row_bytes);
  const auto* const read = reinterpret_cast<const double*>(from.get());
  auto* const written = reinterpret_cast<double*>(to.get());
  const auto count = static_cast<std::int64_t>(bytes / sizeof(double));
  return rate("copy", "B/s", 3.0 * static_cast<double>(bytes), [&] {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) written[i] = read[i];
  });
}

}  // namespace

std::vector<Ceiling> measure_cpu_ceilings() {
  return {measure_copy(), measure_fma("fma fp32", fma_fp32), measure_fma("fma fp64", fma_fp64)};
}

}  // namespace spsolve
