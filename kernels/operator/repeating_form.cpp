// SPDX-License-Identifier: Apache-2.0
#include "kernels/operator/repeating_form.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/operator/linear_form.hpp"

namespace spsolve {

namespace {

/// Rewrites the nodes of a form. A node that depends on the coordinate of a periodic axis has a copy for each
/// displacement along that axis at which equations read it.
class Rewriting {
 public:
  Rewriting(const Canonical& canonical, const Domain& domain) : from_(canonical), to_(canonical) {
    find_fixed(domain);
    to_.nodes.clear();
    to_.coefficients.clear();
    copies_.resize(from_.nodes.size());
  }

  Canonical result() {
    for (const Reading& equation : from_.equations) need(equation, {});
    // Nodes have larger numbers than their operands.
    for (std::size_t i = copies_.size(); i-- > 0;)
      for (const auto& [displacement, copy] : copies_[i]) need_operands(from_.nodes[i], displacement);
    for (std::size_t i = 0; i < copies_.size(); ++i)
      for (auto& [displacement, copy] : copies_[i]) {
        CanonicalNode node = rewritten(from_.nodes[i], displacement);
        copy = static_cast<int>(to_.nodes.size());
        to_.nodes.push_back(std::move(node));
      }
    for (Reading& equation : to_.equations) equation = moved(equation, {});
    return std::move(to_);
  }

 private:
  /// Finds the axes along which each node may be read at the point itself alone.
  void find_fixed(const Domain& domain) {
    std::vector<Index3> of_terms(from_.terms.size(), Index3{});
    for (TermId id = 0; id < from_.terms.size(); ++id) {
      const Term& term = from_.terms[id];
      if (term.kind == TermKind::coordinate && domain.periodic(term.index)) of_terms[id][term.index] = 1;
      for (const TermId operand : term.operands) of_terms[id] = either(of_terms[id], of_terms[operand]);
    }
    for (const CanonicalNode& node : from_.nodes) {
      Index3 fixed{};
      if (node.kind == NodeKind::coefficient) fixed = of_terms[from_.coefficients[node.index]];
      for (const Reading& operand : node.operands) fixed = either(fixed, fixed_[operand.node]);
      if (node.start) fixed = either(fixed, fixed_[node.start->node]);
      for (const ChainLink& link : node.links) fixed = either(fixed, fixed_[link.node]);
      fixed_.push_back(fixed);
    }
  }

  static Index3 either(const Index3& a, const Index3& b) {
    return {std::max(a[0], b[0]), std::max(a[1], b[1]), std::max(a[2], b[2])};
  }

  /// Returns the part of `offset` along the axes that are fixed for a node.
  Index3 fixed_part(int node, const Index3& offset) const {
    Index3 part;
    for (int axis = 0; axis < axis_count; ++axis) part[axis] = fixed_[node][axis] * offset[axis];
    return part;
  }

  /// Notes that a node which is displaced by `by` reads a node of the given form.
  void need(const Reading& reading, const Index3& by) {
    copies_[reading.node].try_emplace(fixed_part(reading.node, reading.offset + by));
  }

  void need_operands(const CanonicalNode& node, const Index3& by) {
    for (const Reading& operand : node.operands) need(operand, by);
    if (node.start) need(*node.start, by);
    for (const ChainLink& link : node.links)
      for (const Tap& tap : link.stencil.taps()) need({link.node, tap.offset}, by);
  }

  /// Returns how the new form reads what a node that is displaced by `by` reads.
  Reading moved(const Reading& reading, const Index3& by) const {
    const Index3 offset = reading.offset + by, part = fixed_part(reading.node, offset);
    return {copies_[reading.node].at(part), offset - part};
  }

  CanonicalNode rewritten(CanonicalNode node, const Index3& by) {
    if (node.kind == NodeKind::coefficient) {
      to_.coefficients.push_back(to_.terms.displaced(from_.coefficients[node.index], by));
      node.index = static_cast<int>(to_.coefficients.size()) - 1;
    }
    for (Reading& operand : node.operands) operand = moved(operand, by);
    if (node.start) node.start = moved(*node.start, by);
    std::vector<ChainLink> links;
    for (const ChainLink& link : node.links) append(links, link, by);
    node.links = std::move(links);
    return node;
  }

  /// Appends a link in the order of its taps, cut where they read another copy.
  void append(std::vector<ChainLink>& links, const ChainLink& link, const Index3& by) const {
    std::vector<Tap> taps;
    for (auto tap = link.stencil.taps().begin(); tap != link.stencil.taps().end();) {
      const int copy = moved({link.node, tap->offset}, by).node;
      taps.clear();
      for (; tap != link.stencil.taps().end(); ++tap) {
        const Reading read = moved({link.node, tap->offset}, by);
        if (read.node != copy) break;
        taps.push_back({read.offset, tap->weight});
      }
      links.push_back({copy, stencil_of(taps)});
    }
  }

  const Canonical& from_;
  Canonical to_;
  std::vector<Index3> fixed_;                  // [node of from_][axis]: 1 along fixed axes, 0 along others
  std::vector<std::map<Index3, int>> copies_;  // [node of from_]: nodes of to_ by displacement
};

}  // namespace

Canonical repeating_form(const Canonical& canonical, const Domain& domain) {
  return Rewriting(canonical, domain).result();
}

std::string advice_on_displaced_formulas(const Canonical& repeating, int least) {
  std::map<TermId, int> arrays;  // by formula
  for (const TermId id : repeating.coefficients) {
    const Term& term = repeating.terms[id];
    ++arrays[term.kind == TermKind::displaced ? term.operands[0] : id];
  }
  const auto most = std::ranges::max_element(arrays, {}, [](const auto& formula) { return formula.second; });
  if (most == arrays.end() || most->second - 1 < least) return {};
  const std::string formula =
      text_of(repeating.terms, most->first,
              {repeating.dimensions, repeating.field_names, repeating.coefficient_names});
  return "the formula " + formula + " takes " + std::to_string(most->second) +
         " arrays, one for each displacement along periodic axes; a coefficient in [coefficients] that is "
         "\"" +
         formula + "\" takes one, but repeats along these axes";
}

}  // namespace spsolve
