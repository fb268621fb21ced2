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

/// Returns a calibration as JSON holds it: {"device": ..., "coefficients": {"march.fill": 2.5e-6, ...}}, or
/// with groups as calibration/h200.json. Coefficients that it leaves out are the shipped ones. Throws
/// Error(invalid_input) naming the file and a coefficient that there is not, or whose value is no number
/// above 0. Those that is_fixed() are left as they are shipped unless `all` are wanted, to look at only.
std::shared_ptr<const Calibration> read_calibration(const std::filesystem::path& file, bool all);
std::shared_ptr<const Calibration> calibration_of(const nlohmann::json& json, const std::string& file,
                                                  bool all);

/// $XDG_CACHE_HOME/spsolve/calibration-<device>.json, if there is a cache.
std::optional<std::filesystem::path> calibration_file(std::string device);
/// Returns what was measured on devices of this name; null where there is nothing that can be read.
std::shared_ptr<const Calibration> remembered_calibration(const std::string& device);
void remember_calibration(const std::string& device, const std::map<std::string, double>& coefficients);

}  // namespace spsolve
