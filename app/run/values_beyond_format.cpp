// SPDX-License-Identifier: Apache-2.0
#include "app/run/values_beyond_format.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace spsolve {
namespace {

/// Returns how many values of a block of fp32 numbers are infinite.
std::int64_t count_infinite(std::span<const std::byte> block) {
  const auto* const numbers = reinterpret_cast<const float*>(block.data());
  return std::count_if(numbers, numbers + block.size() / sizeof(float),
                       [](float value) { return std::isinf(value); });
}

}  // namespace

ValuesBeyondFormat::ValuesBeyondFormat(Precision state, Precision file)
    : is_narrower_(storage_bytes(file) < storage_bytes(state)) {}

void ValuesBeyondFormat::look_at(const Copies& copies) {
  for (const auto& copy : copies) max_magnitude_ = std::max(max_magnitude_, copy->max_magnitude);
}

void ValuesBeyondFormat::count_in(const Communicator& communicator, std::span<NamedRows> arrays) {
  if (!is_narrower_) return;
  max_magnitude_ = communicator.all_reduce(max_magnitude_, MPI_MAX);  // a rank also writes values of others
  if (max_magnitude_ <= double{std::numeric_limits<float>::max()}) return;
  for (NamedRows& array : arrays)
    array.inspect = [this](std::span<const std::byte> block) { count_ += count_infinite(block); };
}

void ValuesBeyondFormat::sum(const Communicator& communicator) {
  if (is_narrower_) count_ = communicator.all_reduce(count_.load(), MPI_SUM);
}

bool ValuesBeyondFormat::warn(const Terminal& terminal, const std::string& file,
                              const std::string& section) const {
  if (is_narrower_ && max_magnitude_ > 0 && static_cast<float>(max_magnitude_) == 0) {
    terminal.warn(
        "the values of the {} are {:.3g} at most, which is zero in fp32: [{}] precision = \"fp64\" "
        "holds what is computed",
        file, max_magnitude_, section);
    return true;
  }
  if (count_ == 0) return false;
  terminal.warn(
      "in the {} {} beyond the range of fp32 {} infinite: [{}] precision = \"fp64\" holds what is computed",
      file, counted(count_, "value"), count_ == 1 ? "is" : "are", section);
  return true;
}

}  // namespace spsolve
