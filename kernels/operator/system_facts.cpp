// SPDX-License-Identifier: Apache-2.0
#include "kernels/operator/system_facts.hpp"

#include <algorithm>
#include <set>

#include "kernels/operator/expression_text.hpp"
#include "kernels/operator/interpret.hpp"
#include "kernels/operator/needed_boxes.hpp"

namespace spsolve {

namespace {

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
  std::vector<Dependence> depends = dependences_of(canonical);
  std::set<FieldLevel> read;
  for (std::size_t i = 0; i < canonical.equations.size(); ++i) {
    const Reading& equation = canonical.equations[i];
    EquationFacts about{canonical.fields[i], {}, std::move(depends[i]), false};
    const auto needed = needed_boxes(canonical, equation, box_of({1, 1, 1}));
    for (std::size_t j = 0; j < needed.size(); ++j) {
      const CanonicalNode& node = canonical.nodes[j];
      if (needed[j].empty()) continue;
      if (node.kind == NodeKind::field) about.reach[{node.index, node.level}] = needed[j];
      if (node.kind == NodeKind::field && node.level != Level::next) read.insert({node.index, node.level});
      if (node.kind == NodeKind::coefficient)
        facts.coefficient_reach[node.index] = hull_of(facts.coefficient_reach[node.index], needed[j]);
      if (node.kind == NodeKind::operation && !info_of(node.operation).same_bits)
        about.inexact_functions = true;
    }
    facts.equations.push_back(std::move(about));
  }
  find_groups(facts);
  find_reach_of_step(facts, canonical.field_count());
  facts.fields_read = static_cast<int>(read.size());
  facts.fields_written = static_cast<int>(canonical.equations.size());
  facts.coefficients_read = static_cast<int>(canonical.coefficients.size());
  return facts;
}

std::string text_of(const EquationFacts& facts, const Canonical& canonical) {
  const Dependence& depends = facts.depends;
  std::string text = depends.linearity == Linearity::constant_weights  ? "linear, constant weights"
                     : depends.linearity == Linearity::varying_weights ? "linear, weights that vary"
                                                                       : "nonlinear in ";
  for (std::size_t i = 0; i < depends.nonlinear_in.size(); ++i)
    text.append(i ? ", " : "").append(canonical.field_names[depends.nonlinear_in[i]]);
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

}  // namespace spsolve
