// SPDX-License-Identifier: Apache-2.0
#include "io/language/row_program.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "io/language/foreign_names.hpp"
#include "io/nearest_name.hpp"
#include "kernels/operator/apply.hpp"

namespace spsolve {

namespace {

using Kind = RowOperand::Kind;

/// Holds a value while an expression is translated: an operand, or factor * variable + addend, which is no
/// instruction yet.
struct Pending {
  RowOperand operand;
  bool affine = false;  // `operand` is a variable then
  double factor = 1.0, addend = 0.0;

  bool constant() const { return !affine && operand.kind == Kind::constant; }
  bool variable() const { return !affine && operand.kind == Kind::variable; }
  bool is(double number) const { return constant() && operand.number == number; }
};

Pending pending_constant(double number) { return {{Kind::constant, 0, number, false}}; }

/// Returns the number of the variable of which a value is a multiple, or nothing for constants.
std::optional<int> variable_of(const Pending& value) {
  if (value.affine || value.variable()) return value.operand.index;
  return {};
}
bool same_variable(const Pending& a, const Pending& b) {
  const auto of_a = variable_of(a), of_b = variable_of(b);
  return (of_a || a.constant()) && (of_b || b.constant()) && (!of_a || !of_b || *of_a == *of_b);
}

/// Returns a value as factor * variable + addend; a constant has the factor 0.
Pending as_affine(Pending value) {
  if (value.constant()) value.factor = 0.0, value.addend = value.operand.number;
  value.affine = true;
  return value;
}

class RowCompiler {
 public:
  RowCompiler(const Syntax& expression, const ExpressionNames& names)
      : text_(expression.text), names_(names) {
    values_.reserve(expression.nodes.size());
    for (const SyntaxNode& node : expression.nodes) values_.push_back(translate(node));
    result = finished(values_.back());
  }

  std::vector<RowInstruction> instructions;
  RowOperand result;
  int slots = 0;

 private:
  Pending translate(const SyntaxNode& node) {
    switch (node.kind) {
      case SyntaxNode::Kind::number:
        return pending_constant(node.number);
      case SyntaxNode::Kind::name:
        return look_up(node);
      case SyntaxNode::Kind::operation:
        return operation(node);
      case SyntaxNode::Kind::unknown:
        refuse_call(node);
      default:
        break;
    }
    throw SyntaxError(
        text_, node.position,
        node.kind == SyntaxNode::Kind::level ? fmt::format("'{}.{}'", node.text, node.level)
        : node.kind == SyntaxNode::Kind::displaced
            ? std::string("'['")
            : fmt::format("'{}(...)'", node.kind == SyntaxNode::Kind::correlate ? "correlate" : node.text),
        "an expression of one point and one time; displacements and derivatives belong into the "
        "'step' of [equations]");
  }

  Pending look_up(const SyntaxNode& node) const {
    for (std::size_t i = 0; i < names_.variables.size(); ++i)
      if (names_.variables[i].name == node.text)
        return {{Kind::variable, static_cast<int>(i), 0.0, names_.variables[i].varies}};
    if (const auto found = names_.constants.find(node.text); found != names_.constants.end())
      return pending_constant(found->second);
    std::vector<std::string> known{"pi"};
    for (const auto& variable : names_.variables) known.push_back(variable.name);
    for (const auto& [name, value] : names_.constants) known.push_back(name);
    if (node.text == "pi") return pending_constant(std::numbers::pi);
    // muParser, which evaluated formulas before, had these two constants, the first with thirteen digits.
    if (node.text == "_pi") return pending_constant(3.141592653589);
    if (node.text == "_e") return pending_constant(std::numbers::e);
    std::string list;
    for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
    throw SyntaxError(text_, node.position, fmt::format("the unknown name '{}'", node.text),
                      find_function(node.text) ? fmt::format("'{}(...)'", node.text)
                                               : nearest_or_list(node.text, known, list));
  }

  [[noreturn]] void refuse_call(const SyntaxNode& node) const {
    std::vector<std::string> known;
    std::string list;
    for (const OperationInfo& info : operation_table)
      if (is_function(info.operation)) {
        known.emplace_back(info.name);
        list += (list.empty() ? "" : ", ") + known.back();
      }
    throw SyntaxError(text_, node.position, fmt::format("the unknown function '{}'", node.text),
                      nearest_or_list(node.text, known, list));
  }

