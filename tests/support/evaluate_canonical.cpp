// SPDX-License-Identifier: Apache-2.0
#include "tests/support/evaluate_canonical.hpp"

#include <cmath>

#include "kernels/operator/apply.hpp"
#include "kernels/operator/needed_boxes.hpp"
#include "kernels/reference.hpp"

namespace spsolve {

namespace {

template <class T>
class Evaluation {
 public:
  Evaluation(const Canonical& canonical, const StepContext& context, const SystemState<T>& state)
      : canonical_(canonical),
        context_(context),
        state_(state),
        given_(given_values(context, state.step)),
        next_(state.now.size()) {}

  SystemState<T> step() {
    for (std::size_t i = 0; i < canonical_.equations.size(); ++i)
      next_[canonical_.fields[i]] = values_of(canonical_.equations[i]);
    return {std::move(next_), state_.now, state_.step + 1};
  }

 private:
  std::vector<T> values_of(const Reading& equation) {
    const Box grid = box_of(context_.shape());
    boxes_ = needed_boxes(canonical_, equation, grid);
    values_.assign(canonical_.nodes.size(), {});
    for (std::size_t i = 0; i < canonical_.nodes.size(); ++i)
      if (!boxes_[i].empty()) evaluate(static_cast<int>(i));
    std::vector<T> out;
    for_each_point(grid, [&](const Index3& p) { out.push_back(read(equation, p)); });
    return out;
  }

  void evaluate(int i) {
    const CanonicalNode& node = canonical_.nodes[i];
    std::vector<T>& values = values_[i];
    if (node.kind == NodeKind::scalar || node.kind == NodeKind::coefficient) {
      const bool scalar = node.kind == NodeKind::scalar;
      const TermId term = (scalar ? canonical_.scalars : canonical_.coefficients)[node.index];
      const auto exact = interpret(canonical_.terms, term, scalar ? box_of({1, 1, 1}) : boxes_[i], given_);
      values.assign(exact.begin(), exact.end());
      return;
    }
    if (node.kind == NodeKind::number) return;
    for_each_point(boxes_[i], [&](const Index3& p) { values.push_back(value_at(node, p)); });
  }

  T value_at(const CanonicalNode& node, const Index3& p) {
    if (node.kind == NodeKind::field) return field_at(node, p);
    if (node.kind == NodeKind::operation) {
      operands_.clear();
      for (const Reading& operand : node.operands) operands_.push_back(read(operand, p));
      return apply<T>(node.operation, operands_);
    }
    T sum = node.start ? read(*node.start, p) : -T{0};
    for (const ChainLink& link : node.links)
      for (const Tap& tap : link.stencil.taps())
        sum = std::fma(static_cast<T>(tap.weight), read({link.node, tap.offset}, p), sum);
    return sum;
  }

  T field_at(const CanonicalNode& node, const Index3& p) const {
    const auto& level = node.level == Level::now    ? state_.now
                        : node.level == Level::next ? next_
                                                    : state_.previous;
    return padded(context_.fields[node.index], level[node.index], p);
  }

  T read(const Reading& reading, const Index3& at) const {
    const CanonicalNode& node = canonical_.nodes[reading.node];
    if (node.kind == NodeKind::number) return static_cast<T>(node.number);
    const std::vector<T>& values = values_[reading.node];
    if (node.kind == NodeKind::scalar) return values[0];
    const Box& box = boxes_[reading.node];
    return values[static_cast<std::size_t>(index_of(at + reading.offset - box.begin, box.extent()))];
  }

  const Canonical& canonical_;
  const StepContext& context_;
  const SystemState<T>& state_;
  LeafValue given_;
  std::vector<std::vector<T>> next_;
  std::vector<Box> boxes_;              // where the nodes are read
  std::vector<std::vector<T>> values_;  // [node][point of its box]
  std::vector<T> operands_;
};

}  // namespace

template <class T>
SystemState<T> canonical_step(const Canonical& canonical, const StepContext& context,
                              const SystemState<T>& state) {
  return Evaluation<T>(canonical, context, state).step();
}

template SystemState<float> canonical_step(const Canonical&, const StepContext&, const SystemState<float>&);
template SystemState<double> canonical_step(const Canonical&, const StepContext&, const SystemState<double>&);

}  // namespace spsolve
