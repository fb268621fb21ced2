// SPDX-License-Identifier: Apache-2.0
// This test fits coefficients to rates that a model with other coefficients predicts, and must find these.
#include "app/bench/fit.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/setup/calibration_file.hpp"
#include "kernels/catalogue/presets.hpp"
#include "kernels/error.hpp"
#include "solver/plan/model.hpp"

namespace spsolve {
namespace {

std::vector<double> seconds_by(const Calibration& calibration) {
  DeviceModel device = nominal_gpu();
  calibrate(device, std::make_shared<const Calibration>(calibration));
  std::vector<double> seconds;
  for (const char* name : {"star2d1r", "box2d1r", "star3d1r", "box3d1r"})
    for (const Precision precision : {Precision::fp32, Precision::fp64})
      for (const int fuse : {1, 2, 4, 8, 12}) {
        const int dimensions = *preset_dimensions(name);
        const Index3 shape = dimensions == 2 ? Index3{1, 8192, 8192} : Index3{512, 512, 512};
        const Problem problem{
            {dimensions, shape, {}}, make_preset(name, dimensions, {1, 1, 1}, {}), precision, false};
        seconds.push_back(evaluate(problem, device, Method(fuse)).seconds);
      }
  return seconds;
}

TEST(Fit, FindsTheCoefficientsThatRatesWereMadeWith) {
  Calibration made = shipped_calibration();
  made.rates.bandwidth *= 0.7;
  made.rates.scalar_fp32 *= 1.2;
  const std::vector<double> measured = seconds_by(made);
  const auto found =
      fit_coefficients(shipped_calibration(), {"rates.bandwidth", "rates.scalar_fp32", "windowed.half"},
                       [&](const Calibration& calibration) {
                         std::vector<double> residuals = seconds_by(calibration);
                         for (std::size_t i = 0; i < residuals.size(); ++i)
                           residuals[i] = std::log(residuals[i] / measured[i]);
                         return residuals;
                       });
  // The prior draws each coefficient back by (spread / prior spread)^2 = 1/9 of its way, over the sum of the
  // squares of slopes. About ten rows are bound by each, and the coefficients differ by 36% and 18%.
  EXPECT_NEAR(found.at("rates.bandwidth") / made.rates.bandwidth, 1, 0.02);
  EXPECT_NEAR(found.at("rates.scalar_fp32") / made.rates.scalar_fp32, 1, 0.02);
  EXPECT_DOUBLE_EQ(found.at("windowed.half"), shipped_calibration().windowed.half) << "nothing depends on it";
}

TEST(Calibration, EveryCoefficientIsShippedOnceAndAboveZero) {
  Calibration calibration{};
  for (const Coefficient& coefficient : coefficients()) {
    EXPECT_GT(coefficient.shipped, 0) << coefficient.name;
    EXPECT_EQ(coefficient.in(calibration), 0) << coefficient.name << " is the member of another";
    coefficient.in(calibration) = coefficient.shipped;
  }
}

TEST(Calibration, FilesChangeWhatTheyName) {
  const auto read = [](const nlohmann::json& coefficients, bool all = false) {
    return calibration_of({{"coefficients", coefficients}}, "file.json", all);
  };
  EXPECT_EQ(read({{"march.fill", 1e-6}})->march.fill, 1e-6);
  EXPECT_EQ(read({{"march.fill", 1e-6}})->march.kernel_gap, shipped_calibration().march.kernel_gap);
  // Kernels are cut alike on all ranks.
  EXPECT_EQ(read({{"scheduler.alone", 3}})->scheduler.alone, shipped_calibration().scheduler.alone);
  EXPECT_EQ(read({{"scheduler.alone", 3}}, true)->scheduler.alone, 3);
  const auto message = [&](const nlohmann::json& coefficients) -> std::string {
    try {
      read(coefficients);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message({{"march.fil", 1e-6}}), ::testing::HasSubstr("march.fil"));
  EXPECT_THAT(message({{"march.fill", -1}}), ::testing::HasSubstr("above 0"));
  EXPECT_THAT(message({{"march.fill", "much"}}), ::testing::HasSubstr("file.json"));
}

TEST(NominalDevice, FollowsWhatTheDriverSays) {
  // These are the figures of an H100: 2619 MHz x 2 x 5120 bits.
  const DriverRates h100{3.352e12, 1.98e9, 132, 90};
  const DeviceModel model = scaled_model(nominal_gpu(), h100);
  EXPECT_NEAR(model.bandwidth / nominal_gpu().bandwidth, 3.352 / 4.917, 1e-12);
  EXPECT_DOUBLE_EQ(model.scalar_fp32, nominal_gpu().scalar_fp32);
  const DeviceModel a100 = scaled_model(nominal_gpu(), DriverRates{2.039e12, 1.41e9, 108, 80});
  const double cycles = 1.41 * 108 / (1.98 * 132);
  EXPECT_NEAR(a100.scalar_fp32 / nominal_gpu().scalar_fp32, 0.5 * cycles, 1e-12);
  EXPECT_NEAR(a100.scalar_fp64 / nominal_gpu().scalar_fp64, 0.5 * cycles, 1e-12);
  EXPECT_EQ(a100.multiprocessors, 108);
}

}  // namespace
}  // namespace spsolve
