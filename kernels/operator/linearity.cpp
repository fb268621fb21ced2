// SPDX-License-Identifier: Apache-2.0
#include "kernels/operator/linearity.hpp"

#include <array>
#include <set>
#include <utility>

namespace spsolve {

namespace {

/// Holds the fields that a node reads, and those in which it is not linear.
struct Degree {
  std::set<int> fields, nonlinear;
};

void merge(std::set<int>& into, const std::set<int>& from) { into.insert(from.begin(), from.end()); }

/// Returns true if an operation is linear in those of its operands that have fields.
bool is_linear(Operation operation, const std::vector<Degree>& operands) {
  const auto free = [&](std::size_t i) { return operands[i].fields.empty(); };
  switch (operation) {
    case Operation::add:
    case Operation::subtract:
    case Operation::negate:
    case Operation::sum:
    case Operation::average:
      return true;
    case Operation::multiply:
      return free(0) || free(1);
    case Operation::divide:
      return free(1);
    case Operation::select:
      return free(0);
    default:
      return false;
  }
}

std::vector<Degree> degrees_of(const Canonical& canonical) {
  std::vector<Degree> degrees;
  for (const CanonicalNode& node : canonical.nodes) {
    Degree degree;
    std::vector<Degree> operands;
    for (const Reading& operand : node.operands) operands.push_back(degrees[operand.node]);
    for (const ChainLink& link : node.links) operands.push_back(degrees[link.node]);
    for (const Degree& operand : operands)
      merge(degree.fields, operand.fields), merge(degree.nonlinear, operand.nonlinear);
    if (node.kind == NodeKind::field) degree.fields = {node.index};
    if (node.kind == NodeKind::operation && !is_linear(node.operation, operands))
      degree.nonlinear = degree.fields;
    degrees.push_back(std::move(degree));
  }
  return degrees;
}

/// Holds a node as a linear form with constant weights, and whether it has terms without fields.
struct ConstantForm {
  LinearForm linear;
  bool has_fields = false, has_other_terms = false;
};

/// Returns a node as a ConstantForm, or nothing if weights vary or the node is not linear. `forms` holds the
/// forms of all nodes with smaller numbers.
std::optional<ConstantForm> constant_form(const Canonical& canonical, const CanonicalNode& node,
                                          const std::vector<std::optional<ConstantForm>>& forms) {
  constexpr std::array kinds{LinearSourceKind::previous, LinearSourceKind::now, LinearSourceKind::next};
  if (node.kind == NodeKind::field)
    return ConstantForm{LinearForm({kinds[static_cast<std::size_t>(node.level)], node.index}, {}), true};
  ConstantForm sum;
  const auto add = [&](int other, const LinearForm& form) {
    sum.linear += form;
    sum.has_fields = sum.has_fields || forms[other]->has_fields;
    sum.has_other_terms = sum.has_other_terms || forms[other]->has_other_terms;
  };
  if (node.kind == NodeKind::chain) {
    sum.has_other_terms = node.start.has_value();
    for (const ChainLink& link : node.links) {
      if (!forms[link.node]) return {};
      add(link.node, forms[link.node]->linear.convolved(link.stencil.taps()));
    }
    return sum;
  }
  bool any_fields = false;
  for (const Reading& operand : node.operands) {
    if (!forms[operand.node]) return {};
    any_fields = any_fields || forms[operand.node]->has_fields;
  }
  if (!any_fields) return ConstantForm{{}, false, true};
  const auto operand = [&](int i) {
    return forms[node.operands[i].node]->linear.displaced(node.operands[i].offset);
  };
  const auto number = [&](int i) -> std::optional<double> {
    const CanonicalNode& other = canonical.nodes[node.operands[i].node];
    return other.kind == NodeKind::number ? std::optional(other.number) : std::nullopt;
  };
  switch (node.operation) {
    case Operation::add:
    case Operation::subtract:
      add(node.operands[0].node, operand(0));
      add(node.operands[1].node, node.operation == Operation::add ? operand(1) : operand(1).negated());
      return sum;
    case Operation::negate:
      add(node.operands[0].node, operand(0).negated());
      return sum;
    case Operation::multiply:
      for (const int i : {0, 1})
        if (const auto factor = number(i)) {
          add(node.operands[1 - i].node, operand(1 - i).times(*factor));
          return sum;
        }
      return {};
    case Operation::divide:
      if (const auto divisor = number(1); divisor && *divisor != 0.0) {
        add(node.operands[0].node, operand(0).over(*divisor));
        return sum;
      }
      return {};
    default:
      return {};
  }
}

std::vector<std::optional<ConstantForm>> constant_forms(const Canonical& canonical) {
  std::vector<std::optional<ConstantForm>> forms;
  for (const CanonicalNode& node : canonical.nodes) forms.push_back(constant_form(canonical, node, forms));
  return forms;
}

}  // namespace

std::vector<Dependence> dependences_of(const Canonical& canonical) {
  const auto degrees = degrees_of(canonical);
  const auto forms = constant_forms(canonical);
  std::vector<Dependence> all;
  for (const Reading& equation : canonical.equations) {
    const std::set<int>& nonlinear = degrees[equation.node].nonlinear;
    const auto& form = forms[equation.node];
    Dependence depends{.nonlinear_in = {nonlinear.begin(), nonlinear.end()},
                       .has_terms_without_fields = form && form->has_other_terms};
    if (nonlinear.empty())
      depends.linearity = form ? Linearity::constant_weights : Linearity::varying_weights;
    all.push_back(std::move(depends));
  }
  return all;
}

std::optional<std::map<LinearSource, std::vector<Tap>>> constant_weights(const Canonical& canonical,
                                                                         const Reading& equation) {
  const auto form = constant_forms(canonical)[equation.node];
  if (!form) return {};
  return form->linear.displaced(equation.offset).taps();
}

std::optional<Stencil> single_stencil(const Canonical& canonical) {
  if (canonical.equations.size() != 1 || canonical.equations[0].offset != Index3{}) return {};
  const CanonicalNode& node = canonical.nodes[canonical.equations[0].node];
  if (node.kind != NodeKind::chain || node.start || node.links.size() != 1) return {};
  const CanonicalNode& read = canonical.nodes[node.links[0].node];
  if (read.kind != NodeKind::field || read.level != Level::now) return {};
  return node.links[0].stencil;
}

}  // namespace spsolve
