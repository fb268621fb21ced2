// SPDX-License-Identifier: Apache-2.0
#include "kernels/operator/terms.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "kernels/operator/apply.hpp"
#include "kernels/operator/expression_text.hpp"

namespace spsolve {

bool Terms::Less::operator()(const Term& a, const Term& b) const {
  const auto key = [](const Term& term) {
    return std::make_tuple(term.kind, term.operation, term.level, term.index,
                           std::bit_cast<std::uint64_t>(term.number), term.offset);
  };
  const auto key_a = key(a), key_b = key(b);
  return key_a != key_b ? key_a < key_b : a.operands < b.operands;
}

TermId Terms::add(Term term) {
  const auto [found, added] = numbers_.try_emplace(term, size());
  if (added) terms_.push_back(std::move(term));
  return found->second;
}

TermId Terms::number(double value) { return add({.kind = TermKind::number, .number = value}); }

TermId Terms::operation(Operation operation, std::vector<TermId> operands) {
  std::vector<double> values;
  for (const TermId operand : operands)
    if (terms_[operand].kind == TermKind::number) values.push_back(terms_[operand].number);
  if (values.size() == operands.size()) return number(apply<double>(operation, values));
  return add({.kind = TermKind::operation, .operation = operation, .operands = std::move(operands)});
}

TermId Terms::displaced(TermId operand, const Index3& offset) {
  const Term& inner = terms_[operand];
  if (offset == Index3{} || inner.kind == TermKind::number || inner.kind == TermKind::time ||
      inner.kind == TermKind::step)
    return operand;
  if (inner.kind == TermKind::displaced) return displaced(inner.operands[0], inner.offset + offset);
  return add({.kind = TermKind::displaced, .offset = offset, .operands = {operand}});
}

TermId Terms::weighted(TermId operand, const std::vector<Tap>& taps) {
  const auto found = std::find(weights_.begin(), weights_.end(), taps);
  const auto index = static_cast<int>(found - weights_.begin());
  if (found == weights_.end()) weights_.push_back(taps);
  return add({.kind = TermKind::weighted, .index = index, .operands = {operand}});
}

std::vector<TermId> Terms::add_all(const Terms& others, const std::vector<int>& coefficients) {
  std::vector<TermId> added;
  for (Term term : others.terms_) {
    for (TermId& operand : term.operands) operand = added[operand];
    if (term.kind == TermKind::coefficient) term.index = coefficients[term.index];
    added.push_back(term.kind == TermKind::weighted ? weighted(term.operands[0], others.weights(term.index))
                                                    : add(std::move(term)));
  }
  return added;
}

std::vector<bool> reachable(const Terms& terms, const std::vector<TermId>& roots) {
  std::vector<bool> reached(terms.size(), false);
  for (const TermId root : roots) reached[root] = true;
  for (TermId id = terms.size() - 1; id >= 0; --id)
    if (reached[id])
      for (const TermId operand : terms[id].operands) reached[operand] = true;
  return reached;
}

namespace {

/// `room` is the number of further terms that the text may show, which bounds the recursion too.
ExpressionText text_of_term(const Terms& terms, TermId id, const TermNames& names, int& room) {
  const Term& term = terms[id];
  if (--room < 0) return {"..."};
  switch (term.kind) {
    case TermKind::number:
      return expression_text(term.number);
    case TermKind::coordinate:
      return {std::string(1, "zyx"[term.index])};
    case TermKind::coefficient:
      return {names.coefficients[term.index]};
    case TermKind::time:
      return {"t"};
    case TermKind::step:
      return {"step"};
    case TermKind::field:
      return {names.fields[term.index] + level_suffix(term.level)};
    default:
      break;
  }
  std::vector<ExpressionText> operands;
  for (const TermId operand : term.operands) operands.push_back(text_of_term(terms, operand, names, room));
  if (term.kind == TermKind::operation) return expression_text(term.operation, operands);
  if (term.kind == TermKind::displaced) return displaced(operands[0], term.offset, names.dimensions);
  return {"weights" + std::to_string(term.index + 1).append("(").append(operands[0].text).append(")")};
}

}  // namespace

std::string text_of(const Terms& terms, TermId id, const TermNames& names) {
  int room = 60;
  return text_of_term(terms, id, names, room).text;
}

}  // namespace spsolve
