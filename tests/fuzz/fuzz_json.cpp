// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "app/setup/calibration_file.hpp"
#include "app/setup/stored_plan.hpp"
#include "kernels/calibration.hpp"
#include "kernels/error.hpp"

namespace {

using namespace spsolve;

/// Reads a plan, which is refused, or whose candidate is one that a launch can take and that reads back as it
/// was.
void read_plan(const std::string& text) {
  try {
    const StoredPlan kept = parse_plan(text);
    if (kept.chosen.fuse < 1 || !std::isfinite(kept.chosen.error)) std::abort();
    if (json_of(candidate_of(json_of(kept.chosen))) != json_of(kept.chosen)) std::abort();
  } catch (const Error& error) {
    if (error.status() != Status::file_failure) std::abort();
  }
}

/// Reads a calibration, which is refused, or whose coefficients are all above 0.
void read_coefficients(const std::string& text) {
  try {
    const auto read = calibration_of(nlohmann::json::parse(text, nullptr, false), "fuzz.json", true);
    Calibration calibration = *read;
    for (const Coefficient& coefficient : coefficients())
      if (!(coefficient.in(calibration) > 0)) std::abort();
  } catch (const Error& error) {
    if (error.status() != Status::invalid_input) std::abort();
  }
}

}  // namespace

/// Reads any bytes as a kept plan and as a calibration.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read_plan(text);
  read_coefficients(text);
  return 0;
}
