// SPDX-License-Identifier: Apache-2.0
#include "kernels/operator/interpret.hpp"

#include "kernels/operator/apply.hpp"

namespace spsolve {

namespace {

/// Holds values on a box, x fastest.
struct Values {
  Box box;
  std::vector<double> values;

  double at(const Index3& p) const {
    return values[static_cast<std::size_t>(index_of(p - box.begin, box.extent()))];
  }
};

Box moved(const Box& box, const Index3& offset) { return {box.begin + offset, box.end + offset}; }

/// Returns, per term, the box on which it is needed for the value of `root` on `box`.
std::vector<Box> needed_boxes(const Terms& terms, TermId root, const Box& box) {
  std::vector<Box> needed(root + 1);
  needed[root] = box;
  for (TermId id = root; id >= 0; --id) {
    const Term& term = terms[id];
    if (needed[id].empty()) continue;
    Box reach = needed[id];
    if (term.kind == TermKind::displaced) reach = moved(reach, term.offset);
    if (term.kind == TermKind::weighted) {
      reach = {};
      for (const Tap& tap : terms.weights(term.index)) reach = hull_of(reach, moved(needed[id], tap.offset));
    }
    for (const TermId operand : term.operands) needed[operand] = hull_of(needed[operand], reach);
  }
  return needed;
}

double value_at(const Terms& terms, const Term& term, const std::vector<Values>& values, const Index3& p,
                const LeafValue& leaf, std::vector<double>& operands) {
  switch (term.kind) {
    case TermKind::number:
      return term.number;
    case TermKind::operation:
      operands.clear();
      for (const TermId operand : term.operands) operands.push_back(values[operand].at(p));
      return apply<double>(term.operation, operands);
    case TermKind::displaced:
      return values[term.operands[0]].at(p + term.offset);
    case TermKind::weighted: {
      double sum = 0.0;
      for (const Tap& tap : terms.weights(term.index))
        sum += tap.weight * values[term.operands[0]].at(p + tap.offset);
      return sum;
    }
    default:
      return leaf(term, p);
  }
}

}  // namespace

Box hull_of(const Box& a, const Box& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  Box both;
  for (int axis = 0; axis < axis_count; ++axis) {
    both.begin[axis] = std::min(a.begin[axis], b.begin[axis]);
    both.end[axis] = std::max(a.end[axis], b.end[axis]);
  }
  return both;
}

std::vector<double> interpret(const Terms& terms, TermId id, const Box& box, const LeafValue& leaf) {
  const std::vector<Box> needed = needed_boxes(terms, id, box);
  std::vector<Values> values(id + 1);
  std::vector<double> operands;
  for (TermId term = 0; term <= id; ++term) {
    if (needed[term].empty()) continue;
    values[term].box = needed[term];
    values[term].values.reserve(needed[term].points());
    for_each_point(needed[term], [&](const Index3& p) {
      values[term].values.push_back(value_at(terms, terms[term], values, p, leaf, operands));
    });
  }
  return std::move(values[id].values);
}

Box coefficient_leaves(const Terms& terms, TermId id, const Box& box) {
  const std::vector<Box> needed = needed_boxes(terms, id, box);
  Box hull;
  for (TermId leaf = 0; leaf <= id; ++leaf)
    if (terms[leaf].kind == TermKind::coefficient) hull = hull_of(hull, needed[leaf]);
  return hull;
}

}  // namespace spsolve
