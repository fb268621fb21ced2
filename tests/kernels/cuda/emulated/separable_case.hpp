// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "case_named.hpp"
#include "kernels/cuda/tensor/separable_program.hpp"
#include "kernels/rounding.hpp"
#include "tests/support/separable.hpp"

namespace spsolve::cuda {

/// Describes a separable sweep of random factors of either sign on a grid of several blocks. Cases named
/// _sm80 have the limits of an A100.
struct EmulatedSeparableCase {
  const char* label;
  Index3 shape, radius;
  int rank;
  Precision precision;
  bool with_source = false;
  bool aligned = true;  // rows of results and source are aligned to 16 bytes

  SeparableStencil stencil() const {
    std::mt19937_64 random(41);
    return testing::random_separable(random, {-1 * radius, radius + Index3{1, 1, 1}}, rank);
  }
  BlockLimits limits() const {
    return name().ends_with("_sm80") ? BlockLimits{80, 163 << 10} : BlockLimits{};
  }
  SeparableProgram program() const {
    return required(SeparableProgram::make(stencil(), precision, limits()));
  }

  std::string_view name() const { return label; }
  std::string constants() const { return program().constants(aligned, with_source); }
};

inline constexpr EmulatedSeparableCase separable_cases[] = {
    {"fp16", {1, 75, 1111}, {0, 7, 7}, 1, Precision::fp16},
    {"fp16_source", {1, 75, 555}, {0, 5, 7}, 2, Precision::fp16, true},
    {"bf16_two_windows", {1, 99, 301}, {0, 15, 13}, 2, Precision::bf16, true},
    {"fp16_three_windows", {1, 131, 301}, {0, 19, 20}, 1, Precision::fp16},
    {"fp16_four_windows", {1, 149, 269}, {0, 31, 31}, 2, Precision::fp16},
    {"fp16_line", {1, 41, 1049}, {0, 0, 40}, 1, Precision::fp16},
    {"tf32_line_source", {1, 41, 569}, {0, 0, 120}, 1, Precision::tf32, true},
    {"fp32_line", {1, 41, 301}, {0, 0, 72}, 1, Precision::fp32},
    {"fp16_rows", {1, 75, 555}, {0, 5, 7}, 2, Precision::fp16, true, false},
    {"tf32", {1, 75, 301}, {0, 7, 9}, 1, Precision::tf32},
    {"tf32_source", {1, 99, 269}, {0, 18, 17}, 1, Precision::tf32, true},
    {"fp32", {1, 75, 301}, {0, 3, 4}, 2, Precision::fp32, true},
    {"volume_fp16", {9, 75, 141}, {2, 4, 5}, 2, Precision::fp16, true},
    {"volume_fp32", {9, 45, 141}, {1, 3, 2}, 2, Precision::fp32},
    {"fp16_sm80", {1, 75, 555}, {0, 5, 7}, 2, Precision::fp16, true},
    {"bf16_two_windows_sm80", {1, 99, 301}, {0, 15, 13}, 1, Precision::bf16},
    {"fp32_sm80", {1, 75, 301}, {0, 3, 4}, 1, Precision::fp32},
    {"volume_bf16_sm80", {9, 75, 141}, {2, 4, 5}, 2, Precision::bf16, true},
};

}  // namespace spsolve::cuda
