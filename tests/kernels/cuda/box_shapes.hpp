// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/shape_case.hpp"

namespace spsolve::testing {

/// Of more taps than a march takes, on grids large enough for box_step.cuh (with one plane or two in a
/// block).
inline const ShapeCase box_shapes[] = {
    {"box3", {101, 131, 167}, {3, 3, 3}, false, BoundaryKind::dirichlet, Precision::fp32},
    {"box3", {37, 61, 133}, {3, 3, 3}, false, BoundaryKind::periodic, Precision::fp64},
    {"box5", {61, 93, 133}, {5, 4, 3}, false, BoundaryKind::neumann, Precision::bf16},
    {"box9", {1, 503, 597}, {0, 9, 10}, false, BoundaryKind::neumann, Precision::fp32},
    {"box15", {1, 203, 397}, {0, 15, 15}, false, BoundaryKind::periodic, Precision::fp16},
    {"box12", {1, 203, 397}, {0, 12, 24}, false, BoundaryKind::dirichlet, Precision::tf32},
    {"layers", {203, 5, 397}, {9, 0, 9}, false, BoundaryKind::neumann, Precision::fp64}};

}  // namespace spsolve::testing
