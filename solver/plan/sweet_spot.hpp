// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace spsolve {

struct Candidate;

/// Names the verdict of the enhanced roofline of paper 003 (section 4.1) on a candidate on tensor cores
/// against the scalar unit at the same depth.
enum class Verdict {
  none,         // it does not run on tensor cores of a GPU
  equal,        // memory binds both units, they move the same bytes [scenario 1, equation 14], and the
                // plan predicts the same rate to its own accuracy
  outside,      // tensor cores are slower
  inside,       // tensor cores are faster: the sweet spot
  contradicted  // the roofline and the model of this plan disagree
};

/// Holds the numbers behind a verdict.
///
/// The paper assumes that CUDA cores execute t K multiply-adds per point. The scalar unit folds symmetric
/// boxes, so it executes fewer, and tiles compute their halos twice. Therefore equation 13 is evaluated here
/// with the operations and bytes of both units as they are executed. In scenario 4 it is then equation 19.
struct SweetSpot {
  int scenario = 0;             // 1 to 4: whether I exceeds I* of the scalar unit (+2) and of this one (+1)
  double scalar_intensity = 0;  // I of the scalar unit at this depth, flop/B
  double scalar_ridge = 0;      // I* of the scalar unit, flop/B
  double speedup = 0;           // attainable rate over that of the scalar unit [equation 13]
  double modelled_speedup = 0;  // the ratio of the rates that the plan predicts

  Verdict verdict() const;
};

/// Returns the words for a verdict in tables: "sweet spot", "outside"; empty for none.
std::string_view to_string(Verdict verdict);

/// Compares a candidate on tensor cores with the scalar unit at the same depth. Both have been evaluated
/// (Candidate::peak and ridge included).
SweetSpot compare(const Candidate& tensor, const Candidate& scalar);

/// Returns the seconds per point and step that the roofline allows: the longer of operations at the peak and
/// bytes at the bandwidth of a copy.
double roofline_seconds(const Candidate& candidate);

}  // namespace spsolve
