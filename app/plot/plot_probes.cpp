// SPDX-License-Identifier: Apache-2.0
#include "app/plot/plot_probes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/plot/plot_file.hpp"
#include "io/array_blocks.hpp"
#include "io/hdf5/hdf5.hpp"
#include "plot/picture.hpp"

namespace spsolve {
namespace {

constexpr std::int64_t max_curves = 8, curve_values_at_once = 1 << 20;

/// Holds a dataset of probes and the data of its group.
struct ProbeData {
  std::string group, field;
  Hdf5Id dataset;              // [rows, points]
  std::int64_t first_row = 0;  // later than 0 if the run began at a checkpoint of another directory
  std::vector<double> times;   // times of the rows that were reached
  std::vector<double> at;      // coordinates, point after point
  std::int64_t points = 0, axes = 0;
};

Hdf5Id open(hid_t parent, const std::string& name) {
  return {H5Dopen2(parent, name.c_str(), H5P_DEFAULT), H5Dclose};
}

/// Reads a dataset of one axis, or of two by rows.
template <class Value>
std::vector<Value> read_all(hid_t dataset, hid_t type) {
  const auto shape = dataset_shape(dataset);
  Box box{{0, 0, 0}, {1, 1, 1}};
  if (shape.empty() || shape.size() > 2 || !has_volume_within(shape, std::int64_t{1} << 32))
    throw Error(Status::file_failure, "a dataset of probes has no values, or other axes than [rows, points]");
  std::copy(shape.begin(), shape.end(), box.end.end() - std::ssize(shape));
  std::vector<Value> values(static_cast<std::size_t>(box.points()));
  read_hyperslab(dataset, box, type, values.data());
  return values;
}

/// Returns the names "group/field" of all data in a file.
std::vector<std::string> names_in(hid_t file) {
  std::vector<std::string> names;
  for (const std::string& path : dataset_names(file)) {
    const std::string name = path.substr(path.find_first_not_of('/'));
    const std::string last = name.substr(name.find('/') + 1);
    if (last != "at" && last != "step" && last != "time") names.push_back(name);
  }
  return names;
}

ProbeData find_data(const std::filesystem::path& file, const std::optional<std::string>& wanted) {
  const Hdf5Id input = open_hdf5(file);
  const std::vector<std::string> names = names_in(input);
  const auto found = std::ranges::find_if(names, [&](const std::string& name) {
    return !wanted || name == *wanted || name.substr(name.find('/') + 1) == *wanted;
  });
  if (found == names.end()) refuse_array(file, wanted.value_or("*"), names);
  ProbeData data{found->substr(0, found->find('/')),
                 found->substr(found->find('/') + 1),
                 open(input, *found),
                 0,
                 {},
                 {}};
  data.at = read_all<double>(open(input, data.group + "/at"), H5T_NATIVE_DOUBLE);
  const auto steps = read_all<std::int64_t>(open(input, data.group + "/step"), H5T_NATIVE_INT64);
  data.times = read_all<double>(open(input, data.group + "/time"), H5T_NATIVE_DOUBLE);
  const auto shape = dataset_shape(data.dataset), at = dataset_shape(open(input, data.group + "/at"));
  if (shape.size() != 2 || at.size() != 2 || shape[1] != at[0] || shape[0] != std::ssize(steps) ||
      steps.size() != data.times.size())
    throw Error(Status::file_failure,
                fmt::format("/{}: shapes of {}, at, step and time do not agree", data.group, data.field));
  const auto is_reached = [](std::int64_t step) { return step >= 0; };
  const auto begin = std::ranges::find_if(steps, is_reached);
  const auto end = std::find_if_not(begin, steps.end(), is_reached);
  if (begin == end) throw Error(Status::invalid_input, fmt::format("/{} holds no rows yet", data.group));
  data.first_row = begin - steps.begin();
  data.times = {data.times.begin() + data.first_row, data.times.begin() + (end - steps.begin())};
  data.points = shape[1];
  data.axes = at[1];
  return data;
}

/// Calls visit(row, values) for every row that was reached, the first of which is row 0.
template <class Visit>
void for_each_row(const ProbeData& data, Visit&& visit) {
  const std::int64_t rows = std::ssize(data.times),
                     at_once = std::max<std::int64_t>(1, curve_values_at_once / data.points);
  std::vector<double> values;
  for (std::int64_t first = 0; first < rows; first += at_once) {
    const std::int64_t end = std::min(rows, first + at_once);
    values.resize(static_cast<std::size_t>((end - first) * data.points));
    read_hyperslab(data.dataset, {{0, data.first_row + first, 0}, {1, data.first_row + end, data.points}},
                   H5T_NATIVE_DOUBLE, values.data());
    for (std::int64_t row = first; row < end; ++row)
      visit(row,
            std::span<const double>(values).subspan(static_cast<std::size_t>((row - first) * data.points),
                                                    static_cast<std::size_t>(data.points)));
  }
}

/// Returns the coordinates of a point, slowest axis first: "[2, 0.5]".
std::string place_text(const ProbeData& data, std::int64_t point) {
  std::vector<std::string> texts;
  for (std::int64_t axis = 0; axis < data.axes; ++axis)
    texts.push_back(short_number(data.at[static_cast<std::size_t>(point * data.axes + axis)]));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string curves_over_time(const ProbeData& data, const PlotRequest& request, double spacing) {
  const auto rows = std::ssize(data.times);
  std::vector<NamedCurve> curves;
  Extent extent;
  for (std::int64_t point = 0; point < data.points; ++point)
    curves.push_back({Curve(rows, max_area.width), place_text(data, point), data.times.front(), spacing});
  for_each_row(data, [&](std::int64_t row, std::span<const double> values) {
    for (std::size_t point = 0; point < values.size(); ++point) {
      curves[point].curve.add(row, values.subspan(point, 1));
      extent.add(values[point]);
    }
  });
  return draw_curves(curves, {"t", data.times.front(), data.times.back()}, data.field,
                     {fmt::format("{}: {}", data.group, data.field)}, request.range.value_or(extent.range()));
}

std::string gather(const ProbeData& data, const PlotRequest& request, double spacing) {
  const auto rows = std::ssize(data.times);
  constexpr Size area{560, 480};
  Raster raster(rows, data.points, area.height, area.width);
  for_each_row(data, [&](std::int64_t row, std::span<const double> values) { raster.add(row, 0, values); });
  const ColorRange extent = raster.extent();
  const Colormap colormap =
      request.colormap.value_or(extent.low < 0 && extent.high > 0 ? Colormap::blue_red : Colormap::viridis);
  return draw_map(raster, area,
                  {{"point", -0.5, static_cast<double>(data.points) - 0.5},
                   {"t", data.times.front() - spacing / 2, data.times.back() + spacing / 2},
                   {fmt::format("{}: {}", data.group, data.field)},
                   request.range.value_or(automatic_range(extent, colormap)),
                   colormap});
}

}  // namespace

std::string draw_probes(const std::filesystem::path& file, const PlotRequest& request) {
  return naming(file, [&] {
    if (request.plane) throw Error(Status::invalid_input, "--plane is for 3D grids; these are probes");
    const ProbeData data = find_data(file, request.field);
    const auto rows = std::ssize(data.times);
    const double spacing =
        rows > 1 ? (data.times.back() - data.times.front()) / static_cast<double>(rows - 1) : 1;
    return data.points <= max_curves ? curves_over_time(data, request, spacing)
                                     : gather(data, request, spacing);
  });
}

}  // namespace spsolve
