// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "io/language/parser.hpp"
#include "io/language/resolve.hpp"
#include "io/language/row_program.hpp"
#include "kernels/operator/repeating_form.hpp"
#include "kernels/operator/system_facts.hpp"
#include "tests/support/evaluate_canonical.hpp"
#include "tests/support/reference_step.hpp"

namespace {

using namespace spsolve;

const StepNames& names_of_step() {
  static const StepNames names = [] {
    StepNames given;
    given.dimensions = 2;
    given.spacing = {1.0, 0.5, 0.25};
    given.fields = {"u", "v"};
    given.coefficients = {"k"};
    given.constants = {{"a", 0.5}};
    given.stencils.emplace("w", Stencil({1, 1, 3}, {1.0, -2.0, 1.0}, {0, 0, 1}));
    return given;
  }();
  return names;
}

void expect_place(const SyntaxError& error) {
  if (error.status() != Status::invalid_input || error.position().line < 1 || error.position().column < 1 ||
      error.found().empty() || error.wanted().empty())
    std::abort();
}

void evaluate_alone(std::string_view text) {
  try {
    const RowProgram program(parse_expression(text), {{{"x"}, {"y", false}}});
    const std::array<double, 3> x{-1.0, 0.0, 0.5};
    const double y = 2.0;
    const std::array<const double*, 2> rows{x.data(), &y};
    std::vector<double> out(x.size()), workspace;
    program.evaluate(rows, out, workspace);
  } catch (const SyntaxError& error) {
    expect_place(error);
  }
}

/// Takes steps of moderate reach, by the reference and by the canonical form.
void take_step(std::string_view text) {
  try {
    const System system = resolve_step(parse_step(text), names_of_step());
    const Canonical canonical = canonical_form(system);
    const SystemFacts facts = facts_of(canonical);
    if (text_of(canonical).empty()) std::abort();
    constexpr std::int64_t farthest = 8, longest = 500;
    if (facts.radius[1] > farthest || facts.radius[2] > farthest || system.terms.size() > longest) return;
    for (const Box& box : facts.coefficient_reach)
      if (box.points() > 4 * farthest * farthest) return;
    StepContext context;
    Domain domain;
    domain.dimensions = 2;
    domain.shape = {1, 2, 3};
    domain.faces[y_axis] = {Face{BoundaryKind::neumann}, Face{BoundaryKind::dirichlet, 0.5}};
    context.fields = {domain, domain};
    context.coefficients = {{1.0, 2.0, 3.0, 4.0, 5.0, 6.0}};
    SystemState<double> state{{{1, 2, 3, 4, 5, 6}, {6, 5, 4, 3, 2, 1}},
                              {{0, 0, 1, 0, 0, 1}, {1, 1, 1, 1, 1, 1}}};
    const auto reference = reference_step(system, context, state);
    const auto made = canonical_step(repeating_form(canonical, domain), context, state);
    if (made.now[0].size() != reference.now[0].size()) std::abort();
  } catch (const SyntaxError& error) {
    expect_place(error);
  } catch (const Error& error) {
    if (error.status() != Status::invalid_input) std::abort();
  }
}

}  // namespace

/// Reads any bytes as an expression alone, and as the statements of a step. The result must be an error with
/// a position, or an expression that can be evaluated.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  evaluate_alone(text);
  take_step(text);
  return 0;
}
