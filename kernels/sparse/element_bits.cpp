// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/element_bits.hpp"

#include <bit>
#include <stdexcept>

namespace spsolve {

std::uint32_t element_bits(Precision element, double value) {
  switch (element) {
    case Precision::fp16:
      return std::bit_cast<std::uint16_t>(to_storage<Half>(value));
    case Precision::bf16:
      return to_storage<Bfloat16>(value).bits;
    case Precision::tf32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(to_storage<Tf32>(value)));
    default:
      throw std::invalid_argument("sparse tensor cores take fp16, bf16 and tf32 operands");
  }
}

float element_value(Precision element, std::uint32_t bits) {
  switch (element) {
    case Precision::fp16:
      return static_cast<float>(std::bit_cast<Half>(static_cast<std::uint16_t>(bits)));
    case Precision::bf16:
      return std::bit_cast<float>(bits << 16);
    case Precision::tf32:
      return std::bit_cast<float>(bits & ~0x1fffu);
    default:
      throw std::invalid_argument("sparse tensor cores take fp16, bf16 and tf32 operands");
  }
}

}  // namespace spsolve
