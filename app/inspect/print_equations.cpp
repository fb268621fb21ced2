// SPDX-License-Identifier: Apache-2.0
#include "app/inspect/print_equations.hpp"

#include <fmt/format.h>

#include <sstream>

#include "app/inspect/growth.hpp"
#include "kernels/cuda/system/system_arguments.hpp"
#include "kernels/operator/repeating_form.hpp"

namespace spsolve {
namespace {

/// Warns of values one step before the first that no equation reads.
void warn_of_unread_previous(const Setup& setup, const Terminal& terminal) {
  const auto& fields = setup.config.equations->fields;
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (fields[i].previous && !setup.problem.has_previous(i))
      terminal.warn("[fields.{0}] previous is not used, because the equations do not read {0}.previous",
                    fields[i].name);
}

}  // namespace

void print_equations(const Communicator& communicator, const Setup& setup, const Terminal& terminal) {
  const Equations& equations = *setup.problem.equations;
  const Canonical& canonical = equations.canonical;
  const SystemFacts& facts = equations.facts;
  terminal.print("canonical form, as units compute it:");
  std::istringstream lines(text_of(canonical));
  for (std::string line; std::getline(lines, line);) terminal.print("  {}", line);
  for (const EquationFacts& equation : facts.equations)
    terminal.print("{}.next: {}", canonical.field_names[equation.field], text_of(equation, canonical));
  const auto count = static_cast<int>(facts.groups.size());
  terminal.print(
      "a step: {} of {}, {} bytes per point that must move ({} read, {} written)",
      fmt::format("{} {}", count, count == 1 ? "pass" : "passes"),
      counted(std::ssize(facts.equations), "equation"),
      facts.bytes_per_point(static_cast<int>(storage_bytes(setup.problem.precision)),
                            static_cast<int>(storage_bytes(sum_precision(setup.problem.precision)))),
      counted(facts.fields_read, "field") + " and " + counted(facts.coefficients_read, "coefficient"),
      counted(facts.fields_written, "field"));
  // Only kernels for GPUs lose by many arrays.
  const int arrays = facts.fields_read + facts.coefficients_read + facts.fields_written;
  if (setup.device.cuda || arrays > cuda::max_system_arrays)
    if (const std::string advice = advice_on_displaced_formulas(canonical, 1); !advice.empty())
      terminal.print("arrays: {}", advice);
  warn_of_unread_previous(setup, terminal);
  print_growth(communicator, setup, terminal);
}

}  // namespace spsolve
