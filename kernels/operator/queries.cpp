// SPDX-License-Identifier: Apache-2.0
#include "kernels/operator/queries.hpp"

#include <algorithm>
#include <set>

#include "kernels/operator/expression_text.hpp"
#include "kernels/operator/interpret.hpp"
#include "kernels/operator/needed_boxes.hpp"

namespace spsolve {

namespace {

using Kind = CanonicalNode::Kind;

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
    if (node.kind == Kind::field) degree.fields = {node.index};
    if (node.kind == Kind::operation && !is_linear(node.operation, operands))
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
  using Rank = LinearSource::Rank;
  constexpr std::array ranks{Rank::previous, Rank::now, Rank::next};
  if (node.kind == Kind::field)
    return ConstantForm{LinearForm({ranks[static_cast<std::size_t>(node.level)], node.index}, {}), true};
  ConstantForm sum;
  const auto add = [&](int other, const LinearForm& form) {
    sum.linear += form;
    sum.has_fields = sum.has_fields || forms[other]->has_fields;
    sum.has_other_terms = sum.has_other_terms || forms[other]->has_other_terms;
  };
  if (node.kind == Kind::chain) {
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
    return other.kind == Kind::number ? std::optional(other.number) : std::nullopt;
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

bool at_point_alone(const Box& offsets) { return offsets == box_of({1, 1, 1}); }

/// Returns the offsets of `inner` applied at each of the offsets `outer`.
Box composed(const Box& outer, const Box& inner) {
  if (outer.empty() || inner.empty()) return {};
  return {outer.begin + inner.begin, outer.end + inner.end - Index3{1, 1, 1}};
}

/// Returns true if an equation reads, at displaced points, a `.next` that the equations from `first` on have
/// computed.
bool reads_displaced_next(const SystemFacts& facts, int equation, int first) {
  for (const auto& [read, offsets] : facts.equations[equation].reach)
    for (int other = first; other < equation; ++other)
      if (read.level == Level::next && read.field == facts.equations[other].field && !at_point_alone(offsets))
        return true;
  return false;
}

void find_groups(SystemFacts& facts) {
  int first = 0;
  const auto count = static_cast<int>(facts.equations.size());
  for (int i = 1; i <= count; ++i)
    if (i == count || reads_displaced_next(facts, i, first)) {
      facts.groups.emplace_back(first, i);
      first = i;
    }
}

void find_reach_of_step(SystemFacts& facts, int field_count) {
  facts.reach_now.resize(field_count);
  facts.reach_previous.resize(field_count);
  // `total` holds the offsets at which the equations so far read values of step n: [level][field
  // advanced][field].
  std::array<std::vector<std::vector<Box>>, 2> total;
  for (auto& level : total) level.assign(field_count, std::vector<Box>(field_count));
  for (const EquationFacts& equation : facts.equations)
    for (const auto& [read, offsets] : equation.reach) {
      if (read.level == Level::next) {
        for (auto& level : total)
          for (int field = 0; field < field_count; ++field)
            level[equation.field][field] =
                hull_of(level[equation.field][field], composed(offsets, level[read.field][field]));
      } else {
        Box& box = total[read.level == Level::now ? 0 : 1][equation.field][read.field];
        box = hull_of(box, offsets);
      }
    }
  for (int advanced = 0; advanced < field_count; ++advanced)
    for (int field = 0; field < field_count; ++field) {
      facts.reach_now[field] = hull_of(facts.reach_now[field], total[0][advanced][field]);
      facts.reach_previous[field] = hull_of(facts.reach_previous[field], total[1][advanced][field]);
    }
  for (const auto* reach : {&facts.reach_now, &facts.reach_previous})
    for (const Box& box : *reach)
      for (int axis = 0; axis < axis_count && !box.empty(); ++axis)
        facts.radius[axis] = std::max({facts.radius[axis], -box.begin[axis], box.end[axis] - 1});
}

std::string box_text(const Box& box, int dimensions) {
  std::string text;
  for (int axis = axis_count - dimensions; axis < axis_count; ++axis) {
    const std::int64_t first = box.begin[axis], last = box.end[axis] - 1;
    text.append(text.empty() ? "[" : ", ").append(std::to_string(first));
    if (last != first) text.append("..").append(std::to_string(last));
  }
  return text.append("]");
}

}  // namespace

SystemFacts facts_of(const Canonical& canonical) {
  SystemFacts facts;
  facts.coefficient_reach.resize(canonical.coefficients.size());
  const auto degrees = degrees_of(canonical);
  const auto forms = constant_forms(canonical);
  std::set<FieldLevel> read;
  for (std::size_t i = 0; i < canonical.equations.size(); ++i) {
    const Reading& equation = canonical.equations[i];
    EquationFacts about{canonical.fields[i], {}, Linearity::nonlinear, {}, false, false};
    const auto needed = needed_boxes(canonical, equation, box_of({1, 1, 1}));
    for (std::size_t j = 0; j < needed.size(); ++j) {
      const CanonicalNode& node = canonical.nodes[j];
      if (needed[j].empty()) continue;
      if (node.kind == Kind::field) about.reach[{node.index, node.level}] = needed[j];
      if (node.kind == Kind::field && node.level != Level::next) read.insert({node.index, node.level});
      if (node.kind == Kind::coefficient)
        facts.coefficient_reach[node.index] = hull_of(facts.coefficient_reach[node.index], needed[j]);
      if (node.kind == Kind::operation && !info_of(node.operation).same_bits) about.inexact_functions = true;
    }
    const Degree& degree = degrees[equation.node];
    const auto& form = forms[equation.node];
    about.nonlinear_in.assign(degree.nonlinear.begin(), degree.nonlinear.end());
    if (degree.nonlinear.empty())
      about.linearity = form ? Linearity::constant_weights : Linearity::varying_weights;
    about.has_terms_without_fields = form && form->has_other_terms;
    facts.equations.push_back(std::move(about));
  }
  find_groups(facts);
  find_reach_of_step(facts, canonical.field_count());
  facts.fields_read = static_cast<int>(read.size());
  facts.fields_written = static_cast<int>(canonical.equations.size());
  facts.coefficients_read = static_cast<int>(canonical.coefficients.size());
  return facts;
}

std::optional<NoKernel> why_single_steps(const Canonical& canonical, const SystemFacts& facts,
                                         const std::vector<Domain>& fields, int steps) {
  if (axis_of_ambiguous_coordinate(canonical, facts, fields.front(), steps))
    return NoKernel{
        "a statement reads the coordinate of a periodic axis displaced along it, which does not repeat "
        "beyond its ends: give the formula that uses it a name in [coefficients]"};
  return {};
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
  if (node.kind != CanonicalNode::Kind::chain || node.start || node.links.size() != 1) return {};
  const CanonicalNode& read = canonical.nodes[node.links[0].node];
  if (read.kind != CanonicalNode::Kind::field || read.level != Level::now) return {};
  return node.links[0].stencil;
}

std::string text_of(const EquationFacts& facts, const Canonical& canonical) {
  std::string text = facts.linearity == Linearity::constant_weights  ? "linear, constant weights"
                     : facts.linearity == Linearity::varying_weights ? "linear, weights that vary"
                                                                     : "nonlinear in ";
  for (std::size_t i = 0; i < facts.nonlinear_in.size(); ++i)
    text.append(i ? ", " : "").append(canonical.field_names[facts.nonlinear_in[i]]);
  std::string reads;
  for (const auto& [read, offsets] : facts.reach) {
    reads.append(reads.empty() ? "; reads " : ", ").append(canonical.field_names[read.field]);
    reads.append(level_suffix(read.level));
    if (!at_point_alone(offsets)) reads.append(" at ").append(box_text(offsets, canonical.dimensions));
  }
  text += reads;
  if (facts.inexact_functions) text += "; has functions whose last bits differ between CPU and GPU";
  return text;
}

namespace {

/// Returns the box of all sums of an offset of one box and an offset of the other.
Box sum_of(const Box& a, const Box& b) { return {a.begin + b.begin, a.end + b.end - Index3{1, 1, 1}}; }

/// Returns the offsets at which each statement must be computed so that all are known at a point. Beside
/// walls a point is read in place of its reflection, which lies no farther away on the other side.
std::vector<Box> computed_offsets(const SystemFacts& facts, const Domain& domain) {
  std::vector<Box> offsets(facts.equations.size(), box_of({1, 1, 1}));
  for (std::size_t s = offsets.size(); s-- > 0;) {
    const FieldLevel next{facts.equations[s].field, Level::next};
    for (std::size_t later = s + 1; later < offsets.size(); ++later) {
      const auto reach = facts.equations[later].reach.find(next);
      if (reach != facts.equations[later].reach.end())
        offsets[s] = hull_of(offsets[s], sum_of(offsets[later], reach->second));
    }
    for (int axis = 0; axis < axis_count; ++axis) {
      if (domain.periodic(axis)) continue;
      const std::int64_t farthest = std::max(-offsets[s].begin[axis], offsets[s].end[axis] - 1);
      offsets[s].begin[axis] = -farthest;
      offsets[s].end[axis] = farthest + 1;
    }
  }
  return offsets;
}

}  // namespace

std::vector<Box> statement_boxes(const SystemFacts& facts, const Domain& domain, const Box& region) {
  std::vector<Box> boxes = computed_offsets(facts, domain);
  for (Box& box : boxes) box = domain.clip_to_walls(sum_of(region, box));
  return boxes;
}

Index3 halo_radius(const SystemFacts& facts, const Domain& domain) {
  const std::vector<Box> computed = computed_offsets(facts, domain);
  Index3 radius{};
  const auto hold = [&](const Box& offsets) {
    for (int axis = 0; axis < axis_count; ++axis)
      radius[axis] = std::max({radius[axis], -offsets.begin[axis], offsets.end[axis] - 1});
  };
  for (std::size_t s = 0; s < computed.size(); ++s) {
    hold(computed[s]);
    for (const auto& [read, offsets] : facts.equations[s].reach)
      if (read.level != Level::next) hold(sum_of(computed[s], offsets));
  }
  return radius;
}

bool repeats_along(const SystemFacts& facts, std::size_t coefficient, const Domain& domain, int axis) {
  const Box& reach = facts.coefficient_reach[coefficient];
  return domain.periodic(axis) && reach.begin[axis] == 0 && reach.end[axis] == 1;
}

std::optional<int> axis_of_ambiguous_coordinate(const Canonical& canonical, const SystemFacts& facts,
                                                const Domain& domain, int steps) {
  std::vector<Box> computed = computed_offsets(facts, domain);
  for (Box& offsets : computed) offsets = grow(offsets, (steps - 1) * halo_radius(facts, domain));
  for (std::size_t s = 0; s < computed.size(); ++s) {
    const std::vector<Box> needed = needed_boxes(canonical, canonical.equations[s], box_of({1, 1, 1}));
    for (int axis = domain.first_axis(); axis < axis_count; ++axis) {
      if (!domain.periodic(axis) || (computed[s].begin[axis] == 0 && computed[s].end[axis] == 1)) continue;
      std::vector<TermId> read;
      for (std::size_t node = 0; node < needed.size(); ++node)
        if (const CanonicalNode& of = canonical.nodes[node]; of.kind == CanonicalNode::Kind::coefficient &&
                                                             !needed[node].empty() &&
                                                             !repeats_along(facts, of.index, domain, axis))
          read.push_back(canonical.coefficients[of.index]);
      const std::vector<bool> used = reachable(canonical.terms, read);
      for (TermId term = 0; term < canonical.terms.size(); ++term)
        if (used[term] && canonical.terms[term].kind == Term::Kind::coordinate &&
            canonical.terms[term].index == axis)
          return axis;
    }
  }
  return {};
}

}  // namespace spsolve
