// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <random>

#include "case_named.hpp"
#include "kernels/cuda/tensor/mma_program.hpp"

namespace spsolve::cuda {

/// Describes a sweep of random weights of either sign on a grid of several blocks.
struct EmulatedMmaCase {
  const char* label;
  Index3 shape, radius;
  Precision precision;
  Layout layout;
  TensorCores cores;
  bool aligned = false;  // rows in memory are aligned to one copy

  Domain domain() const {
    Domain domain;
    domain.dimensions = shape[z_axis] > 1 ? 3 : shape[y_axis] > 1 ? 2 : 1;
    domain.shape = shape;
    return domain;
  }
  /// Returns weights that fp32 represents exactly.
  Stencil stencil() const {
    std::mt19937_64 random(31);
    std::uniform_real_distribution<float> value(-1.0f, 1.0f);
    const Index3 extent = 2 * radius + Index3{1, 1, 1};
    std::vector<double> weights(static_cast<std::size_t>(volume(extent)));
    for (double& weight : weights) weight = value(random);
    return {extent, weights, radius};
  }
  MmaProgram program() const {
    return required(MmaProgram::make(domain(), stencil(), precision, layout, cores));
  }

  std::string_view name() const { return label; }
  std::string constants() const { return program().constants(aligned, true); }
};

inline constexpr EmulatedMmaCase mma_cases[] = {
    {"split2d_wide", {1, 23, 91}, {0, 4, 4}, Precision::fp32, Layout::strided_swap, TensorCores::sparse},
    {"split2d_groups", {1, 29, 77}, {0, 9, 9}, Precision::fp32, Layout::morph, TensorCores::sparse},
    {"split2d_dense", {1, 19, 83}, {0, 5, 4}, Precision::fp32, Layout::morph, TensorCores::dense},
    {"split3d", {7, 11, 67}, {2, 2, 2}, Precision::fp32, Layout::morph, TensorCores::sparse},
    {"split1d", {1, 1, 587}, {0, 0, 41}, Precision::fp32, Layout::strided_swap, TensorCores::sparse},
    {"split2d", {1, 23, 91}, {0, 2, 3}, Precision::fp32, Layout::morph, TensorCores::sparse},
    {"tf32_3d", {7, 11, 67}, {1, 1, 2}, Precision::tf32, Layout::morph, TensorCores::sparse},
    {"fp64_3d", {7, 9, 71}, {2, 1, 1}, Precision::fp64, Layout::morph, TensorCores::dense},
    {"tall3d", {3, 40, 24}, {1, 130, 0}, Precision::fp32, Layout::morph, TensorCores::sparse},
    {"aligned2d", {1, 23, 91}, {0, 4, 4}, Precision::fp32, Layout::morph, TensorCores::sparse, true},
    {"aligned_fp64", {1, 21, 75}, {0, 3, 2}, Precision::fp64, Layout::morph, TensorCores::dense, true},
};

}  // namespace spsolve::cuda
