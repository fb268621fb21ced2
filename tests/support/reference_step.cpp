// SPDX-License-Identifier: Apache-2.0
#include "tests/support/reference_step.hpp"

#include "kernels/reference.hpp"

namespace spsolve {

SystemState<double> reference_step(const System& system, const StepContext& context,
                                   const SystemState<double>& state) {
  SystemState<double> next{std::vector<std::vector<double>>(state.now.size()), state.now, state.step + 1};
  const LeafValue given = given_values(context, state.step);
  const LeafValue leaf = [&](const Term& term, const Index3& p) {
    if (term.kind != TermKind::field) return given(term, p);
    const auto& level = term.level == Level::now    ? state.now
                        : term.level == Level::next ? next.now
                                                    : state.previous;
    return padded(context.fields[term.index], level[term.index], p);
  };
  for (const Statement& statement : system.statements)
    next.now[statement.field] = interpret(system.terms, statement.value, box_of(context.shape()), leaf);
  return next;
}

SystemState<double> reference_steps(const System& system, const StepContext& context,
                                    SystemState<double> state, int steps) {
  for (int step = 0; step < steps; ++step) state = reference_step(system, context, state);
  return state;
}

}  // namespace spsolve
