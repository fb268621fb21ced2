// SPDX-License-Identifier: Apache-2.0
#include "app/plot/plot_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/checkpoint.hpp"
#include "io/format_version.hpp"
#include "io/hdf5/hdf5.hpp"
#include "io/input/config.hpp"
#include "io/nearest_name.hpp"
#include "io/numbered_name.hpp"
#include "io/text_file.hpp"

namespace spsolve {
namespace {

namespace fs = std::filesystem;

constexpr const char* vtk_group = "VTKHDF";

fs::path last_of_series(const fs::path& series) {
  const auto json = nlohmann::json::parse(read_text(series), nullptr, false);
  fs::path last;
  double time = 0;
  if (json.is_object() && json.contains("files") && json["files"].is_array())
    for (const auto& entry : json["files"]) {
      if (!entry.is_object() || !entry.contains("name") || !entry["name"].is_string()) continue;
      const double of_entry =
          entry.contains("time") && entry["time"].is_number() ? entry["time"].get<double>() : 0;
      if (last.empty() || of_entry >= time) last = entry["name"].get<std::string>(), time = of_entry;
    }
  if (last.empty())
    throw Error(Status::file_failure, fmt::format("{}: names no snapshots; wanted a series such as "
                                                  "snapshots.hdf.series, or a snapshot",
                                                  series.string()));
  return series.parent_path() / last;
}

fs::path last_in_directory(const fs::path& directory) {
  fs::path last;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const auto name = parse_numbered_name(entry.path().filename().string());
    if (name && name->stem == "snapshot" && name->extension == ".hdf") last = std::max(last, entry.path());
  }
  if (last.empty())
    throw Error(Status::file_failure,
                fmt::format("{}: holds no snapshots (snapshot_<step>.hdf)", directory.string()));
  return last;
}

/// Reads points, spacing and origin of the axes {z, y, x} in the VTK group, if the file has one.
struct VtkAxes {
  Index3 points{1, 1, 1};
  std::array<double, 3> spacing{1, 1, 1}, origin{0, 0, 0};
  std::string active;  // field
};

VtkAxes read_axes(hid_t file, const Index3& shape) {
  VtkAxes axes{shape, {1, 1, 1}, {0, 0, 0}, ""};
  if (H5Lexists(file, vtk_group, H5P_DEFAULT) <= 0) return axes;
  const Hdf5Id group(H5Gopen2(file, vtk_group, H5P_DEFAULT), H5Gclose);
  const auto extent = read_attribute<std::vector<std::int64_t>>(group, "WholeExtent");
  const auto spacing = read_attribute<std::vector<double>>(group, "Spacing");
  const auto origin = read_attribute<std::vector<double>>(group, "Origin");
  if (extent.size() != 6 || spacing.size() != 3 || origin.size() != 3)
    throw Error(Status::file_failure, "/VTKHDF has no WholeExtent, Spacing and Origin of three axes");
  for (int axis = 0; axis < axis_count; ++axis) {
    const int vtk = axis_count - 1 - axis;  // x, y, z
    axes.points[axis] = extent[2 * vtk + 1] - extent[2 * vtk] + 1;
    axes.spacing[axis] = spacing[vtk];
    axes.origin[axis] = origin[vtk];
  }
  const Hdf5Id data(H5Gopen2(group, "PointData", H5P_DEFAULT), H5Gclose);
  if (has_attribute(data, "Scalars")) axes.active = read_attribute<std::string>(data, "Scalars");
  return axes;
}

/// Returns the axes of the grid that an array of fewer axes has. These are the last ones or, for a plane or a
/// line that was cut out of a larger grid, those with the same number of points.
std::vector<int> axes_of(const std::vector<std::int64_t>& extents, const VtkAxes& vtk) {
  const auto count = static_cast<int>(extents.size());
  std::vector<int> last;
  for (int axis = axis_count - count; axis < axis_count; ++axis) last.push_back(axis);
  const auto fits = [&](const std::vector<int>& axes) {
    Index3 points{1, 1, 1};
    for (int i = 0; i < count; ++i) points[axes[i]] = extents[i];
    return points == vtk.points;
  };
  if (fits(last)) return last;
  for (int mask = 0; mask < 8; ++mask) {
    std::vector<int> axes;
    for (int axis = 0; axis < axis_count; ++axis)
      if (mask >> axis & 1) axes.push_back(axis);
    if (static_cast<int>(axes.size()) == count && fits(axes)) return axes;
  }
  return last;
}

/// Sets the grid of an array from the shape of its dataset.
void read_grid(hid_t file, PlotArray& array) {
  const Hdf5Id dataset(H5Dopen2(file, dataset_of(array.name).c_str(), H5P_DEFAULT), H5Dclose);
  const auto extents = dataset_shape(dataset);
  if (extents.empty() || extents.size() > axis_count || !has_volume_within(extents, std::int64_t{1} << 60))
    throw Error(Status::file_failure, fmt::format("{} is not a 1D, 2D or 3D array", dataset_of(array.name)));
  Domain& domain = array.grid.domain;
  domain.dimensions = static_cast<int>(extents.size());
  std::copy(extents.begin(), extents.end(), domain.shape.end() - domain.dimensions);
  const VtkAxes vtk = read_axes(file, domain.shape);
  const std::vector<int> axes = axes_of(extents, vtk);
  for (int i = 0; i < domain.dimensions; ++i) {
    const int axis = domain.first_axis() + i;
    array.grid.spacing[axis] = vtk.spacing[axes[i]];
    array.grid.origin[axis] = vtk.origin[axes[i]];
    array.labels[axis] = axis_names[axes[i]];
    if (!(array.grid.spacing[axis] > 0)) throw Error(Status::file_failure, "/VTKHDF: Spacing is not above 0");
  }
}

PlotArray find_in_snapshot(const fs::path& file, const std::optional<std::string>& field) {
  const Hdf5Id input = open_hdf5(file);
  std::vector<std::string> names = link_names(input);
  std::erase_if(names, [](const std::string& name) {  // fields stay
    return name == vtk_group || std::ranges::find(axis_names, name) != axis_names.end();
  });
  const std::string active = read_axes(input, {1, 1, 1}).active;
  if (names.empty()) throw Error(Status::file_failure, "holds no fields");
  const auto first = std::ranges::find(names, active);
  PlotArray array;
  array.name = field.value_or(first == names.end() ? names.front() : active);
  if (std::ranges::find(names, array.name) == names.end()) refuse_array(file, array.name, names);
  array.run = read_attribute<std::string>(input, "name");
  array.step = read_attribute<std::int64_t>(input, "step");
  array.time = read_attribute<double>(input, "time");
  read_grid(input, array);
  return array;
}

PlotArray find_in_checkpoint(const fs::path& file, const std::optional<std::string>& field) {
  const Checkpoint checkpoint = open_checkpoint(file);
  std::vector<std::string> names;
  for (const StoredArray& stored : checkpoint.arrays) names.push_back(stored.name);
  PlotArray array;
  array.name = field.value_or(names.front());
  const auto stored = std::ranges::find(checkpoint.arrays, array.name, &StoredArray::name);
  if (stored == checkpoint.arrays.end()) refuse_array(file, array.name, names);
  const RunConfig config = parse_config(checkpoint.header.input, file);
  if (stored->format.shape != config.grid.domain.shape ||
      stored->format.dimensions != config.grid.domain.dimensions)
    throw Error(Status::file_failure,
                fmt::format("{} has another shape than the grid of its input", dataset_of(array.name)));
  array.run = config.name;
  array.step = checkpoint.header.step;
  array.time = checkpoint.header.time;
  array.grid = config.grid;
  return array;
}

}  // namespace

