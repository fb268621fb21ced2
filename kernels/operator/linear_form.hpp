// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/operator/terms.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// What weights apply to: a field at a level of time, or a node of the canonical form.
struct LinearSource {
  enum class Rank : std::uint8_t { previous, now, next, node };  // of fields by level
  Rank rank;
  int index;  // of the field or node

  friend auto operator<=>(const LinearSource&, const LinearSource&) = default;
};

/// sum over sources and offsets of weight * source[p + offset]. Sums keep the magnitude of their addends, so
/// that weights that cancel but for rounding are known.
class LinearForm {
 public:
  LinearForm() = default;
  /// The source itself at the point displaced by `offset`.
  LinearForm(const LinearSource& source, const Index3& offset) { weights_[source][offset] = {1.0, 1.0}; }

  LinearForm& operator+=(const LinearForm& other);
  LinearForm negated() const;
  LinearForm times(double factor) const;
  LinearForm over(double divisor) const;
  LinearForm displaced(const Index3& offset) const;
  /// Returns the form as the source of weights. Throws Error(invalid_input) where that has over 10^6 weights.
  LinearForm convolved(const std::vector<Tap>& taps) const;

  /// Without weights that are zero or cancelled; throws Error(invalid_input) where one is not finite, or a
  /// source is reached over more than 10^6 points.
  std::map<LinearSource, std::vector<Tap>> taps() const;

 private:
  struct Weight {
    double value = 0.0, magnitude = 0.0;
  };
  template <class Change>
  LinearForm changed(const Change& change) const;

  std::map<LinearSource, std::map<Index3, Weight>> weights_;
};

/// Taps in lexicographic order of offset as a stencil.
Stencil stencil_of(const std::vector<Tap>& taps);

}  // namespace spsolve