  static std::string nearest_or_list(const std::string& name, const std::vector<std::string>& known,
                                     const std::string& list) {
    if (const std::string own = own_name_of(name); !own.empty()) return own;
    const std::string nearest = nearest_name(name, known);
    return nearest.empty() ? "one of " + list : fmt::format("one of {} (is it '{}'?)", list, nearest);
  }

  Pending operation(const SyntaxNode& node) {
    std::vector<Pending> operands;
    for (const int operand : node.operands) operands.push_back(values_[operand]);
    const bool all_constant =
        std::all_of(operands.begin(), operands.end(), [](auto& p) { return p.constant(); });
    const bool variadic = info_of(node.operation).max_arguments == max_operands;
    if (all_constant && !variadic && node.operation != Operation::select) {
      std::vector<double> numbers;
      for (const Pending& operand : operands) numbers.push_back(operand.operand.number);
      return pending_constant(apply<double>(node.operation, numbers));
    }
    if (operands.size() == 2)
      if (const auto simple = simplified(node.operation, operands[0], operands[1])) return *simple;
    RowInstruction instruction{node.operation, false, 0, false, {}};
    for (const Pending& operand : operands) instruction.operands.push_back(finished(operand));
    return {append(std::move(instruction))};
  }

  /// Returns sums and multiples of one variable and numbers, and its small powers, in simplified form.
  std::optional<Pending> simplified(Operation operation, const Pending& a, const Pending& b) {
    const bool sum = operation == Operation::add, difference = operation == Operation::subtract;
    if ((sum || difference) && same_variable(a, b)) {
      Pending result_of = as_affine(a);
      const Pending other = as_affine(b);
      if (a.constant()) result_of.operand = other.operand;
      const double sign = sum ? 1.0 : -1.0;
      result_of.factor += sign * other.factor;
      result_of.addend += sign * other.addend;
      return result_of;
    }
    if (operation == Operation::multiply && (a.constant() || b.constant()) && same_variable(a, b)) {
      Pending product = as_affine(a.constant() ? b : a);
      const double number = (a.constant() ? a : b).operand.number;
      const bool single = a.variable() || b.variable();
      product.factor = single ? number + 0.0 : product.factor * number;  // 0, not -0
      product.addend = single ? 0.0 : product.addend * number;
      return product;
    }
    if (operation == Operation::divide && a.affine && b.constant() && !b.is(0.0)) {
      Pending quotient = a;
      quotient.factor /= b.operand.number;
      quotient.addend /= b.operand.number;
      return quotient;
    }
    if (operation == Operation::multiply && a.variable() && b.variable() && same_variable(a, b))
      return product_of(a.operand, 2);
    if (operation == Operation::power && a.variable()) {
      if (b.is(0.0)) return pending_constant(1.0);
      if (b.is(1.0)) return a;
      for (const int exponent : {2, 3, 4})
        if (b.is(exponent)) return product_of(a.operand, exponent);
    }
    return {};
  }

  Pending product_of(const RowOperand& variable, int factors) {
    RowOperand product = variable;
    for (int i = 1; i < factors; ++i)
      product = append({Operation::multiply, false, 0, false, {product, variable}});
    return {product};
  }

  /// Returns an operand that instructions can take.
  RowOperand finished(const Pending& value) {
    if (!value.affine) return value.operand;
    return append({Operation::add,
                   true,
                   0,
                   false,
                   {value.operand,
                    {Kind::constant, 0, value.factor, false},
                    {Kind::constant, 0, value.addend, false}}});
  }

  RowOperand append(RowInstruction instruction) {
    for (const RowOperand& operand : instruction.operands) {
      instruction.varies = instruction.varies || operand.varies;
      if (operand.kind == Kind::slot) free_.push_back(operand.index);
    }
    if (free_.empty()) free_.push_back(slots++);
    instruction.slot = free_.back();
    free_.pop_back();
    instructions.push_back(std::move(instruction));
    return {Kind::slot, instructions.back().slot, 0.0, instructions.back().varies};
  }

