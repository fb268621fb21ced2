// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "kernels/calibration.hpp"

namespace spsolve {

/// Returns the calibration in a JSON file: {"device": ..., "coefficients": {"march.fill": 2.5e-6, ...}}, or
/// with groups as calibration/h200.json. Missing coefficients have their shipped values. Coefficients for
/// which is_fixed() is true keep their shipped values unless `all` is set, which is meant for display only.
/// Throws Error(invalid_input) naming the file and a coefficient that does not exist, or whose value is no
/// number above 0.
std::shared_ptr<const Calibration> read_calibration(const std::filesystem::path& file, bool all);
std::shared_ptr<const Calibration> calibration_of(const nlohmann::json& json, const std::string& file,
                                                  bool all);

/// Returns $XDG_CACHE_HOME/spsolve/calibration-<device>.json, if there is a cache.
std::optional<std::filesystem::path> calibration_file(const std::string& device);
/// Returns the calibration that was measured on devices of this name, or null if there is none that can be
/// read.
std::shared_ptr<const Calibration> remembered_calibration(const std::string& device);
/// Writes coefficients to calibration_file(device), if there is a cache. Throws Error(file_failure).
void remember_calibration(const std::string& device, const std::map<std::string, double>& coefficients);

}  // namespace spsolve
