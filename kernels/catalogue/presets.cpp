// SPDX-License-Identifier: Apache-2.0
#include "kernels/catalogue/presets.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "kernels/catalogue/catalogue.hpp"
#include "kernels/wall_growth.hpp"

namespace spsolve {

namespace {

using PerAxis = std::array<double, 3>;

// A preset with more weights than this is a typing error.
constexpr std::int64_t max_weights = 1'000'000;

/// Holds central differences over offsets -2..2 at unit spacing (Fornberg 1988, table 1).
struct Differences {
  std::array<double, 5> first, second;
};
constexpr Differences order_2{{0.0, -1.0 / 2, 0.0, 1.0 / 2, 0.0}, {0.0, 1.0, -2.0, 1.0, 0.0}};
constexpr Differences order_4{{1.0 / 12, -2.0 / 3, 0.0, 2.0 / 3, -1.0 / 12},
                              {-1.0 / 12, 4.0 / 3, -5.0 / 2, 4.0 / 3, -1.0 / 12}};

/// Holds the parameter values that a user gave, and the dimensions of the grid.
struct Parameters {
  int dimensions;
  const PresetValues& values;

  double number(const std::string& name, std::optional<double> otherwise = {}) const {
    const auto found = values.find(name);
    if (found == values.end()) {
      if (otherwise) return *otherwise;
      throw PresetError(name, "missing parameter '" + name + "'");
    }
    if (found->second.size() != 1) throw PresetError(name, "'" + name + "' must be one number");
    return finite(name, found->second.front());
  }

  /// Returns {z, y, x}; unused axes are 0. A single number applies to all axes if `spread`; otherwise it is
  /// accepted only in 1D.
  PerAxis per_axis(const std::string& name, bool spread, std::optional<double> otherwise = {}) const {
    PerAxis result{};
    const int first = axis_count - dimensions;
    const auto found = values.find(name);
    if (found == values.end() || (spread && found->second.size() == 1)) {
      std::fill(result.begin() + first, result.end(), number(name, otherwise));
      return result;
    }
    if (found->second.size() != static_cast<std::size_t>(dimensions))
      throw PresetError(name, "'" + name + "' has " + std::to_string(found->second.size()) +
                                  " values; wanted " + (spread ? "one number or " : "") + "one per axis (" +
                                  std::to_string(dimensions) + ")");
    for (int axis = 0; axis < dimensions; ++axis) result[first + axis] = finite(name, found->second[axis]);
    return result;
  }

