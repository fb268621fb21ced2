// SPDX-License-Identifier: Apache-2.0
#include "io/array_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "io/array_blocks.hpp"
#include "io/hdf5.hpp"
#include "io/nearest_name.hpp"

namespace spsolve {
namespace {

constexpr std::int64_t points_at_once = 1 << 19;  // 4 MiB of doubles

std::string shape_text(std::span<const std::int64_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

/// A name that HDF5 gives: get(text, size) its length.
template <class Get>
std::string name_by(Get&& get) {
  std::string name(static_cast<std::size_t>(check_hdf5(get(nullptr, 0))), '\0');
  check_hdf5(get(name.data(), name.size() + 1));
  return name;
}

/// Where HDF5 looks for a source of a virtual dataset in `file`, one after the other.
std::vector<std::filesystem::path> places_of(const std::filesystem::path& source,
                                             const std::filesystem::path& file) {
  std::vector<std::filesystem::path> places;
  if (source.is_absolute()) places.push_back(source);
  const auto name = source.is_absolute() ? source.filename() : source;
  const auto directory = file.parent_path();
  if (const char* const prefixes = std::getenv("HDF5_VDS_PREFIX")) {
    std::istringstream list(prefixes);
    for (std::string prefix; std::getline(list, prefix, ':');) {
      constexpr std::string_view origin = "${ORIGIN}";
      const bool beside = prefix.starts_with(origin);
      places.push_back(
          std::filesystem::path(beside ? directory.string() + prefix.substr(origin.size()) : prefix) / name);
    }
  }
  std::error_code none;
  places.insert(places.end(), {directory / name, name, canonical(file, none).parent_path() / name});
  return places;
}

/// The first source, or source of a source, of a virtual dataset that is not there, as file:dataset: HDF5
/// reads fill values for it. Names with a block number (%b) stand for as many as there are.
std::string missing_source(hid_t dataset, int depth = 0) {
  constexpr int deepest = 8;  // views of views, or views of each other
  const Hdf5Id creation(H5Dget_create_plist(dataset), H5Pclose);
  if (H5Pget_layout(creation) != H5D_VIRTUAL || depth == deepest) return "";
  const Hdf5Id own_file(H5Iget_file_id(dataset), H5Fclose);
  const std::filesystem::path file =
      name_by([&](char* text, std::size_t size) { return H5Fget_name(own_file, text, size); });
  std::size_t count = 0;
  check_hdf5(H5Pget_virtual_count(creation, &count));
  for (std::size_t i = 0; i < count; ++i) {
    const auto name = [&](auto get) {
      return name_by([&](char* text, std::size_t size) { return get(creation, i, text, size); });
    };
    const std::string source_file = name(H5Pget_virtual_filename), source = name(H5Pget_virtual_dsetname);
    if ((source_file + source).find("%b") != std::string::npos) continue;
    std::optional<Hdf5Id> found;
    if (source_file == ".") found.emplace(H5Iget_file_id(dataset), H5Fclose);
    for (const auto& place : places_of(source_file, file)) {
      if (found) break;
      if (const hid_t id = H5Fopen(place.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT); id >= 0)
        found.emplace(id, H5Fclose);
    }
    const hid_t opened = found ? H5Dopen2(*found, source.c_str(), H5P_DEFAULT) : H5I_INVALID_HID;
    if (opened < 0) return source_file + ":" + source;
    if (const std::string missing = missing_source(Hdf5Id(opened, H5Dclose), depth + 1); !missing.empty())
      return missing;
  }
  return "";
}

/// A dataset of numbers that is open for reading.
class NumberDataset {
 public:
  NumberDataset(const std::filesystem::path& file, const std::string& dataset)
      : name_(file.string() + ":" + dataset),
        file_(open_hdf5(file, Status::invalid_input)),
        dataset_(open(file, dataset), H5Dclose),
        shape_(dataset_shape(dataset_)) {
    const Hdf5Id type(H5Dget_type(dataset_), H5Tclose);
    if (!holds_numbers(type))
      fail(fmt::format("has type {}, wanted floating-point numbers, integers or booleans", type_name(type)));
    const Hdf5Id creation(H5Dget_create_plist(dataset_), H5Pclose);
    if (H5Pall_filters_avail(creation) <= 0)
      fail("is compressed by a filter that this HDF5 library has not; gzip and none are always there");
    if (const std::string missing = missing_source(dataset_); !missing.empty())
      fail(fmt::format("is virtual, and its source {} is missing", missing));
  }

  /// Slowest axis first.
  const std::vector<std::int64_t>& shape() const { return shape_; }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(Status::invalid_input, fmt::format("{} {}", name_, what));
  }

  /// Checks the rank and gives the shape with absent axes in front.
  Index3 extent(int dimensions) const {
    if (static_cast<int>(shape_.size()) != dimensions)
      fail(fmt::format("has shape {}, wanted {} {}", shape_text(shape_), dimensions,
                       dimensions == 1 ? "axis" : "axes"));
    Index3 extent{1, 1, 1};
    std::copy(shape_.begin(), shape_.end(), extent.end() - dimensions);
    return extent;
  }

  /// The index that attribute "center" holds, `otherwise` where there is none.
  Index3 center(int dimensions, Index3 otherwise) const {
    if (!has_attribute(dataset_, "center")) return otherwise;
    std::vector<std::int64_t> given;
    try {
      given = read_attribute<std::vector<std::int64_t>>(dataset_, "center");
    } catch (const Error& error) {
      fail(error.what());
    }
    if (static_cast<int>(given.size()) != dimensions)
      fail(fmt::format("has attribute \"center\" with {} indices, wanted {}", given.size(), dimensions));
    std::copy(given.begin(), given.end(), otherwise.end() - dimensions);
    return otherwise;
  }

  void read(int dimensions, const Box& box, std::vector<double>& values) const {
    values.resize(static_cast<std::size_t>(box.points()));
    try {
      read_hyperslab(dataset_, box, H5T_NATIVE_DOUBLE, values.data());
    } catch (const Error& error) {
      throw Error(error.status(), fmt::format("{}: {}", name_, error.what()));
    }
    const auto bad =
        std::find_if_not(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
    if (bad == values.end()) return;
    const Index3 at = box.begin + point_of(bad - values.begin(), box.extent());
    fail(fmt::format("is {} at [{}], wanted finite numbers", *bad,
                     fmt::join(at.end() - dimensions, at.end(), ", ")));
  }

 private:
  hid_t open(const std::filesystem::path& file, const std::string& dataset) const {
    if (const hid_t id = H5Dopen2(file_, dataset.c_str(), H5P_DEFAULT); id >= 0) return id;
    const auto known = dataset_names(file_);
    const std::string nearest = nearest_name(dataset.starts_with('/') ? dataset : "/" + dataset, known);
    constexpr std::size_t most_listed = 20;
    const std::span listed(known.data(), std::min(known.size(), most_listed));
    throw Error(
        Status::invalid_input,
        fmt::format(
            "{} has no dataset \"{}\"{}; it holds {}{}", file.string(), dataset,
            nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest),
            known.empty() ? "none" : fmt::format("{}", fmt::join(listed, ", ")),
            known.size() > most_listed ? fmt::format(" and {} more", known.size() - most_listed) : ""));
  }

  std::string name_;
  Hdf5Id file_;
  Hdf5Id dataset_;
  std::vector<std::int64_t> shape_;
};

}  // namespace

void read_box(const std::filesystem::path& file, const std::string& dataset, const Domain& domain,
              const Box& box, const ValueSink& sink) {
  const NumberDataset source(file, dataset);
  const std::span wanted(domain.shape.begin() + domain.first_axis(), domain.shape.end());
  if (!std::ranges::equal(source.shape(), wanted))
    source.fail(fmt::format("has shape {}, wanted {}", shape_text(source.shape()), shape_text(wanted)));
  std::vector<double> values;
  for_each_part(box, points_at_once, [&](const Box& part) {
    source.read(domain.dimensions, part, values);
    const auto points = static_cast<std::size_t>(part.extent()[x_axis]);
    const double* next = values.data();
    for (std::int64_t row = 0; row < row_count(part); ++row, next += points)
      sink(row_begin(part, row), {next, points});
  });
}

Stencil read_weights(const std::filesystem::path& file, const std::string& dataset, int dimensions) {
  const NumberDataset source(file, dataset);
  const Index3 extent = source.extent(dimensions);
  const Index3 center = source.center(dimensions, {extent[0] / 2, extent[1] / 2, extent[2] / 2});
  std::vector<double> weights;
  constexpr std::int64_t most_weights = 1 << 24;  // far more than any stencil that can be computed with
  if (!has_volume_within(extent, most_weights))
    source.fail(fmt::format("has shape {}: no stencil", shape_text(source.shape())));
  source.read(dimensions, box_of(extent), weights);
  try {
    return Stencil(extent, weights, center);
  } catch (const std::invalid_argument& error) {
    source.fail(fmt::format("is no stencil: {}", error.what()));
  }
}

}  // namespace spsolve
