// SPDX-License-Identifier: Apache-2.0
#include "app/values/fill_block.hpp"

#include <fmt/format.h>

#include "app/values/derived_coefficients.hpp"

namespace spsolve {

void fill_block(const Communicator& communicator, const RunConfig& config, const Problem& problem,
                const std::optional<Checkpoint>& restart, Block& block, const TakeFacts& take) {
  const auto fill_by = [&](const std::string& section, const FieldForm& form, Field& field,
                           double factor = 1) {
    take(section, fill(communicator, config, {section, form, factor}, field));
  };
  if (config.source && !config.equations)
    block.set_source([&](Field& field) {
      fill_by("source", *config.source, field, config.source_is_rate ? config.time.dt : 1.0);
    });
  for (const auto& [section, facts] : fill_coefficients(communicator, config, problem, block))
    take(section, facts);
  for (std::size_t i = 0; i < problem.field_count(); ++i) {
    const std::string name = problem.field_name(i);
    const FieldConfig* given = config.equations ? &config.equations->fields[i] : nullptr;
    const std::string initial = initial_section(config, name);
    const FieldForm form = given ? given->initial_or_zero() : config.initial;
    const auto read = [&](const std::string& array, Field& field) {
      read_checkpoint(communicator, *restart, array, problem.domain.shape, field);
    };
    block.set_state([&](Field& field) { restart ? read(name, field) : fill_by(initial, form, field); }, i,
                    restart ? restart->header.step : 0);
    if (!problem.has_previous(i)) continue;
    block.set_previous(
        [&](Field& field) {
          if (restart)
            read(previous_of(name), field);
          else if (given->previous)
            fill_by(fmt::format("fields.{}.previous", name), *given->previous, field);
          else
            fill_by(initial, form, field);
        },
        i);
  }
}

}  // namespace spsolve
