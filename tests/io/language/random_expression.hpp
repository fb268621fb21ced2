// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <random>
#include <string>

namespace spsolve::testing {

/// Makes random formulas of x, y, z and pi with all operators and with functions, as texts that muParser
/// reads too.
class RandomExpression {
 public:
  explicit RandomExpression(unsigned seed) : random_(seed) {}

  std::string text(int depth) {
    if (depth == 0 || chance(0.1)) return leaf();
    switch (below(9)) {
      case 0:
        return text(depth - 1) + pick(std::array{" + ", "-", " + ", " - "}) + text(depth - 1);
      case 1:
        return text(depth - 1) + pick(std::array{"*", " / "}) + text(depth - 1);
      case 2:
        return std::string("(") + text(depth - 1) + ")";
      case 3:
        return text(depth - 1) + "^" +
               (chance(0.7) ? pick(std::array{"2", "3", "4", "1", "0", "0.5", "-1", "5"})
                            : std::string("(") + text(depth - 1) + ")");
      case 4:
        return std::string("(") + value(depth - 1) + pick(std::array{"<", " <= ", ">", ">=", "==", "!="}) +
               value(depth - 1) + ")";
      case 5:
        return std::string("(") + text(depth - 1) + " < 0.5" + pick(std::array{" && ", "||"}) + "y > " +
               text(0) + ")";
      case 6:
        return std::string("(") + text(depth - 1) + " > 0.25 ? " + text(depth - 1) + " : " + text(depth - 1) +
               ")";
      case 7:
        return std::string("-(") + text(depth - 1) + ")";
      default:
        return call(depth - 1);
    }
  }

 private:
  /// Returns a formula that is no comparison itself, so that it may be compared.
  std::string value(int depth) {
    const std::string formula = text(depth);
    return formula.starts_with('(') ? "1*" + formula : formula;
  }

  std::string leaf() {
    switch (below(4)) {
      case 0:
        return pick(std::array{"1", "2", "0.5", "3.25", "1e-3", "7", ".1"});
      case 1:
        return "pi";
      default:
        return pick(std::array{"x", "y", "z", "x"});
    }
  }

  std::string call(int depth) {
    if (chance(0.3)) {
      std::string list = text(depth);
      for (int more = below(3); more > 0; --more) list += ", " + text(depth);
      return pick(std::array{"min(", "max(", "sum(", "avg("}) + list + ")";
    }
    if (chance(0.2))
      return pick(std::array{"atan2(", "fmod(", "hypot(", "pow("}) + text(depth) + ", " + text(depth) + ")";
    return pick(std::array{"sin(",   "cos(",  "tan(",   "exp(",  "sqrt(", "abs(",   "log(",
                           "ln(",    "log2(", "log10(", "sign(", "rint(", "floor(", "ceil(",
                           "trunc(", "asin(", "acos(",  "atan(", "sinh(", "cosh(",  "tanh("}) +
           text(depth) + ")";
  }

  template <std::size_t n>
  std::string pick(const std::array<const char*, n>& choices) {
    return choices[below(n)];
  }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }

  std::mt19937 random_;
};

}  // namespace spsolve::testing
