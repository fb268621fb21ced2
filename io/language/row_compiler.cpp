// SPDX-License-Identifier: Apache-2.0
#include "io/language/row_compiler.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numbers>
#include <optional>

#include "io/language/foreign_names.hpp"
#include "io/nearest_name.hpp"
#include "kernels/operator/apply.hpp"

namespace spsolve {

namespace {

/// Holds a value while an expression is translated: an operand, or factor * variable + addend, which is no
/// instruction yet.
struct Pending {
  RowOperand operand;
  bool affine = false;  // `operand` is a variable then
  double factor = 1.0, addend = 0.0;

  bool constant() const { return !affine && operand.kind == RowOperandKind::constant; }
  bool variable() const { return !affine && operand.kind == RowOperandKind::variable; }
  bool is(double number) const { return constant() && operand.number == number; }
};

Pending pending_constant(double number) { return {{RowOperandKind::constant, 0, number, false}}; }

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
    code_.result = finished(values_.back());
  }

  RowCode code() && { return std::move(code_); }

 private:
  Pending translate(const SyntaxNode& node) {
    switch (node.kind) {
      case SyntaxKind::number:
        return pending_constant(node.number);
      case SyntaxKind::name:
        return look_up(node);
      case SyntaxKind::operation:
        return operation(node);
      case SyntaxKind::unknown:
        refuse_call(node);
      default:
        break;
    }
    throw SyntaxError(
        text_, node.position,
        node.kind == SyntaxKind::level ? fmt::format("'{}.{}'", node.text, node.level)
        : node.kind == SyntaxKind::displaced
            ? std::string("'['")
            : fmt::format("'{}(...)'", node.kind == SyntaxKind::correlate ? "correlate" : node.text),
        "an expression of one point and one time; displacements and derivatives belong into the "
        "'step' of [equations]");
  }

  Pending look_up(const SyntaxNode& node) const {
    for (std::size_t i = 0; i < names_.variables.size(); ++i)
      if (names_.variables[i].name == node.text)
        return {{RowOperandKind::variable, static_cast<int>(i), 0.0, names_.variables[i].varies}};
    if (const auto found = names_.constants.find(node.text); found != names_.constants.end())
      return pending_constant(found->second);
    std::vector<std::string> known{"pi"};
    for (const auto& variable : names_.variables) known.push_back(variable.name);
    for (const auto& [name, value] : names_.constants) known.push_back(name);
    if (node.text == "pi") return pending_constant(std::numbers::pi);
    // muParser, which evaluated formulas before, had these two constants, the first with thirteen digits.
    if (node.text == "_pi") return pending_constant(3.141592653589);
    if (node.text == "_e") return pending_constant(std::numbers::e);
    throw SyntaxError(
        text_, node.position, fmt::format("the unknown name '{}'", node.text),
        find_function(node.text) ? fmt::format("'{}(...)'", node.text) : nearest_or_list(node.text, known));
  }

  [[noreturn]] void refuse_call(const SyntaxNode& node) const {
    std::vector<std::string> known;
    for (const OperationInfo& info : operation_table)
      if (is_function(info.operation)) known.emplace_back(info.name);
    throw SyntaxError(text_, node.position, fmt::format("the unknown function '{}'", node.text),
                      nearest_or_list(node.text, known));
  }

  static std::string nearest_or_list(const std::string& name, const std::vector<std::string>& known) {
    if (const std::string own = own_name_of(name); !own.empty()) return own;
    const std::string nearest = nearest_name(name, known);
    return fmt::format("one of {}{}", fmt::join(known, ", "),
                       nearest.empty() ? "" : fmt::format(" (is it '{}'?)", nearest));
  }

  Pending operation(const SyntaxNode& node) {
    std::vector<Pending> operands;
    for (const int operand : node.operands) operands.push_back(values_[operand]);
    const bool all_constant = std::ranges::all_of(operands, [](auto& p) { return p.constant(); });
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
                    {RowOperandKind::constant, 0, value.factor, false},
                    {RowOperandKind::constant, 0, value.addend, false}}});
  }

  RowOperand append(RowInstruction instruction) {
    for (const RowOperand& operand : instruction.operands) {
      instruction.varies = instruction.varies || operand.varies;
      if (operand.kind == RowOperandKind::slot) free_.push_back(operand.index);
    }
    if (free_.empty()) free_.push_back(code_.slots++);
    instruction.slot = free_.back();
    free_.pop_back();
    code_.instructions.push_back(std::move(instruction));
    return {RowOperandKind::slot, code_.instructions.back().slot, 0.0, code_.instructions.back().varies};
  }

  const std::string& text_;
  const ExpressionNames& names_;
  std::vector<Pending> values_;
  std::vector<int> free_;  // slots
  RowCode code_;
};

}  // namespace

RowCode compile_rows(const Syntax& expression, const ExpressionNames& names) {
  return RowCompiler(expression, names).code();
}

}  // namespace spsolve
