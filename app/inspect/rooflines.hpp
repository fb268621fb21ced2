// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "solver/plan/plan.hpp"

namespace spsolve {

/// Holds the candidates of one unit, layout and precision under their roofline (paper 003, figures 2 and 10).
struct Roofline {
  struct Point {
    int fuse;            // steps per launch [t]
    double intensity;    // executed flop/B [I]
    double performance;  // executed flop/s in the model
    bool in_sweet_spot;
  };

  std::string name;  // unit and layout, by describe(Method)
  Precision precision = Precision::fp64;
  double peak = 0;   // flop/s [P]
  double ridge = 0;  // flop/B [I*]
  bool on_tensor_cores = false;
  std::vector<Point> points;  // by growing depth
  int profitable = 0;         // the largest depth that is in the sweet spot; 0: none
};

/// Returns the rooflines of a plan's candidates, in their order. Candidates without a known peak (those of
/// systems of equations) have none.
std::vector<Roofline> rooflines_of(const Plan& plan);

}  // namespace spsolve
