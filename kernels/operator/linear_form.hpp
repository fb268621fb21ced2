// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "kernels/operator/terms.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// Names a time level of a field, or a node of the canonical form.
enum class LinearSourceKind : std::uint8_t { previous, now, next, node };

/// Names the operand of weights: a field at a time level, or a node of the canonical form.
struct LinearSource {
  LinearSourceKind kind;
  int index;  // number of the field or node

  friend auto operator<=>(const LinearSource&, const LinearSource&) = default;
};

/// Represents the sum over sources and offsets of weight * source[p + offset]. Each sum of weights keeps the
/// magnitude of its addends, so that taps() recognises weights that cancel except for rounding.
class LinearForm {
 public:
  LinearForm() = default;
  /// Makes the form of the source itself at the point displaced by `offset`.
  LinearForm(const LinearSource& source, const Index3& offset) { weights_[source][offset] = {1.0, 1.0}; }

  /// Takes time in proportion to the smaller of both forms, so that adding one point after the other takes
  /// linear time. Throws Error(invalid_input) if a source gets more than 10^6 weights.
  LinearForm& operator+=(LinearForm other);
  LinearForm negated() const;
  LinearForm times(double factor) const;
  LinearForm over(double divisor) const;
  LinearForm displaced(const Index3& offset) const;
  /// Returns true if no weight is left: all are zero or have cancelled.
  bool is_zero() const;
  /// Returns true if there are both fields and nodes among the sources.
  bool mixes_nodes_with_fields() const;
  /// Returns the convolution of the form with `taps`. Throws Error(invalid_input) if it has more than 10^6
  /// weights.
  LinearForm convolved(const std::vector<Tap>& taps) const;

  /// Returns the weights that are neither zero nor cancelled. Throws Error(invalid_input) if a weight is not
  /// finite, or if the offsets of a source span more than 10^6 points.
  std::map<LinearSource, std::vector<Tap>> taps() const;

 private:
  struct Weight {
    double value = 0.0, magnitude = 0.0;
    bool is_kept() const;
  };
  template <class Change>
  LinearForm changed(const Change& change) const;

  std::map<LinearSource, std::map<Index3, Weight>> weights_;
};

/// Returns taps in lexicographic order of offset as a stencil.
Stencil stencil_of(const std::vector<Tap>& taps);

}  // namespace spsolve
