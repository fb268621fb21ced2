// SPDX-License-Identifier: Apache-2.0
#include "io/language/resolve.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/language/foreign_names.hpp"
#include "io/nearest_name.hpp"
#include "kernels/formula.hpp"

namespace spsolve {

namespace {

constexpr std::array<std::string_view, 7> given_names{"x", "y", "z", "t", "dt", "step", "pi"};
constexpr std::array<std::string_view, 4> operator_names{"d", "mean", "laplace", "correlate"};
constexpr std::array<std::string_view, 3> word_operators{"and", "or", "not"};

template <class Names>
bool contains_name(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Returns the taps of a derivative (0: the value) of an even order of accuracy along an axis. `place` is 0
/// for the point itself, and 0.5 or -0.5 for the midpoint between it and a neighbour.
std::vector<Tap> difference_taps(int axis, int derivative, int order, double place, double spacing) {
  // With 2 n points about a midpoint, derivative m has the order 2 n - m, or one more if m is odd.
  const int half = (order + derivative) / 2;
  const int shift = place < 0.0 ? -1 : 0;
  const Formula formula = place == 0.0 ? central(axis, derivative, order)
                                       : difference(axis, derivative, shift - half + 1, shift + half, place);
  double scale = 1.0;
  for (int i = 0; i < derivative; ++i) scale *= spacing;
  std::vector<Tap> taps = formula.stencil().taps();
  for (Tap& tap : taps) tap.weight /= scale;
  return taps;
}

class Resolver {
 public:
  Resolver(const Syntax& syntax, const StepNames& names) : syntax_(syntax), names_(names) {
    system_.dimensions = names.dimensions;
    system_.fields = names.fields;
    system_.coefficients = names.coefficients;
  }

  System resolve() {
    std::size_t next_node = 0;
    for (const SyntaxStatement& statement : syntax_.statements) {
      // The nodes of a statement follow those of the statements before it.
      for (; next_node <= static_cast<std::size_t>(statement.value); ++next_node)
        terms_.push_back(term_of(syntax_.nodes[next_node]));
      const TermId value = terms_[statement.value];
      if (statement.next)
        add_equation(statement, value);
      else
        add_shorthand(statement, value);
    }
    for (const std::string& field : names_.fields)
      if (!has_equation(field)) refuse_field_without_equation(field);
    return std::move(system_);
  }

 private:
  // ---- statements ----

  void add_equation(const SyntaxStatement& statement, TermId value) {
    const auto field = std::ranges::find(names_.fields, statement.name);
    if (field == names_.fields.end())
      refuse(statement.position,
             fmt::format("'{}.next', but '{}' is no field", statement.name, statement.name),
             one_of(statement.name, names_.fields, "a field"));
    if (has_equation(statement.name))
      refuse(statement.position, fmt::format("a second equation for the field '{}'", statement.name),
             fmt::format("one statement '{}.next = ...'", statement.name));
    system_.statements.push_back({static_cast<int>(field - names_.fields.begin()), value});
  }

  void add_shorthand(const SyntaxStatement& statement, TermId value) {
    const std::string& name = statement.name;
    if (contains_name(names_.fields, name))
      refuse(statement.position, fmt::format("'{} = ...', but '{}' is a field", name, name),
             fmt::format("'{}.next = ...', or another name for a shorthand", name));
    if (contains_name(names_.coefficients, name) || names_.constants.contains(name))
      refuse(statement.position, fmt::format("'{} = ...', but '{}' is given already", name, name),
             "another name for the shorthand");
    if (const std::string why = why_invalid_name(name); !why.empty())
      refuse(statement.position, fmt::format("'{} = ...', but {}", name, why),
             "another name for the shorthand");
    if (!shorthands_.emplace(name, value).second)
      refuse(statement.position, fmt::format("a second shorthand '{}'", name), "another name for it");
  }

  bool has_equation(std::string_view field) const {
    return std::ranges::any_of(system_.statements, [&](const Statement& statement) {
      return names_.fields[statement.field] == field;
    });
  }

  Position last_position() const {
    return syntax_.statements.empty() ? Position{} : syntax_.statements.back().position;
  }

  // ---- expressions ----

  TermId term_of(const SyntaxNode& node) {
    switch (node.kind) {
      case SyntaxKind::number:
        return system_.terms.number(node.number);
      case SyntaxKind::name:
        return look_up(node);
      case SyntaxKind::level:
        return field_at_level(node);
      case SyntaxKind::operation: {
        std::vector<TermId> operands;
        for (const int operand : node.operands) operands.push_back(terms_[operand]);
        return system_.terms.operation(node.operation, std::move(operands));
      }
      case SyntaxKind::unknown:
        refuse_call(node);
      case SyntaxKind::displaced:
        return displaced(node);
      case SyntaxKind::difference:
        return difference_of(node);
      case SyntaxKind::mean: {
        const double place = place_of(node);
        if (place == 0.0) refuse(node.position, "'mean' without 'at='", "'at=0.5' or 'at=-0.5'");
        return system_.terms.weighted(terms_[node.operands[0]],
                                      difference_taps(axis_of(node), 0, order_of(node), place, 1.0));
      }
      case SyntaxKind::laplace:
        return laplace_of(node);
      case SyntaxKind::correlate: {
        const auto found = names_.stencils.find(node.axis);
        if (found == names_.stencils.end())
          refuse(node.axis_position, fmt::format("the unknown weights '{}'", node.axis),
                 one_of(node.axis, keys(names_.stencils), "weights, a section [stencils.<name>]"));
        return system_.terms.weighted(terms_[node.operands[0]], found->second.taps());
      }
    }
    return 0;
  }

  TermId look_up(const SyntaxNode& node) {
    const std::string& name = node.text;
    if (const auto found = shorthands_.find(name); found != shorthands_.end()) return found->second;
    if (const auto field = std::ranges::find(names_.fields, name); field != names_.fields.end())
      return system_.terms.field(static_cast<int>(field - names_.fields.begin()), Level::now);
    if (const auto found = std::ranges::find(names_.coefficients, name); found != names_.coefficients.end())
      return system_.terms.coefficient(static_cast<int>(found - names_.coefficients.begin()));
    if (const auto found = names_.constants.find(name); found != names_.constants.end())
      return system_.terms.number(found->second);
    if (name == "pi") return system_.terms.number(std::numbers::pi);
    if (name == "dt") return system_.terms.number(names_.dt);
    if (name == "t") return system_.terms.time();
    if (name == "step") return system_.terms.step();
    if (const int axis = find_axis(name); axis >= 0) {
      check_axis(axis, name, node.position);
      return system_.terms.coordinate(axis);
    }
    if (find_function(name) || contains_name(operator_names, name))
      refuse(node.position, fmt::format("'{}', which is a function", name), fmt::format("'{}(...)'", name));
    if (later_shorthand(name))
      refuse(node.position, fmt::format("'{}' before its statement", name),
             fmt::format("the statement '{} = ...' above this one", name));
    refuse(node.position, fmt::format("the unknown name '{}'", name), one_of(name, known_names(), "a name"));
  }

  TermId field_at_level(const SyntaxNode& node) {
    const auto field = std::ranges::find(names_.fields, node.text);
    if (field == names_.fields.end())
      refuse(node.position, fmt::format("'{}.{}', but '{}' is no field", node.text, node.level, node.text),
             one_of(node.text, names_.fields, "a field"));
    if (node.level == "next" && !has_equation(node.text))
      refuse(node.position, fmt::format("'{}.next' before its statement", node.text),
             fmt::format("the statement '{}.next = ...' above this one", node.text));
    return system_.terms.field(static_cast<int>(field - names_.fields.begin()),
                               node.level == "next" ? Level::next : Level::previous);
  }

  TermId displaced(const SyntaxNode& node) {
    const auto count = static_cast<int>(node.operands.size()) - 1;
    if (count != names_.dimensions)
      refuse(node.position, fmt::format("{} offset{}", count, count == 1 ? "" : "s"),
             fmt::format("{}, one per axis of the grid, slowest first", names_.dimensions));
    Index3 offset{};
    for (int i = 0; i < count; ++i)
      offset[axis_count - count + i] =
          whole_number(node.operands[i + 1], "an offset", -max_offset, max_offset);
    return system_.terms.displaced(terms_[node.operands[0]], offset);
  }

  TermId difference_of(const SyntaxNode& node) {
    const int axis = axis_of(node);
    const int derivative =
        node.operands.size() > 1 ? whole_number(node.operands[1], "a derivative", 1, 8) : 1;
    return system_.terms.weighted(
        terms_[node.operands[0]],
        difference_taps(axis, derivative, order_of(node), place_of(node), names_.spacing[axis]));
  }

  TermId laplace_of(const SyntaxNode& node) {
    std::map<Index3, double> sum;
    for (int axis = axis_count - names_.dimensions; axis < axis_count; ++axis)
      for (const Tap& tap : difference_taps(axis, 2, order_of(node), 0.0, names_.spacing[axis]))
        sum[tap.offset] += tap.weight;
    std::vector<Tap> taps;
    for (const auto& [offset, weight] : sum) taps.push_back({offset, weight});
    return system_.terms.weighted(terms_[node.operands[0]], taps);
  }

  // ---- arguments ----

  int axis_of(const SyntaxNode& node) const {
    const int axis = find_axis(node.axis);
    if (axis < 0)
      refuse(node.axis_position, fmt::format("'{}'", node.axis),
             fmt::format("an axis of the grid: {}", axis_list()));
    check_axis(axis, node.axis, node.axis_position);
    return axis;
  }

  static int find_axis(std::string_view name) {
    return name == "z" ? 0 : name == "y" ? 1 : name == "x" ? 2 : -1;
  }

  void check_axis(int axis, const std::string& name, Position position) const {
    if (axis < axis_count - names_.dimensions)
      refuse(position, fmt::format("'{}', an axis that the {}D grid has not", name, names_.dimensions),
             axis_list());
  }

  std::string axis_list() const {
    return names_.dimensions == 1 ? "x" : names_.dimensions == 2 ? "x or y" : "x, y or z";
  }

  int order_of(const SyntaxNode& node) const {
    if (node.order < 0) return 2;
    const double order = constant(node.order, "an order");
    if (std::fmod(order, 2) != 0 || !(order >= 2 && order <= 20))
      refuse(syntax_.nodes[node.order].position, fmt::format("the order {}", order),
             "an even order of accuracy from 2 to 20");
    return static_cast<int>(order);
  }

  double place_of(const SyntaxNode& node) const {
    if (node.at < 0) return 0.0;
    const double place = constant(node.at, "'at'");
    if (place != 0.5 && place != -0.5)
      refuse(syntax_.nodes[node.at].position, fmt::format("at = {}", place), "'at=0.5' or 'at=-0.5'");
    return place;
  }

  double constant(int node, const char* what) const {
    const Term& term = system_.terms[terms_[node]];
    if (term.kind != TermKind::number)
      refuse(syntax_.nodes[node].position, fmt::format("{} that is no constant", what),
             "a number, or constants alone");
    return term.number;
  }

  int whole_number(int node, const char* what, int least, int most) const {
    const double value = constant(node, what);
    if (std::nearbyint(value) != value || !(value >= least && value <= most))
      refuse(syntax_.nodes[node].position, fmt::format("{} of {}", what, value),
             fmt::format("a whole number from {} to {}", least, most));
    return static_cast<int>(value);
  }

  // ---- errors ----

  [[noreturn]] void refuse(Position position, std::string found, std::string wanted) const {
    throw SyntaxError(syntax_.text, position, std::move(found), std::move(wanted));
  }

  /// Refuses a field that no statement gives a value. Papers write derivatives by time, such as u_t = ..., in
  /// place of the value after a step.
  [[noreturn]] void refuse_field_without_equation(const std::string& field) const {
    for (const SyntaxStatement& statement : syntax_.statements)
      if (statement.name == field + "_t" || statement.name == "d" + field + "dt" ||
          statement.name == "d" + field + "_dt")
        refuse(statement.position,
               fmt::format("'{} = ...', and no equation for the field '{}'", statement.name, field),
               fmt::format("'{0}.next = {0} + dt*(...)' for a derivative by time", field));
    refuse(last_position(), fmt::format("no equation for the field '{}'", field),
           fmt::format("a statement '{}.next = ...'", field));
  }

  [[noreturn]] void refuse_call(const SyntaxNode& node) const {
    std::vector<std::string> functions(operator_names.begin(), operator_names.end());
    for (const OperationInfo& info : operation_table)
      if (is_function(info.operation)) functions.emplace_back(info.name);
    if (contains_name(names_.fields, node.text) || contains_name(names_.coefficients, node.text) ||
        names_.constants.contains(node.text) || shorthands_.contains(node.text) ||
        contains_name(given_names, node.text))
      refuse(node.position, fmt::format("a call of '{}', which is no function", node.text),
             fmt::format("'{}*(...)' for a product, '{}[...]' for a displacement", node.text, node.text));
    refuse(node.position, fmt::format("the unknown function '{}'", node.text),
           one_of(node.text, functions, "a function"));
  }

  /// Returns the derivative of a field that a name such as u_x, u_xx or dudx means; empty if it means none.
  std::string derivative_meant(const std::string& name) const {
    for (const std::string& field : names_.fields)
      for (const char axis : {'x', 'y', 'z'}) {
        if (name == fmt::format("{}_{}{}", field, axis, axis))
          return fmt::format("'d({}, {}, 2)'", field, axis);
        for (const std::string& first :
             {fmt::format("{}_{}", field, axis), fmt::format("d{}d{}", field, axis),
              fmt::format("d{}_d{}", field, axis)})
          if (name == first) return fmt::format("'d({}, {})'", field, axis);
      }
    return "";
  }

  std::string one_of(const std::string& name, const std::vector<std::string>& known, const char* what) const {
    for (const std::string& own : {own_name_of(name), own_derivative_of(name), derivative_meant(name)})
      if (!own.empty()) return own;
    std::string list;
    for (const std::string& other : known) list += (list.empty() ? "" : ", ") + other;
    const std::string nearest = nearest_name(name, known);
    return (list.empty() ? std::string(what) : "one of " + list) +
           (nearest.empty() ? "" : fmt::format(" (is it '{}'?)", nearest));
  }

  template <class Map>
  static std::vector<std::string> keys(const Map& map) {
    std::vector<std::string> names;
    for (const auto& [name, value] : map) names.push_back(name);
    return names;
  }

  std::vector<std::string> known_names() const {
    std::vector<std::string> known = names_.fields;
    known.insert(known.end(), names_.coefficients.begin(), names_.coefficients.end());
    for (const std::string& name : keys(names_.constants)) known.push_back(name);
    for (const std::string& name : keys(shorthands_)) known.push_back(name);
    for (const std::string_view name : given_names)
      if (find_axis(name) < 0 || find_axis(name) >= axis_count - names_.dimensions) known.emplace_back(name);
    return known;
  }

  bool later_shorthand(const std::string& name) const {
    return std::ranges::any_of(syntax_.statements, [&](const SyntaxStatement& statement) {
      return !statement.next && statement.name == name;
    });
  }

  const Syntax& syntax_;
  const StepNames& names_;
  System system_;
  std::vector<TermId> terms_;  // terms of the nodes so far
  std::map<std::string, TermId, std::less<>> shorthands_;
};

}  // namespace

System resolve_step(const Syntax& step, const StepNames& names) { return Resolver(step, names).resolve(); }

std::string why_invalid_name(std::string_view name) {
  const auto starts = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !starts(name[0]) ||
      !std::ranges::all_of(name, [&](char c) { return starts(c) || (c >= '0' && c <= '9'); }))
    return "names consist of letters, digits and '_', and begin with no digit";
  if (contains_name(given_names, name)) return fmt::format("'{}' has a meaning of its own", name);
  if (find_function(name) || contains_name(operator_names, name))
    return fmt::format("'{}' is a function", name);
  if (contains_name(word_operators, name)) return fmt::format("'{}' reads as an operator", name);
  if (name == "next" || name == "previous") return fmt::format("'{}' is a time level", name);
  return {};
}

}  // namespace spsolve
