// SPDX-License-Identifier: Apache-2.0
#include "io/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "halo/collectively.hpp"
#include "io/array_file.hpp"
#include "io/atomic_file.hpp"
#include "io/file_descriptor.hpp"
#include "io/format_version.hpp"
#include "io/hdf5/dimension_scale.hpp"
#include "io/numbered_name.hpp"
#include "io/text_file.hpp"
#include "kernels/sampling.hpp"

namespace spsolve {
namespace {

using nlohmann::json;

/// Reorders {z, y, x} as the x, y, z of VTK.
template <class Number>
std::vector<Number> xyz(const std::array<Number, 3>& v) {
  return {v[x_axis], v[y_axis], v[z_axis]};
}

/// Links the array of a field that VTK shows. VTK's reader leaves out axes of one point and wants an array
/// without them, so the array is then a virtual dataset of the same values.
void link_values(hid_t file, hid_t point_data, const std::string& field, const ArrayFormat& format) {
  const std::string dataset = dataset_of(field);
  std::vector<hsize_t> extents;
  std::copy_if(format.shape.begin(), format.shape.end(), std::back_inserter(extents),
               [](std::int64_t points) { return points > 1; });
  if (extents.empty()) extents.push_back(1);
  const auto axes = static_cast<int>(extents.size());
  if (axes == format.dimensions) {
    check_hdf5(H5Lcreate_hard(file, dataset.c_str(), point_data, field.c_str(), H5P_DEFAULT, H5P_DEFAULT));
    return;
  }
  const Hdf5Id values(H5Dopen2(file, dataset.c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5Id all(H5Dget_space(values), H5Sclose);
  const Hdf5Id kept(H5Screate_simple(axes, extents.data(), nullptr), H5Sclose);
  const Hdf5Id creation = timeless_properties(H5P_DATASET_CREATE);
  check_hdf5(H5Pset_virtual(creation, kept, ".", dataset.c_str(), all));
  const Hdf5Id view(H5Dcreate2(point_data, field.c_str(), storage_type(format.precision), kept, H5P_DEFAULT,
                               creation, H5P_DEFAULT),
                    H5Dclose);
}

/// Adds the groups of https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html#vtkhdf-file-format
void add_vtk_view(hid_t file, const Snapshot& snapshot, const std::vector<NamedRows>& fields) {
  const ArrayFormat format = snapshot.format();
  if (volume(format.shape) > std::numeric_limits<std::int32_t>::max()) return;  // more than VTK counts
  std::vector<std::int32_t> extent;
  for (const std::int64_t points : xyz(format.shape)) {
    extent.push_back(0);
    extent.push_back(static_cast<std::int32_t>(points - 1));
  }
  auto spacing = snapshot.grid.spacing;
  for (int axis = snapshot.grid.domain.first_axis(); axis < axis_count; ++axis)
    spacing[axis] *= static_cast<double>(snapshot.stride);
  const Hdf5Id image = create_group(file, "VTKHDF");
  write_attributes(image, {{"Version", std::vector<std::int32_t>{1, 0}},
                           {"Type", std::string("ImageData")},
                           {"WholeExtent", extent},
                           {"Origin", xyz(snapshot.grid.origin)},
                           {"Spacing", xyz(spacing)},
                           {"Direction", std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1}}});
  const Hdf5Id point_data = create_group(image, "PointData");
  if (fields.size() > 1) write_attribute(point_data, "Scalars", fields.front().name);
  for (const NamedRows& field : fields) link_values(file, point_data, field.name, format);
}

/// Adds the coordinates of the points, so that netCDF, xarray and h5py know the axes of each field.
void add_coordinates(hid_t file, const Snapshot& snapshot, const std::vector<NamedRows>& fields) {
  const ArrayFormat format = snapshot.format();
  const int first = axis_count - format.dimensions;
  for (int axis = first; axis < axis_count; ++axis) {
    if (format.shape[axis] > max_coordinates) continue;
    std::vector<double> places(static_cast<std::size_t>(format.shape[axis]));
    for (std::size_t i = 0; i < places.size(); ++i)
      places[i] =
          snapshot.grid.origin[axis] +
          snapshot.grid.spacing[axis] * static_cast<double>(static_cast<std::int64_t>(i) * snapshot.stride);
    const Hdf5Id scale = create_dimension_scale(file, axis_names[snapshot.axes[axis]], places);
    for (const NamedRows& field : fields)
      attach_dimension_scale(file, dataset_of(field.name), scale, axis - first);
  }
}

/// Reads the times of the snapshots in a directory from the snapshots themselves. Other files are ignored.
std::map<std::string, double> times_of_snapshots(const std::filesystem::path& directory,
                                                 const std::string& stream) {
  const auto lock = lock_hdf5();  // other snapshots are being written
  std::map<std::string, double> times;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename();
    const auto parts = parse_numbered_name(name);
    if (!parts || parts->stem != stream || parts->extension != ".hdf") continue;
    try {
      times[name] = read_attribute<double>(open_hdf5(entry.path()), "time");
    } catch (const Error&) {  // damaged, or not written by spsolve
    }
  }
  return times;
}

/// Returns the entries of a series, or nothing if it cannot be read as one.
std::optional<std::map<std::string, double>> times_in(const std::filesystem::path& file,
                                                      const std::string& stream) {
  const json series =
      json::parse(std::filesystem::exists(file) ? read_text(file) : std::string(), nullptr, false);
  if (!series.is_object() || !series.contains("files") || !series["files"].is_array()) return {};
  std::map<std::string, double> times;
  const std::size_t length = snapshot_file("", 0, stream).string().size();
  for (const json& entry : series["files"]) {
    if (!entry.is_object() || !entry.contains("name") || !entry["name"].is_string()) continue;
    if (!entry.contains("time") || !entry["time"].is_number()) continue;
    const auto name = entry["name"].get<std::string>();
    if (name.size() == length) times[name] = entry["time"].get<double>();
  }
  return times;
}

/// Returns the entries of a series whose files exist. If there is no readable series, the entries come from
/// the snapshots themselves.
std::map<std::string, double> times_of_files(const std::filesystem::path& file, const std::string& stream) {
  if (is_stream(file)) return {};
  const std::filesystem::path directory = file.parent_path();
  auto times = times_in(file, stream);
  if (!times) return times_of_snapshots(directory, stream);
  std::erase_if(*times, [&](const auto& entry) { return !std::filesystem::exists(directory / entry.first); });
  return std::move(*times);
}

constexpr std::string_view default_stream = "snapshot", default_series = "snapshots",
                           series_extension = ".hdf.series";

}  // namespace

ArrayFormat Snapshot::format() const {
  return {grid.domain.dimensions, Sampling{stride, precision}.sampled(grid.domain.box()).extent(), precision,
          compression};
}

std::filesystem::path snapshot_file(const std::filesystem::path& directory, std::int64_t step,
                                    const std::string& stream) {
  return directory / to_text({stream, step, ".hdf"});
}

std::optional<SnapshotSeries> SnapshotSeries::in_file(const std::filesystem::path& file) {
  const std::string name = file.filename();
  if (!name.ends_with(series_extension)) return {};
  const std::string stem = name.substr(0, name.size() - series_extension.size());
  return SnapshotSeries(file.parent_path(), stem == default_series ? std::string(default_stream) : stem);
}

SnapshotSeries SnapshotSeries::of_stream(std::string stream) const {
  SnapshotSeries other(directory_, std::move(stream));
  other.unflushed_ = unflushed_;
  return other;
}

std::filesystem::path SnapshotSeries::file() const {
  return directory_ /
         fmt::format("{}{}", stream_ == default_stream ? default_series : stream_, series_extension);
}

void SnapshotSeries::drop_after(std::int64_t step) {
  if (is_stream(file())) return;
  times_ = times_in(file(), stream_);
  if (!times_) return;
  const auto first = times_->upper_bound(snapshot_file("", step, stream_).string());
  if (first == times_->end()) return;
  times_->erase(first, times_->end());
  const std::string rest = text();
  const FileDescriptor series(file(), FileDescriptor::Mode::modify);
  series.write(0, std::as_bytes(std::span(rest)));
  series.cut(std::ssize(rest));
  series.flush();
}

void SnapshotSeries::add(std::int64_t step, double time) {
  const std::string name = snapshot_file("", step, stream_).string();
  if (!times_) times_ = times_of_files(file(), stream_);
  const bool is_last = times_->lower_bound(name) == times_->end();
  times_->erase(times_->lower_bound(name), times_->end());
  times_->emplace(name, time);
  if (!is_last || !append(name, time)) write();
}

/// Returns the text of the file with all entries.
std::string SnapshotSeries::text() const {
  json files = json::array();
  for (const auto& [known, of] : *times_) files.push_back({{"name", known}, {"time", of}});
  return json{{"file-series-version", "1.0"}, {"files", files}}.dump(1) + "\n";
}

void SnapshotSeries::write() {
  const auto file = this->file();
  const std::string text = this->text();
  write_text(file, text, Flush::later);
  bytes_ = std::ssize(text);
  if (!is_stream(file)) unflushed_->add(followed(file));
}

/// Appends an entry to the file. Returns false if the file has changed since add() wrote it. If the disk is
/// full, the file stays as it was.
bool SnapshotSeries::append(const std::string& name, double time) {
  constexpr std::string_view end = "\n ]\n}\n";  // end of a series, as json::dump(1) writes it
  const auto file = this->file();
  std::error_code missing;
  if (bytes_ == 0 || !std::filesystem::is_regular_file(file, missing)) return false;
  const FileDescriptor series(file, FileDescriptor::Mode::modify);
  if (series.size() != bytes_) return false;
  const std::string entry = fmt::format(",\n  {{\n   \"name\": {},\n   \"time\": {}\n  }}{}",
                                        json(name).dump(), json(time).dump(), end);
  const std::int64_t place = bytes_ - static_cast<std::int64_t>(end.size());
  try {
    series.write(place, std::as_bytes(std::span(entry)));
  } catch (const Error&) {
    series.cut(bytes_);
    series.write(place, std::as_bytes(std::span(end)));
    throw;
  }
  bytes_ = place + static_cast<std::int64_t>(entry.size());
  unflushed_->add(followed(file));
  return true;
}

std::filesystem::path write_snapshot(const Communicator& communicator, SnapshotSeries& series,
                                     const Snapshot& snapshot, const Box& box,
                                     const std::vector<NamedRows>& fields, const FileTurn& turn) {
  const auto file = snapshot_file(series.directory(), snapshot.step, snapshot.stream);
  const Attributes attributes{{"format", std::string(snapshot_format)},
                              {"format_version", format_version},
                              {"name", snapshot.name},
                              {"step", snapshot.step},
                              {"time", snapshot.time},
                              {"stride", snapshot.stride}};
  write_arrays(
      communicator, file, snapshot.format(), attributes, box, fields,
      [&](hid_t output) {
        add_vtk_view(output, snapshot, fields);
        add_coordinates(output, snapshot, fields);
      },
      &series.unflushed(), turn);
  collectively(communicator, [&] {
    if (communicator.root()) series.add(snapshot.step, snapshot.time);
    series.unflushed().flush_if_due();
  });
  return file;
}

}  // namespace spsolve
