// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace spsolve {

/// Names the precision that the user asks for (docs/internals/numerics.md): the storage format of a field
/// and, for tf32, the rounding of operands.
enum class Precision { fp64, fp32, tf32, bf16, fp16 };
inline constexpr std::array all_precisions{Precision::fp64, Precision::fp32, Precision::tf32, Precision::bf16,
                                           Precision::fp16};
/// The names are in the order of Precision.
inline constexpr std::array<std::string_view, 5> precision_names{"fp64", "fp32", "tf32", "bf16", "fp16"};

/// Holds an fp32 number that is rounded to the 10 mantissa bits of tf32 (ties to even) when it is read as an
/// operand.
struct Tf32 {
  float stored;

  Tf32() = default;
  explicit Tf32(float value) : stored(value) {}
  explicit operator float() const {
    auto bits = std::bit_cast<std::uint32_t>(stored);
    if ((bits & 0x7f80'0000u) != 0x7f80'0000u) bits = (bits + 0x0fffu + ((bits >> 13) & 1u)) & ~0x1fffu;
    return std::bit_cast<float>(bits);
  }
};

/// Holds an IEEE 754 binary16 number. Conversions from float round to nearest, ties to even.
struct Half {
  _Float16 stored;

  Half() = default;
  explicit Half(float value) : stored(static_cast<_Float16>(value)) {}
  explicit operator float() const { return stored; }
};

/// Holds a bfloat16 number: the upper half of a float. Conversions from float round to nearest, ties to even.
struct Bfloat16 {
  std::uint16_t bits;

  Bfloat16() = default;
  explicit Bfloat16(float value) {
    const auto wide = std::bit_cast<std::uint32_t>(value);
    const bool is_nan = (wide & 0x7fff'ffffu) > 0x7f80'0000u;
    bits = static_cast<std::uint16_t>(is_nan ? (wide >> 16 & 0x8000u) | 0x7fc0u
                                             : (wide + 0x7fffu + (wide >> 16 & 1u)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};

/// Names the type of sums of products: double for fp64, float for all others.
template <class Storage>
using Compute = std::conditional_t<std::is_same_v<Storage, double>, double, float>;

/// Calls visit.operator()<Storage>() with the storage type of a precision and returns the result.
template <class Visit>
decltype(auto) with_storage(Precision precision, Visit&& visit) {
  switch (precision) {
    case Precision::fp32:
      return visit.template operator()<float>();
    case Precision::tf32:
      return visit.template operator()<Tf32>();
    case Precision::bf16:
      return visit.template operator()<Bfloat16>();
    case Precision::fp16:
      return visit.template operator()<Half>();
    case Precision::fp64:
      break;
  }
  return visit.template operator()<double>();
}

/// Returns the value of a stored number without the operand rounding of tf32.
template <class Storage>
double stored_value(Storage value) {
  if constexpr (std::is_same_v<Storage, Tf32>)
    return static_cast<double>(value.stored);
  else if constexpr (sizeof(Storage) == 2)
    return static_cast<double>(static_cast<float>(value));
  else
    return static_cast<double>(value);
}

/// Rounds a double to the storage format once, not through float.
template <class Storage>
Storage to_storage(double value);
template <>
double to_storage<double>(double value);
template <>
float to_storage<float>(double value);
template <>
Tf32 to_storage<Tf32>(double value);
template <>
Bfloat16 to_storage<Bfloat16>(double value);
template <>
Half to_storage<Half>(double value);

/// Returns the bytes of a stored number.
constexpr std::size_t storage_bytes(Precision precision) {
  return precision == Precision::fp64                                   ? 8
         : precision == Precision::fp32 || precision == Precision::tf32 ? 4
                                                                        : 2;
}

/// Returns the precision of sums. Sources have it too, and so have intermediate results between kernels of
/// one launch.
constexpr Precision sum_precision(Precision precision) {
  return precision == Precision::fp64 ? Precision::fp64 : Precision::fp32;
}

/// Returns the unit roundoff of a precision: half the distance from 1 to the next number.
constexpr double unit_roundoff(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return 0x1p-24;
    case Precision::tf32:
      return 0x1p-11;
    case Precision::bf16:
      return 0x1p-8;
    case Precision::fp16:
      return 0x1p-11;
    case Precision::fp64:
      break;
  }
  return 0x1p-53;
}

constexpr std::string_view to_string(Precision precision) {
  return precision_names[static_cast<std::size_t>(precision)];
}
/// Returns the precision of that name, and nothing for any other name.
std::optional<Precision> parse_precision(std::string_view name);

}  // namespace spsolve
