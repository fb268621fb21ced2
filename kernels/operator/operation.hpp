// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace spsolve {

/// Names an operation on the operands of an expression.
enum class Operation : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  negate,
  power,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  both,    // &&
  either,  // ||
  select,  // condition ? a : b
  // The functions follow in alphabetical order.
  absolute,
  acos,
  acosh,
  asin,
  asinh,
  atan,
  atan2,
  atanh,
  average,
  ceil,
  clamp,
  cos,
  cosh,
  erf,
  erfc,
  exp,
  floor,
  fmod,
  heaviside,
  hypot,
  log,
  log10,
  log2,
  maximum,
  minimum,
  mod,
  pow,
  ricker,
  rint,
  sign,
  sin,
  sinh,
  smoothstep,
  sqrt,
  sum,
  tan,
  tanh,
  trunc,
};

constexpr int max_operands = 64;

struct OperationInfo {
  Operation operation;
  std::string_view name;             // name of the function or symbol of the operator
  int min_arguments, max_arguments;  // operands
  bool same_bits;  // processors of all kinds compute it with the same bits, each rounding as IEEE 754 says
};

/// Lists the operations in the order of Operation.
inline constexpr std::array operation_table{
    OperationInfo{Operation::add, "+", 2, 2, true},
    OperationInfo{Operation::subtract, "-", 2, 2, true},
    OperationInfo{Operation::multiply, "*", 2, 2, true},
    OperationInfo{Operation::divide, "/", 2, 2, true},
    OperationInfo{Operation::negate, "-", 1, 1, true},
    OperationInfo{Operation::power, "^", 2, 2, false},
    OperationInfo{Operation::less, "<", 2, 2, true},
    OperationInfo{Operation::less_equal, "<=", 2, 2, true},
    OperationInfo{Operation::greater, ">", 2, 2, true},
    OperationInfo{Operation::greater_equal, ">=", 2, 2, true},
    OperationInfo{Operation::equal, "==", 2, 2, true},
    OperationInfo{Operation::not_equal, "!=", 2, 2, true},
    OperationInfo{Operation::both, "&&", 2, 2, true},
    OperationInfo{Operation::either, "||", 2, 2, true},
    OperationInfo{Operation::select, "?:", 3, 3, true},
    OperationInfo{Operation::absolute, "abs", 1, 1, true},
    OperationInfo{Operation::acos, "acos", 1, 1, false},
    OperationInfo{Operation::acosh, "acosh", 1, 1, false},
    OperationInfo{Operation::asin, "asin", 1, 1, false},
    OperationInfo{Operation::asinh, "asinh", 1, 1, false},
    OperationInfo{Operation::atan, "atan", 1, 1, false},
    OperationInfo{Operation::atan2, "atan2", 2, 2, false},
    OperationInfo{Operation::atanh, "atanh", 1, 1, false},
    OperationInfo{Operation::average, "avg", 1, max_operands, true},
    OperationInfo{Operation::ceil, "ceil", 1, 1, true},
    OperationInfo{Operation::clamp, "clamp", 3, 3, true},
    OperationInfo{Operation::cos, "cos", 1, 1, false},
    OperationInfo{Operation::cosh, "cosh", 1, 1, false},
    OperationInfo{Operation::erf, "erf", 1, 1, false},
    OperationInfo{Operation::erfc, "erfc", 1, 1, false},
    OperationInfo{Operation::exp, "exp", 1, 1, false},
    OperationInfo{Operation::floor, "floor", 1, 1, true},
    OperationInfo{Operation::fmod, "fmod", 2, 2, true},
    OperationInfo{Operation::heaviside, "heaviside", 1, 1, true},
    OperationInfo{Operation::hypot, "hypot", 2, 2, false},
    OperationInfo{Operation::log, "log", 1, 1, false},
    OperationInfo{Operation::log10, "log10", 1, 1, false},
    OperationInfo{Operation::log2, "log2", 1, 1, false},
    OperationInfo{Operation::maximum, "max", 1, max_operands, true},
    OperationInfo{Operation::minimum, "min", 1, max_operands, true},
    OperationInfo{Operation::mod, "mod", 2, 2, true},
    OperationInfo{Operation::pow, "pow", 2, 2, false},
    OperationInfo{Operation::ricker, "ricker", 2, 2, false},
    OperationInfo{Operation::rint, "rint", 1, 1, true},
    OperationInfo{Operation::sign, "sign", 1, 1, true},
    OperationInfo{Operation::sin, "sin", 1, 1, false},
    OperationInfo{Operation::sinh, "sinh", 1, 1, false},
    OperationInfo{Operation::smoothstep, "smoothstep", 3, 3, true},
    OperationInfo{Operation::sqrt, "sqrt", 1, 1, true},
    OperationInfo{Operation::sum, "sum", 1, max_operands, true},
    OperationInfo{Operation::tan, "tan", 1, 1, false},
    OperationInfo{Operation::tanh, "tanh", 1, 1, false},
    OperationInfo{Operation::trunc, "trunc", 1, 1, true},
};

constexpr const OperationInfo& info_of(Operation operation) {
  return operation_table[static_cast<std::size_t>(operation)];
}
static_assert([] {
  for (std::size_t i = 0; i < operation_table.size(); ++i)
    if (operation_table[i].operation != static_cast<Operation>(i)) return false;
  return operation_table.back().operation == Operation::trunc;
}());

constexpr bool is_function(Operation operation) { return operation >= Operation::absolute; }

/// Returns a function by name; "ln" is another name of "log".
constexpr std::optional<Operation> find_function(std::string_view name) {
  if (name == "ln") return Operation::log;
  for (const OperationInfo& info : operation_table)
    if (is_function(info.operation) && info.name == name) return info.operation;
  return {};
}

}  // namespace spsolve
