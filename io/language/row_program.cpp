// SPDX-License-Identifier: Apache-2.0
#include "io/language/row_program.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/operator/apply.hpp"

namespace spsolve {

namespace {

/// Refers to the values of an operand: one per point, or one for all.
struct OperandValues {
  const double* values;
  bool varies;
};

template <class Function>
void map(Function function, const OperandValues& a, int count, double* out) {
  for (int i = 0; i < count; ++i) out[i] = function(a.values[i]);
}

template <class Function>
void map(Function function, const OperandValues& a, const OperandValues& b, int count, double* out) {
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
void map_any(Operation operation, std::span<const OperandValues> rows, int count, double* out) {
  std::array<double, max_operands> values;
  for (int i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < rows.size(); ++k) values[k] = rows[k].values[rows[k].varies ? i : 0];
    out[i] = apply<double>(operation, std::span<const double>(values.data(), rows.size()));
  }
}

/// Computes an operation by vector loops, or by direct calls of its function.
void perform(Operation operation, std::span<const OperandValues> rows, int count, double* out) {
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

void RowProgram::evaluate(std::span<const double* const> variables, std::span<double> out,
                          std::vector<double>& workspace) const {
  workspace.resize(static_cast<std::size_t>(code_.slots) * width);
  for (std::size_t first = 0; first < out.size(); first += width)
    evaluate_part(variables, first, out.subspan(first, std::min<std::size_t>(out.size() - first, width)),
                  workspace);
}

void RowProgram::evaluate_part(std::span<const double* const> variables, std::size_t first,
                               std::span<double> out, std::vector<double>& workspace) const {
  const auto row_of = [&](const RowOperand& operand) -> OperandValues {
    switch (operand.kind) {
      case RowOperandKind::constant:
        return {&operand.number, false};
      case RowOperandKind::variable:
        return {variables[operand.index] + (operand.varies ? first : 0), operand.varies};
      default:
        return {workspace.data() + static_cast<std::ptrdiff_t>(operand.index) * width, operand.varies};
    }
  };
  std::array<OperandValues, max_operands> rows;
  std::array<double, max_operands> uniform;
  for (const RowInstruction& instruction : code_.instructions) {
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
      perform(instruction.operation, std::span<const OperandValues>(rows.data(), instruction.operands.size()),
              count, result);
    }
  }
  const OperandValues result = row_of(code_.result);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = result.values[result.varies ? i : 0];
}

}  // namespace spsolve