  const std::string& text_;
  const ExpressionNames& names_;
  std::vector<Pending> values_;
  std::vector<int> free_;  // slots
};

/// Refers to the values of an operand: one per point, or one for all.
struct Row {
  const double* values;
  bool varies;
};

template <class Function>
void map(Function function, const Row& a, int count, double* out) {
  for (int i = 0; i < count; ++i) out[i] = function(a.values[i]);
}

template <class Function>
void map(Function function, const Row& a, const Row& b, int count, double* out) {
  if (a.varies && b.varies) {
    for (int i = 0; i < count; ++i) out[i] = function(a.values[i], b.values[i]);
  } else if (a.varies) {
    const double second = b.values[0];
    for (int i = 0; i < count; ++i) out[i] = function(a.values[i], second);
  } else {
    const double first = a.values[0];
    for (int i = 0; i < count; ++i) out[i] = function(first, b.values[b.varies ? i : 0]);
  }
}

/// Computes any operation, point by point.
void map_any(Operation operation, std::span<const Row> rows, int count, double* out) {
  std::array<double, max_operands> values;
  for (int i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < rows.size(); ++k) values[k] = rows[k].values[rows[k].varies ? i : 0];
    out[i] = apply<double>(operation, std::span<const double>(values.data(), rows.size()));
  }
}

/// Computes an operation by vector loops, or by direct calls of its function.
void perform(Operation operation, std::span<const Row> rows, int count, double* out) {
  const auto unary = [&](auto function) { map(function, rows[0], count, out); };
  const auto binary = [&](auto function) { map(function, rows[0], rows[1], count, out); };
  switch (operation) {
    case Operation::add:
      return binary([](double a, double b) { return a + b; });
    case Operation::subtract:
      return binary([](double a, double b) { return a - b; });
    case Operation::multiply:
      return binary([](double a, double b) { return a * b; });
    case Operation::divide:
      return binary([](double a, double b) { return a / b; });
    case Operation::negate:
      return unary([](double a) { return -a; });
    case Operation::less:
      return binary([](double a, double b) { return a < b ? 1.0 : 0.0; });
    case Operation::less_equal:
      return binary([](double a, double b) { return a <= b ? 1.0 : 0.0; });
    case Operation::greater:
      return binary([](double a, double b) { return a > b ? 1.0 : 0.0; });
    case Operation::greater_equal:
      return binary([](double a, double b) { return a >= b ? 1.0 : 0.0; });
    case Operation::sqrt:
      return unary([](double a) { return std::sqrt(a); });
    case Operation::exp:
      return unary([](double a) { return std::exp(a); });
    case Operation::sin:
      return unary([](double a) { return std::sin(a); });
    case Operation::cos:
      return unary([](double a) { return std::cos(a); });
    case Operation::absolute:
      return unary([](double a) { return a >= 0.0 ? a : -a; });
    case Operation::power:
    case Operation::pow:
      return binary([](double a, double b) { return std::pow(a, b); });
    case Operation::minimum:
      if (rows.size() == 2) return binary([](double a, double b) { return b < a ? b : a; });
      break;
    case Operation::maximum:
      if (rows.size() == 2) return binary([](double a, double b) { return a < b ? b : a; });
      break;
    default:
      break;
  }
  map_any(operation, rows, count, out);
}

}  // namespace

RowProgram::RowProgram(const Syntax& expression, const ExpressionNames& names) {
  RowCompiler compiler(expression, names);
  instructions_ = std::move(compiler.instructions);
  result_ = compiler.result;
  slots_ = compiler.slots;
}

void RowProgram::evaluate(std::span<const double* const> variables, std::span<double> out,
                          std::vector<double>& workspace) const {
  workspace.resize(static_cast<std::size_t>(slots_) * width);
  const auto row_of = [&](const RowOperand& operand) -> Row {
    switch (operand.kind) {
      case Kind::constant:
        return {&operand.number, false};
      case Kind::variable:
        return {variables[operand.index], operand.varies};
      default:
        return {workspace.data() + static_cast<std::ptrdiff_t>(operand.index) * width, operand.varies};
    }
  };
  std::array<Row, max_operands> rows;
  std::array<double, max_operands> uniform;
  for (const RowInstruction& instruction : instructions_) {
    for (std::size_t k = 0; k < instruction.operands.size(); ++k) {
      rows[k] = row_of(instruction.operands[k]);
      // The result may take the slot of an operand; every point still reads one value for all.
      if (!rows[k].varies) uniform[k] = *rows[k].values, rows[k].values = &uniform[k];
    }
    double* const result = workspace.data() + static_cast<std::ptrdiff_t>(instruction.slot) * width;
    const int count = instruction.varies ? static_cast<int>(out.size()) : 1;
    if (instruction.affine) {
      const double factor = *rows[1].values, addend = *rows[2].values;
      map([=](double a) { return a * factor + addend; }, rows[0], count, result);
    } else {
      perform(instruction.operation, std::span<const Row>(rows.data(), instruction.operands.size()), count,
              result);
    }
  }
  const Row result = row_of(result_);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = result.values[result.varies ? i : 0];
}

}  // namespace spsolve
