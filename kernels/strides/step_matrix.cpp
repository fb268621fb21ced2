// SPDX-License-Identifier: Apache-2.0
#include "kernels/strides/step_matrix.hpp"

#include <algorithm>
#include <stdexcept>

#include "kernels/operator/linearity.hpp"

namespace spsolve {

std::optional<StepMatrix> step_matrix(const Canonical& canonical) {
  std::vector<std::map<LinearSource, std::vector<Tap>>> rows;
  std::vector<int> previous;
  for (const Reading& equation : canonical.equations) {
    auto row = constant_weights(canonical, equation);
    if (!row) return {};
    for (const auto& [source, taps] : *row)
      if (source.kind == LinearSourceKind::previous) previous.push_back(source.index);
    rows.push_back(std::move(*row));
  }
  std::ranges::sort(previous);
  previous.erase(std::unique(previous.begin(), previous.end()), previous.end());

  const int fields = canonical.field_count();
  StepMatrix step{StencilMatrix(fields + static_cast<int>(previous.size())), previous};
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const auto& [source, taps] : rows[i]) {
      const LongWeights weights(taps);
      const auto add = [&](int column, const LongWeights& more) {
        LongWeights& entry = step.matrix.at(canonical.fields[i], column);
        entry = entry + more;
      };
      if (source.kind == LinearSourceKind::now) add(source.index, weights);
      if (source.kind == LinearSourceKind::previous)
        add(fields + static_cast<int>(std::ranges::lower_bound(previous, source.index) - previous.begin()),
            weights);
      if (source.kind == LinearSourceKind::next)
        for (int column = 0; column < step.matrix.size(); ++column)
          add(column, weights * step.matrix.at(source.index, column));
    }
  for (std::size_t i = 0; i < previous.size(); ++i)
    step.matrix.at(fields + static_cast<int>(i), previous[i]) = LongWeights(1.0L);
  return step;
}

StrideLeapfrog stride_leapfrog(const Stencil& s, double q, int t) {
  if (t < 1) throw std::invalid_argument("a stride must be at least one step");
  const LongWeights once(s.taps());
  LongWeights before(2.0L), now = once;
  long double last = q;
  for (int k = 1; k < t; ++k) {
    LongWeights next = once * now + before.times(-static_cast<long double>(q));
    before = std::move(now);
    now = std::move(next);
    last *= q;
  }
  const auto stencil = now.stencil();
  if (!stencil) throw std::invalid_argument("every weight of the stride is zero");
  return {*stencil, static_cast<double>(-last)};
}

std::optional<TwoLevelEquation> two_level_equation(const Canonical& canonical) {
  if (canonical.equations.size() != 1) return {};
  const auto weights = constant_weights(canonical, canonical.equations[0]);
  if (!weights || weights->size() != 2) return {};
  const auto& [before, before_taps] = *weights->begin();
  const auto& [now, now_taps] = *weights->rbegin();
  if (before.kind != LinearSourceKind::previous || now.kind != LinearSourceKind::now) return {};
  if (before_taps.size() != 1 || before_taps[0].offset != Index3{}) return {};
  return TwoLevelEquation{stencil_of(now_taps), -before_taps[0].weight};
}

}  // namespace spsolve
