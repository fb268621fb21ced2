// SPDX-License-Identifier: Apache-2.0
#include "app/inspect/draw_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "app/inspect/describe.hpp"
#include "app/inspect/rooflines.hpp"
#include "kernels/error.hpp"
#include "plot/chart.hpp"

namespace spsolve {
namespace {

/// Holds an interval of positive numbers that widens to include added numbers.
struct Span {
  double low = std::numeric_limits<double>::infinity(), high = 0;

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// Returns the roof of a unit: memory up to the ridge point, then its peak.
ChartLine roof_of(const Roofline& line, const Span& intensities) {
  const double bandwidth = line.peak / line.ridge;
  ChartLine roof{{}, grey, {{intensities.low, intensities.low * bandwidth}}};
  if (line.ridge > intensities.low && line.ridge < intensities.high)
    roof.points.push_back({line.ridge, line.peak, fmt::format("I* = {:.3g}", line.ridge)});
  roof.points.push_back({intensities.high, std::min(line.peak, intensities.high * bandwidth)});
  return roof;
}

}  // namespace

std::string draw_plan(const Setup& setup, const DeviceModel& device) {
  constexpr double space = 1.5;  // between the outermost points and the edges
  const std::vector<Roofline> rooflines = rooflines_of(setup.plan);
  if (rooflines.empty())
    throw Error(Status::invalid_input,
                "--picture: candidates of systems of equations have no roofline, as no ceiling is known");
  Span intensities, performances;
  for (const Roofline& line : rooflines) {
    intensities.add(line.ridge);
    performances.add(line.peak);
    for (const Roofline::Point& point : line.points) {
      intensities.add(point.intensity);
      performances.add(point.performance);
    }
  }
  intensities = {intensities.low / space, intensities.high * space};
  performances = {performances.low / space, performances.high * space};

  std::vector<ChartLine> lines;
  for (const Roofline& line : rooflines) lines.push_back(roof_of(line, intensities));
  for (std::size_t i = 0; i < rooflines.size(); ++i) {
    const Roofline& line = rooflines[i];
    ChartLine drawn{fmt::format("{} {}", to_string(line.precision), line.name), chart_color(i), {}, true};
    for (const Roofline::Point& point : line.points)
      drawn.points.push_back(
          {point.intensity, point.performance, std::to_string(point.fuse), point.in_sweet_spot});
    lines.push_back(std::move(drawn));
  }
  return draw_chart(
      lines, {"executed flop/B", intensities.low, intensities.high, true},
      {"executed flop/s", performances.low, performances.high, true},
      {setup.config.name, extent_text(setup.problem.domain.shape, setup.problem.domain.dimensions),
       fmt::format("planned for {}", device.name), "numbers: steps per launch", "full markers: sweet spot"});
}

}  // namespace spsolve
