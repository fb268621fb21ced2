// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <random>
#include <string>

#include "tests/kernels/operator/example_steps.hpp"

namespace spsolve::testing {

/// Makes random steps of two or three fields from sums, products, halves and weights that are powers of two.
/// Their arithmetic is exact in double if the state and the coefficients are small whole numbers.
class RandomStep {
 public:
  RandomStep(unsigned seed, bool linear) : random_(seed), linear_(linear) {}

  ExampleStep step() {
    ExampleStep example{"random", {}, ""};
    dimensions_ = 1 + below(3);
    example.names.dimensions = dimensions_;
    example.names.spacing = {2.0, 0.5, 1.0};
    example.names.dt = 0.25;
    fields_ = {"u", "v"};
    if (chance(0.3)) fields_.push_back("w");
    example.names.fields = fields_;
    if (!linear_) example.names.coefficients = {"k", "m"};
    example.names.constants = {{"a", 0.5}, {"b", -2.0}};
    example.names.stencils.emplace("w1", Stencil({1, 1, 2}, {1.0, -2.0}, {0, 0, 0}));
    std::vector<std::string> order = fields_;
    std::shuffle(order.begin(), order.end(), random_);
    for (const std::string& field : order) {
      if (chance(0.5)) {
        example.step += "s" + field + " = " + text(2) + "\n";
        shorthands_.push_back("s" + field);
      }
      example.step += field + ".next = " + text(2) + (linear_ ? "" : " + u*0") + "\n";
      advanced_.push_back(field);
    }
    return example;
  }

 private:
  std::string text(int depth) {
    if (depth == 0) return leaf();
    switch (below(linear_ ? 7 : 11)) {
      case 0:
        return "(" + text(depth - 1) + pick(std::array{" + ", " - "}) + text(depth - 1) + ")";
      case 1:
        return pick(std::array{"a*", "b*", "dt*", "-", "1*", "4*"}) + text(depth - 1);
      case 2:
        return text(depth - 1) + "/2";
      case 3:
        return "d(" + text(depth - 1) + ", " + axis() + pick(std::array{"", ", 2", ", at=0.5", ", at=-0.5"}) +
               ")";
      case 4:
        return "mean(" + text(depth - 1) + ", " + axis() + ", at=-0.5)";
      case 5:
        return pick(std::array{"laplace(", "correlate(w1, "}) + text(depth - 1) + ")";
      case 6:
        return "(" + text(depth - 1) + ")" + offset();
      case 7:
        return "(" + text(depth - 1) + ")*" + leaf();
      case 8:
        return "(" + leaf() + ")^" + pick(std::array{"2", "3", "1", "0"});
      case 9:
        return pick(std::array{"min(", "max("}) + text(depth - 1) + ", " + text(depth - 1) + ")";
      default:
        return "(" + leaf() + pick(std::array{" < ", ">=", " == "}) + leaf() + " ? " + text(depth - 1) +
               " : " + leaf() + ")";
    }
  }

  std::string leaf() {
    const int kind = below(linear_ ? 6 : 10);
    const std::string field = fields_[static_cast<std::size_t>(below(static_cast<int>(fields_.size())))];
    if (kind < 3) return field + (chance(0.3) ? offset() : "");
    if (kind == 3) return field + ".previous";
    if (kind == 4 && !advanced_.empty())
      return advanced_[static_cast<std::size_t>(below(static_cast<int>(advanced_.size())))] + ".next" +
             (chance(0.5) ? offset() : "");
    if (kind == 5 && !shorthands_.empty())
      return shorthands_[static_cast<std::size_t>(below(static_cast<int>(shorthands_.size())))] +
             (chance(0.5) ? offset() : "");
    if (kind == 6) return pick(std::array{"k", "m"}) + (chance(0.5) ? offset() : "");
    if (kind == 7) return axis();
    if (kind == 8) return pick(std::array{"t", "step", "2", "a"});
    return field;
  }

  std::string offset() {
    std::string list;
    for (int i = 0; i < dimensions_; ++i) list += (i ? ", " : "") + std::to_string(below(5) - 2);
    return "[" + list + "]";
  }
  std::string axis() { return std::string(1, "xyz"[below(dimensions_)]); }
  template <std::size_t n>
  std::string pick(const std::array<const char*, n>& choices) {
    return choices[static_cast<std::size_t>(below(n))];
  }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }

  std::mt19937 random_;
  bool linear_;
  int dimensions_ = 1;
  std::vector<std::string> fields_, advanced_, shorthands_;
};

/// Replaces the fields, coefficients and walls of a problem by whole numbers from -3 to 3.
inline void make_whole(RandomProblem& problem, std::mt19937& random) {
  std::uniform_int_distribution<int> value(-3, 3);
  for (auto* arrays : {&problem.context.coefficients, &problem.state.now, &problem.state.previous})
    for (auto& array : *arrays)
      for (double& element : array) element = value(random);
  for (Domain& domain : problem.context.fields)
    for (auto& faces : domain.faces)
      for (Face& face : faces) face.value = value(random);
  problem.context.origin = {1.0, -1.0, 2.0};
}

}  // namespace spsolve::testing