 private:
  static double finite(const std::string& name, double value) {
    if (!std::isfinite(value)) throw PresetError(name, "'" + name + "' must be finite");
    return value;
  }
};

/// Returns one explicit Euler step of diffusion and advection by `velocity`, {z, y, x}.
Stencil transport(int dimensions, const PerAxis& spacing, const Parameters& parameters,
                  const PerAxis& velocity) {
  const PerAxis diffusivity = parameters.per_axis("diffusivity", true);
  if (*std::ranges::min_element(diffusivity) < 0.0)
    throw PresetError("diffusivity", "'diffusivity' must not be negative");
  const double dt = parameters.number("dt");
  if (dt <= 0.0) throw PresetError("dt", "'dt' must be positive");
  const double order = parameters.number("order", 2.0);
  if (order != 2.0 && order != 4.0) throw PresetError("order", "'order' must be 2 or 4");
  const Differences& differences = order == 2.0 ? order_2 : order_4;

  Index3 extent{1, 1, 1}, center{};
  for (int axis = axis_count - dimensions; axis < axis_count; ++axis) extent[axis] = 5, center[axis] = 2;
  std::vector<double> weights(volume(extent));
  const Index3 strides{extent[1] * extent[2], extent[2], 1};
  const std::int64_t middle = weights.size() / 2;
  weights[middle] = 1.0;
  for (int axis = axis_count - dimensions; axis < axis_count; ++axis)
    for (int k = -2; k <= 2; ++k)
      weights[middle + k * strides[axis]] +=
          dt * (diffusivity[axis] / (spacing[axis] * spacing[axis]) * differences.second[k + 2] -
                velocity[axis] / spacing[axis] * differences.first[k + 2]);
  return Stencil(extent, weights, center);
}

/// Returns weights proportional to value(offset) over [-radius, radius], normalised to sum 1.
template <class Value>
Stencil normalised(const Index3& radius, Value&& value) {
  const Box box = grow(box_of({1, 1, 1}), radius);
  std::vector<double> weights;
  for_each_point(box, [&](const Index3& offset) { weights.push_back(value(offset)); });
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return Stencil(box.extent(), weights, radius);
}

Stencil box_filter(const Parameters& parameters) {
  const PerAxis given = parameters.per_axis("radius", true, 1.0);
  Index3 radius{};
  double points = 1.0;
  for (int axis = 0; axis < axis_count; ++axis) {
    if (given[axis] < 0.0 || given[axis] != std::floor(given[axis]))
      throw PresetError("radius", "'radius' must be a whole number of points, 0 or more");
    points *= 2.0 * given[axis] + 1.0;
    if (points > static_cast<double>(max_weights)) throw PresetError("radius", "'radius' is too large");
    radius[axis] = static_cast<std::int64_t>(given[axis]);
  }
  return normalised(radius, [](const Index3&) { return 1.0; });
}

struct BenchmarkShape {
  enum Family { star, box, random } family;
  int dimensions;
  std::int64_t radius;
};

std::optional<BenchmarkShape> parse_benchmark_shape(std::string_view name) {
  constexpr std::string_view families[]{"star", "box", "random"};
  const auto family =
      std::ranges::find_if(families, [&](std::string_view prefix) { return name.starts_with(prefix); });
  BenchmarkShape shape{BenchmarkShape::box, 1, 0};
  if (family != std::end(families)) {
    shape.family = static_cast<BenchmarkShape::Family>(family - families);
    name.remove_prefix(family->size());
  } else if (!name.starts_with("1d")) {
    return {};
  }
  if (name.size() < 4 || name[0] < '1' || name[0] > '3' || name[1] != 'd' || name[2] == '0' ||
      name.back() != 'r')
    return {};
  shape.dimensions = name[0] - '0';
  const char* const end = name.data() + name.size() - 1;
  const auto [rest, failure] = std::from_chars(name.data() + 2, end, shape.radius);
  if (failure != std::errc{} || rest != end || shape.radius < 1) return {};
  if (std::pow(2.0 * static_cast<double>(shape.radius) + 1.0, shape.dimensions) > double{max_weights})
    return {};
  return shape;
}

Stencil benchmark_stencil(const BenchmarkShape& shape) {
  Index3 radius{};
  std::fill(radius.end() - shape.dimensions, radius.end(), shape.radius);
  std::mt19937 random;  // the standard specifies its numbers
  return normalised(radius, [&](const Index3& k) {
    if (shape.family == BenchmarkShape::random) return 0.1 + 0.9 * 0x1p-32 * static_cast<double>(random());
    if (shape.family == BenchmarkShape::star && std::ranges::count(k, 0) < axis_count - 1) return 0.0;
    return 1.0 / static_cast<double>(1 + k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
  });
}

}  // namespace

const std::vector<Preset>& parameter_presets() {
  static const PresetParameter diffusivity{"diffusivity", true,
                                           "length^2/time, >= 0; one number, or one per axis"};
  static const PresetParameter dt{"dt", true, "time step, > 0"};
  static const PresetParameter order{
      "order", false, "order in space: 2 (default) or 4, which beside dirichlet walls is less exact than 2"};
  static const std::vector<Preset> presets{
      {"heat", "du/dt = D laplace(u), explicit Euler, central differences", {diffusivity, dt, order}},
      {"advection-diffusion",
       "du/dt = D laplace(u) - v grad(u), explicit Euler, central differences",
       {diffusivity, {"velocity", true, "length/time, one number per axis"}, dt, order}},
      {"box-filter",
       "mean over a box of points",
       {{"radius", false, "points, >= 0, default 1; one number, or one per axis"}}},
  };
  return presets;
}

std::optional<Preset> find_preset(std::string_view name) {
  for (const Preset& preset : parameter_presets())
    if (preset.name == name) return preset;
  if (parse_benchmark_shape(name)) return Preset{std::string(name), "benchmark shape", {}};
  if (const CatalogueEntry* entry = find_in_catalogue(name)) return Preset{entry->name, entry->source, {}};
  return {};
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : parameter_presets()) names.push_back(preset.name);
  for (const char* shape :
       {"1d1r", "1d2r", "star2d1r", "box2d1r", "star2d3r", "box2d3r", "star3d1r", "box3d1r"})
    names.emplace_back(shape);
  for (const CatalogueEntry& entry : catalogue()) names.push_back(entry.name);
  return names;
}

std::optional<int> preset_dimensions(std::string_view name) {
  if (const auto shape = parse_benchmark_shape(name)) return shape->dimensions;
  if (const CatalogueEntry* entry = find_in_catalogue(name)) return entry->dimensions;
  return {};
}

Stencil make_preset(std::string_view name, int dimensions, const std::array<double, 3>& spacing,
                    const PresetValues& values) {
  const auto preset = find_preset(name);
  if (!preset) throw PresetError("", "there is no preset '" + std::string(name) + "'");
  for (const auto& given : values)
    if (std::ranges::none_of(preset->parameters,
                             [&](const PresetParameter& parameter) { return parameter.name == given.first; }))
      throw PresetError(given.first, "preset '" + preset->name + "' has no parameter '" + given.first + "'");

  if (const auto wanted = preset_dimensions(name); wanted && *wanted != dimensions)
    throw PresetError("", "preset '" + preset->name + "' is for " + std::to_string(*wanted) +
                              "D grids, this one is " + std::to_string(dimensions) + "D");
  if (const auto shape = parse_benchmark_shape(name)) return benchmark_stencil(*shape);
  if (const CatalogueEntry* entry = find_in_catalogue(name)) return entry->stencil;
  const Parameters parameters{dimensions, values};
  if (name == "box-filter") return box_filter(parameters);
  try {
    return transport(dimensions, spacing, parameters,
                     name == "heat" ? PerAxis{} : parameters.per_axis("velocity", false));
  } catch (const PresetError&) {
    throw;
  } catch (const std::invalid_argument& error) {  // parameters are so large that a weight overflows
    throw PresetError("", "preset '" + preset->name + "': " + error.what());
  }
}

double largest_stable_dt(const Stencil& step, double dt, const Domain& domain) {
  // `noise` is the part of |symbol - 1| that rounding alone can cause, for waves that the operator leaves
  // unchanged.
  const double noise =
      sum_abs(step) * (std::numeric_limits<double>::epsilon() * static_cast<double>(step.taps().size()));
  const auto limit = [&](std::complex<double> symbol) {
    const std::complex<double> change = symbol - 1.0;  // lambda dt
    if (std::abs(change) <= noise) return std::numeric_limits<double>::infinity();
    // A real part within the noise counts as zero. Such a wave is only transported, and explicit Euler
    // amplifies it with any step.
    const double decay = change.real() < -noise ? -change.real() : 0.0;
    return 2.0 * dt * decay / std::norm(change);
  };
  const double largest =
      0.0 - largest_over_waves(step, domain, [&](std::complex<double> symbol) { return -limit(symbol); });
  // Beside neumann walls the growth of uneven weights does not follow from waves, so smaller steps are tried.
  // If all trials grow, any step grows.
  constexpr int trials = 10;
  for (double trial = std::isinf(largest) ? dt : largest, i = 0; i < trials; trial *= 0.7, ++i)
    if (growth_beside_walls(part_of_step(step, trial / dt), domain) <= 1.0) return i == 0 ? largest : trial;
  return 0.0;
}

double largest_stable_dt(const Stencil& step, double dt, const Index3& shape) {
  return largest_stable_dt(step, dt, periodic_domain(shape));
}

}  // namespace spsolve
