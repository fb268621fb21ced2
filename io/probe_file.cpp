// SPDX-License-Identifier: Apache-2.0
#include "io/probe_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "io/atomic_file.hpp"
#include "io/file_descriptor.hpp"
#include "io/format_version.hpp"

namespace spsolve {
namespace {

std::int64_t bytes_of(const std::vector<ProbeGroup>& groups, Precision precision) {
  constexpr std::int64_t room_for_headers = 64 << 10;
  std::int64_t bytes = room_for_headers;
  for (const ProbeGroup& group : groups)
    bytes += room_for_headers + 16 * group.rows + 8 * static_cast<std::int64_t>(group.at.size()) +
             static_cast<std::int64_t>(group.fields.size()) *
                 (room_for_headers +
                  group.rows * group.points() * static_cast<std::int64_t>(storage_bytes(precision)));
  return bytes;
}

/// Reads the rows [first, first + count) of a dataset, or as many of them as there are.
template <class Value>
std::vector<Value> read_rows(hid_t parent, const std::string& name, hid_t type, std::int64_t first,
                             std::int64_t count) {
  const Hdf5Id dataset(H5Dopen2(parent, name.c_str(), H5P_DEFAULT), H5Dclose);
  const std::vector<std::int64_t> shape = dataset_shape(dataset);
  const std::int64_t end = std::min(first + count, shape.front());
  Box box{{0, 0, first}, {1, 1, end}};
  if (shape.size() == 2) box = {{0, first, 0}, {1, end, shape.back()}};
  std::vector<Value> values(static_cast<std::size_t>(box.points()));
  if (!values.empty()) read_hyperslab(dataset, box, type, values.data());
  return values;
}

template <class Value>
std::vector<std::byte> bytes_of(const std::vector<Value>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

ProbeFile::ProbeFile(std::filesystem::path file, std::vector<ProbeGroup> groups, Precision precision,
                     std::int64_t kept_step)
    : file_(std::move(file)), groups_(std::move(groups)), precision_(precision) {
  try {
    naming(file_, [&] { create(kept_step); });
  } catch (const Error&) {
    std::error_code none;  // a file that could not be completed is useless
    if (file_.extension() == ".tmp") std::filesystem::remove(file_, none);
    throw;
  }
}

void ProbeFile::create(std::int64_t kept_step) {
  // The rows of a former file move to a new one, which takes its name when it is whole.
  const std::filesystem::path published = hdf5_target(file_);
  file_ = temporary_name(published);
  // A run that becomes steady makes the file anew while snapshots are still being written.
  const auto lock = lock_hdf5();
  lay_out();
  std::error_code missing;
  if (kept_step >= 0 && std::filesystem::is_regular_file(published, missing)) {
    const Hdf5Id former = open_hdf5(published);
    for (std::size_t i = 0; i < groups_.size(); ++i)
      if (H5Lexists(former, groups_[i].name.c_str(), H5P_DEFAULT) > 0) copy_rows(former, i, kept_step);
  }
  flush();
  publish(file_, published);
  file_ = published;
}

void ProbeFile::lay_out() {
  Hdf5Id output = create_hdf5(file_, bytes_of(groups_, precision_), 4096, 4096);
  write_attributes(output, {{"format", std::string(probes_format)}, {"format_version", format_version}});
  for (const ProbeGroup& group : groups_) {
    const Hdf5Id parent = create_group(output, group.name);
    const auto rows = static_cast<hsize_t>(group.rows), points = static_cast<hsize_t>(group.points());
    const Hdf5Id at =
        create_contiguous(parent, "at", H5T_IEEE_F64LE, {points, static_cast<hsize_t>(group.axes)});
    check_hdf5(H5Dwrite(at, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, group.at.data()));
    const Hdf5Id step = create_contiguous(parent, "step", H5T_STD_I64LE, {rows});
    const std::vector<std::int64_t> none(static_cast<std::size_t>(group.rows), -1);
    check_hdf5(H5Dwrite(step, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, none.data()));
    Places places{
        values_offset(step), values_offset(create_contiguous(parent, "time", H5T_IEEE_F64LE, {rows})), {}};
    for (const std::string& field : group.fields)
      places.fields.push_back(
          values_offset(create_contiguous(parent, field, storage_type(precision_), {rows, points})));
    places_.push_back(std::move(places));
  }
  output.close();
}

void ProbeFile::copy_rows(hid_t former, std::size_t number, std::int64_t kept_step) {
  const ProbeGroup& group = groups_[number];
  const Hdf5Id parent(H5Gopen2(former, group.name.c_str(), H5P_DEFAULT), H5Gclose);
  const auto steps = read_rows<std::int64_t>(parent, "step", H5T_NATIVE_INT64, 0, group.rows);
  // The first rows are absent if the run began at a checkpoint of another directory.
  const std::int64_t begin =
      std::ranges::find_if(steps, [](std::int64_t step) { return step >= 0; }) - steps.begin();
  std::int64_t end = begin;
  while (end < std::ssize(steps) && steps[static_cast<std::size_t>(end)] == end * group.every &&
         end * group.every <= kept_step)
    ++end;
  constexpr std::int64_t values_at_once = 1 << 20;
  const std::int64_t rows_at_once = std::max<std::int64_t>(1, values_at_once / group.points());
  for (std::int64_t first = begin; first < end; first += rows_at_once) {
    const std::int64_t count = std::min(rows_at_once, end - first);
    std::vector<std::vector<std::byte>> rows;
    for (const std::string& field : group.fields)
      rows.push_back(precision_ == Precision::fp64
                         ? bytes_of(read_rows<double>(parent, field, H5T_NATIVE_DOUBLE, first, count))
                         : bytes_of(read_rows<float>(parent, field, H5T_NATIVE_FLOAT, first, count)));
    const std::vector<std::span<const std::byte>> values(rows.begin(), rows.end());
    write(number, first,
          std::span(steps).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
          read_rows<double>(parent, "time", H5T_NATIVE_DOUBLE, first, count), values);
  }
}

void ProbeFile::write(std::size_t group, std::int64_t first, std::span<const std::int64_t> steps,
                      std::span<const double> times, std::span<const std::span<const std::byte>> values) {
  if (!open_) open_.emplace(file_, FileDescriptor::Mode::modify);
  const FileDescriptor& file = *open_;
  const Places& places = places_[group];
  const std::int64_t element = static_cast<std::int64_t>(storage_bytes(precision_));
  for (std::size_t field = 0; field < values.size(); ++field)
    file.write(places.fields[field] + first * groups_[group].points() * element, values[field]);
  file.write(places.time + 8 * first, std::as_bytes(times));
  // The step is written last, because it marks the row as written.
  file.write(places.step + 8 * first, std::as_bytes(steps));
}

void ProbeFile::flush() {
  if (!open_) open_.emplace(file_, FileDescriptor::Mode::modify);
  open_->flush();
}

}  // namespace spsolve
