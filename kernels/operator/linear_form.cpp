// SPDX-License-Identifier: Apache-2.0
#include "kernels/operator/linear_form.hpp"

#include <cmath>
#include <limits>

#include "kernels/error.hpp"

namespace spsolve {

namespace {

constexpr std::int64_t max_weights = 1'000'000;

[[noreturn]] void refuse_size() {
  throw Error(
      Status::invalid_input,
      "the weights of a linear expression reach over more than 10^6 points; wanted a step of smaller radius");
}

Box box_of_taps(const std::vector<Tap>& taps) {
  Box box = box_of({1, 1, 1});
  for (const Tap& tap : taps) box = hull(box, tap.offset);
  return box;
}

}  // namespace

LinearForm& LinearForm::operator+=(LinearForm other) {
  if (other.weights_.size() > weights_.size()) weights_.swap(other.weights_);
  for (auto& [source, weights] : other.weights_) {
    auto& mine = weights_[source];
    if (weights.size() > mine.size()) mine.swap(weights);
    for (const auto& [offset, weight] : weights) {
      Weight& sum = mine[offset];
      sum.value += weight.value;
      sum.magnitude += weight.magnitude;
    }
    if (std::ssize(mine) > max_weights) refuse_size();
  }
  return *this;
}

template <class Change>
LinearForm LinearForm::changed(const Change& change) const {
  LinearForm form = *this;
  for (auto& [source, weights] : form.weights_)
    for (auto& [offset, weight] : weights) change(weight);
  return form;
}

LinearForm LinearForm::negated() const {
  return changed([](Weight& weight) { weight.value = -weight.value; });
}

LinearForm LinearForm::times(double factor) const {
  return changed([=](Weight& weight) { weight.value *= factor, weight.magnitude *= std::abs(factor); });
}

LinearForm LinearForm::over(double divisor) const {
  return changed([=](Weight& weight) { weight.value /= divisor, weight.magnitude /= std::abs(divisor); });
}

LinearForm LinearForm::displaced(const Index3& by) const {
  LinearForm form;
  for (const auto& [source, weights] : weights_)
    for (const auto& [offset, weight] : weights) form.weights_[source][offset + by] = weight;
  return form;
}

/// Weights that are not finite count as kept, so that taps() refuses them.
bool LinearForm::Weight::is_kept() const {
  constexpr double cancelled = 8 * std::numeric_limits<double>::epsilon();
  return !std::isfinite(value) || std::abs(value) > cancelled * magnitude;
}

bool LinearForm::is_zero() const {
  for (const auto& [source, weights] : weights_)
    for (const auto& [offset, weight] : weights)
      if (weight.is_kept()) return false;
  return true;
}

bool LinearForm::mixes_nodes_with_fields() const {
  // Nodes follow fields.
  return !weights_.empty() && weights_.begin()->first.kind != LinearSourceKind::node &&
         weights_.rbegin()->first.kind == LinearSourceKind::node;
}

LinearForm LinearForm::convolved(const std::vector<Tap>& taps) const {
  LinearForm form;
  for (const auto& [source, weights] : weights_) {
    auto& sums = form.weights_[source];
    for (const auto& [offset, weight] : weights)
      for (const Tap& tap : taps) {
        Weight& sum = sums[offset + tap.offset];
        sum.value += tap.weight * weight.value;
        sum.magnitude += std::abs(tap.weight) * weight.magnitude;
        if (static_cast<std::int64_t>(sums.size()) > max_weights) refuse_size();
      }
  }
  return form;
}

std::map<LinearSource, std::vector<Tap>> LinearForm::taps() const {
  std::map<LinearSource, std::vector<Tap>> kept;
  for (const auto& [source, weights] : weights_) {
    std::vector<Tap> taps;
    for (const auto& [offset, weight] : weights) {
      if (!std::isfinite(weight.value))
        throw Error(Status::invalid_input,
                    "a constant weight of a linear expression is not finite; wanted numbers that double "
                    "precision can "
                    "hold");
      if (weight.is_kept()) taps.push_back({offset, weight.value});
    }
    if (taps.empty()) continue;
    if (!has_volume_within(box_of_taps(taps).extent(), max_weights)) refuse_size();
    kept[source] = std::move(taps);
  }
  return kept;
}

Stencil stencil_of(const std::vector<Tap>& taps) {
  const Box box = box_of_taps(taps);
  std::vector<double> dense(box.points());
  for (const Tap& tap : taps) dense[index_of(tap.offset - box.begin, box.extent())] = tap.weight;
  return {box.extent(), dense, -1 * box.begin};
}

}  // namespace spsolve
