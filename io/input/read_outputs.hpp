// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "io/input/config.hpp"
#include "io/input/toml_section.hpp"

namespace spsolve {

/// These functions read the sections that say what a run writes: [output], [[outputs]], [diagnostics] and
/// [checkpoint]. `config` holds the grid, the fields and the precision. Each throws Error(invalid_input) that
/// names the line and the key.
OutputConfig read_output(const std::optional<TomlSection>& section, const RunConfig& config);
std::vector<OutputStreamConfig> read_outputs(const TomlSection& root, const RunConfig& config);
DiagnosticsConfig read_diagnostics(const TomlSection& section, const RunConfig& config);
CheckpointConfig read_checkpoint(const TomlSection& section);

}  // namespace spsolve