fs::path file_to_plot(const fs::path& name) {
  std::error_code missing;
  if (fs::is_directory(name, missing)) return last_in_directory(name);
  return name.extension() == ".series" ? last_of_series(name) : name;
}

PlotKind kind_of(const fs::path& file) {
  const Hdf5Id input = open_hdf5(file);
  const std::string format = has_attribute(input, "format") ? attribute_text(input, "format") : "";
  if (format == snapshot_format) return PlotKind::snapshot;
  if (format == checkpoint_format) return PlotKind::checkpoint;
  if (format == probes_format) return PlotKind::probes;
  throw Error(
      Status::invalid_input,
      fmt::format("{}: is {}; wanted a snapshot, a checkpoint or probes of spsolve", file.string(),
                  format.empty() ? "an HDF5 file of another program" : "a file of kind \"" + format + "\""));
}

PlotArray find_array(const fs::path& file, PlotKind kind, const std::optional<std::string>& field) {
  return naming(file, [&] {
    return kind == PlotKind::snapshot ? find_in_snapshot(file, field) : find_in_checkpoint(file, field);
  });
}

void refuse_array(const fs::path& file, const std::string& wanted, const std::vector<std::string>& there) {
  throw Error(Status::invalid_input,
              fmt::format("{}: there is no field '{}'{}fields: {}", file.string(), wanted,
                          did_you_mean(wanted, there), fmt::join(there, ", ")));
}

}  // namespace spsolve
