// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/shape_case.hpp"

namespace spsolve::testing {

// These stencils have more or farther taps than a march takes, on grids large enough for single-step tiles in
// shared memory.

/// Lists shapes for box_step.cuh, with one plane or two per block.
inline const ShapeCase box_shapes[] = {
    {"box3", {101, 131, 167}, {3, 3, 3}, false, BoundaryKind::dirichlet, Precision::fp32},
    {"box3", {37, 61, 133}, {3, 3, 3}, false, BoundaryKind::periodic, Precision::fp64},
    {"box5", {61, 93, 133}, {5, 4, 3}, false, BoundaryKind::neumann, Precision::bf16},
    {"box9", {1, 503, 597}, {0, 9, 10}, false, BoundaryKind::neumann, Precision::fp32},
    {"box15", {1, 203, 397}, {0, 15, 15}, false, BoundaryKind::periodic, Precision::fp16},
    {"box12", {1, 203, 397}, {0, 12, 24}, false, BoundaryKind::dirichlet, Precision::tf32},
    {"layers", {203, 5, 397}, {9, 0, 9}, false, BoundaryKind::neumann, Precision::fp64}};

/// Lists shapes for star_step.cuh.
inline const ShapeCase star_shapes[] = {
    {"star4", {131, 201, 263}, {4, 4, 4}, true, BoundaryKind::neumann, Precision::fp64},
    {"star6", {131, 165, 231}, {6, 5, 6}, true, BoundaryKind::dirichlet, Precision::fp32},
    {"star5", {121, 193, 233}, {5, 6, 7}, true, BoundaryKind::periodic, Precision::fp16},
    {"star8", {121, 193, 233}, {8, 8, 8}, true, BoundaryKind::neumann, Precision::bf16},
    {"star7", {151, 193, 333}, {7, 5, 5}, true, BoundaryKind::dirichlet, Precision::tf32},
    {"star9", {1, 803, 997}, {0, 9, 10}, true, BoundaryKind::neumann, Precision::fp64},
    {"star12", {1, 1203, 997}, {0, 12, 11}, true, BoundaryKind::dirichlet, Precision::fp16},
    {"layers", {403, 15, 597}, {9, 0, 9}, true, BoundaryKind::periodic, Precision::fp32}};

}  // namespace spsolve::testing
