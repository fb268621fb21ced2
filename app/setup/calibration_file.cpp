// SPDX-License-Identifier: Apache-2.0
#include "app/setup/calibration_file.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "io/text_file.hpp"
#include "kernels/cache_directory.hpp"
#include "kernels/error.hpp"

namespace spsolve {
namespace {

std::map<std::string, double> values_of(const nlohmann::json& json) {
  std::map<std::string, double> values;
  if (json.contains("groups")) {
    for (const nlohmann::json& group : json.at("groups"))
      for (const nlohmann::json& coefficient : group.at("coefficients"))
        values[group.at("group").get<std::string>() + "." + coefficient.at("name").get<std::string>()] =
            coefficient.at("value").get<double>();
  } else {
    values = json.at("coefficients").get<std::map<std::string, double>>();
  }
  return values;
}

}  // namespace

std::shared_ptr<const Calibration> calibration_of(const nlohmann::json& json, const std::string& file,
                                                  bool all) {
  const auto fail = [&](const std::string& what) -> Error {
    return Error(Status::invalid_input, fmt::format("calibration {}: {}", file, what));
  };
  std::map<std::string, double> values;
  try {
    values = values_of(json);
  } catch (const nlohmann::json::exception& error) {
    throw fail(fmt::format("is no calibration ({})", error.what()));
  }
  auto calibration = std::make_shared<Calibration>(shipped_calibration());
  for (const Coefficient& coefficient : coefficients()) {
    const auto given = values.find(coefficient.name);
    if (given == values.end()) continue;
    if (!(given->second > 0))
      throw fail(fmt::format("{} = {}: has to be above 0", given->first, given->second));
    if (all || !is_fixed(coefficient)) coefficient.in(*calibration) = given->second;
    values.erase(given);
  }
  if (!values.empty()) throw fail(fmt::format("there is no coefficient {}", values.begin()->first));
  return calibration;
}

std::shared_ptr<const Calibration> read_calibration(const std::filesystem::path& file, bool all) {
  std::error_code unreadable;
  if (!is_stream(file) && !std::filesystem::is_regular_file(file, unreadable))
    throw Error(Status::invalid_input, fmt::format("calibration {}: no such file", file.string()));
  const nlohmann::json json = nlohmann::json::parse(read_text(file), nullptr, false);
  return calibration_of(json, file.string(), all);
}

std::optional<std::filesystem::path> calibration_file(const std::string& device) {
  return cache_file("calibration", device);
}

std::shared_ptr<const Calibration> remembered_calibration(const std::string& device) {
  const auto file = calibration_file(device);
  try {
    return file ? read_calibration(*file, false) : nullptr;
  } catch (const Error&) {  // there is no file, or it is damaged or of another version
    return nullptr;
  }
}

void remember_calibration(const std::string& device, const std::map<std::string, double>& values) {
  const auto file = calibration_file(device);
  if (!file) return;
  const nlohmann::json json{{"device", device}, {"coefficients", values}};
  write_cache(*file, json.dump(2) + "\n");
}

}  // namespace spsolve
