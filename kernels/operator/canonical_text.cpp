// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/operator/canonical.hpp"
#include "kernels/operator/expression_text.hpp"

namespace spsolve {

namespace {

std::string numbered(char letter, int number) {
  return std::string(1, letter).append(std::to_string(number));
}

class CanonicalText {
 public:
  explicit CanonicalText(const Canonical& canonical)
      : canonical_(canonical), names_(canonical.nodes.size()) {}

  std::string text() {
    name_shared_nodes();
    for (std::size_t i = 0; i < canonical_.coefficients.size(); ++i)
      line(numbered('k', static_cast<int>(i) + 1),
           term_text(canonical_.coefficients[i]) + "  (one value per point)");
    for (std::size_t i = 0; i < canonical_.scalars.size(); ++i)
      line(numbered('s', static_cast<int>(i) + 1),
           term_text(canonical_.scalars[i]) + "  (one value per step)");
    for (std::size_t i = 0; i < canonical_.nodes.size(); ++i) {
      texts_.push_back(text_of_node(canonical_.nodes[i]));
      if (names_[i].empty()) continue;
      line(names_[i], texts_.back().text);
      texts_.back() = {names_[i]};
    }
    for (std::size_t i = 0; i < canonical_.equations.size(); ++i)
      line(canonical_.field_names[canonical_.fields[i]] + ".next",
           text_of_reading(canonical_.equations[i]).text);
    return text_;
  }

 private:
  void line(const std::string& name, const std::string& value) { text_ += name + " = " + value + "\n"; }

  std::string term_text(TermId id) const {
    return text_of(canonical_.terms, id,
                   {canonical_.dimensions, canonical_.field_names, canonical_.coefficient_names});
  }

  /// Names the operations and chains that are read more than once, or at displaced points.
  void name_shared_nodes() {
    std::vector<int> readings(canonical_.nodes.size());
    const auto read = [&](const Reading& reading) {
      readings[reading.node] += reading.offset == Index3{} ? 1 : 2;
    };
    for (const CanonicalNode& node : canonical_.nodes) {
      for (const Reading& operand : node.operands) read(operand);
      for (const ChainLink& link : node.links) readings[link.node] += 2;
    }
    for (const Reading& equation : canonical_.equations) read(equation);
    int count = 0;
    for (std::size_t i = 0; i < canonical_.nodes.size(); ++i) {
      const NodeKind kind = canonical_.nodes[i].kind;
      if (readings[i] > 1 && (kind == NodeKind::chain || kind == NodeKind::operation))
        names_[i] = numbered('n', ++count);
    }
  }

  ExpressionText text_of_reading(const Reading& reading) const {
    const ExpressionText& operand = texts_[reading.node];
    return reading.offset == Index3{} ? operand : displaced(operand, reading.offset, canonical_.dimensions);
  }

  ExpressionText text_of_node(const CanonicalNode& node) const {
    switch (node.kind) {
      case NodeKind::number:
        return expression_text(node.number);
      case NodeKind::scalar:
        return {numbered('s', node.index + 1)};
      case NodeKind::coefficient:
        return {numbered('k', node.index + 1)};
      case NodeKind::field:
        return {canonical_.field_names[node.index] + level_suffix(node.level)};
      case NodeKind::chain:
        return text_of_chain(node);
      default:
        break;
    }
    std::vector<ExpressionText> operands;
    for (const Reading& operand : node.operands) operands.push_back(text_of_reading(operand));
    return expression_text(node.operation, operands);
  }

  /// Returns "<start + 2*p - p.previous>": angle brackets enclose one chain of fused multiply-adds.
  ExpressionText text_of_chain(const CanonicalNode& node) const {
    std::string text;
    if (node.start) text = text_of_reading(*node.start).text;
    for (const ChainLink& link : node.links) text += text_of_link(link, text.empty());
    return {std::string("<").append(text).append(">")};
  }

  std::string text_of_link(const ChainLink& link, bool first) const {
    const ExpressionText& source = texts_[link.node];
    const std::vector<Tap>& taps = link.stencil.taps();
    constexpr std::size_t max_shown = 7;
    if (taps.size() > max_shown)
      return (first ? "" : " + ") + std::to_string(taps.size()) + " taps of " + source.text + ", radius " +
             offset_text(link.stencil.radius(), canonical_.dimensions);
    std::string text;
    for (const Tap& tap : taps) {
      const bool minus = tap.weight < 0.0;
      text += first && text.empty() ? (minus ? "-" : "") : (minus ? " - " : " + ");
      if (std::abs(tap.weight) != 1.0) text += number_text(std::abs(tap.weight)) + "*";
      text += displaced(source, tap.offset, canonical_.dimensions).text;
    }
    return text;
  }

  const Canonical& canonical_;
  std::vector<std::string> names_;
  std::vector<ExpressionText> texts_;
  std::string text_;
};

}  // namespace

std::string text_of(const Canonical& canonical) { return CanonicalText(canonical).text(); }

}  // namespace spsolve
