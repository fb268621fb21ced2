// SPDX-License-Identifier: Apache-2.0
#include "app/values/value_summary.hpp"

#include <fmt/format.h>

#include <bit>

namespace spsolve {
namespace {

/// Scatters the bits of a number (splitmix64; Steele, Lea and Flood 2014).
constexpr std::uint64_t scattered(std::uint64_t bits) {
  bits += 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

/// Replaces a number by `value` if that is better.
template <class Better>
void improve(std::atomic<double>& number, double value, Better&& better) {
  double known = number.load();
  while (better(value, known) && !number.compare_exchange_weak(known, value)) {
  }
}

}  // namespace

void ValueSummary::add(const Index3& begin, std::span<const double> values) {
  ValueFacts row;
  std::uint64_t sum = 0;
  auto index = static_cast<std::uint64_t>(index_of(begin, shape_));
  for (const double value : values) {
    // Both zeros count as one value. A sum over points does not depend on which rank adds which point.
    sum += scattered(std::bit_cast<std::uint64_t>(value + 0.0) ^ scattered(index++));
    row.min = std::min(row.min, value);
    row.max = std::max(row.max, value);
  }
  sum_ += sum;
  improve(min_, row.min, std::less());
  improve(max_, row.max, std::greater());
}

ValueFacts ValueSummary::of_all(const Communicator& communicator) const {
  std::uint64_t sum = sum_;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, communicator.handle()));
  return {communicator.all_reduce(min_.load(), MPI_MIN), communicator.all_reduce(max_.load(), MPI_MAX),
          fmt::format("{:016x}", sum)};
}

}  // namespace spsolve
