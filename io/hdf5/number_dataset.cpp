// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/number_dataset.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "io/hdf5/dataset_sources.hpp"
#include "io/hdf5/fits_double.hpp"
#include "io/hdf5/linked_files.hpp"
#include "io/nearest_name.hpp"

namespace spsolve {
namespace {

std::string shape_text(std::span<const std::int64_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

/// Returns the index of value `i` of a box, as it was read, as text.
std::string place(int dimensions, const Box& box, std::size_t i) {
  const Index3 at = box.begin + point_of(static_cast<std::int64_t>(i), box.extent());
  return fmt::format("[{}]", fmt::join(at.end() - dimensions, at.end(), ", "));
}

/// Opens the dataset with a cache that holds one chunk if the usual cache of 1 MiB does not.
Hdf5Id opened(hid_t file, const std::string& dataset) {
  const auto open = [&](hid_t access) { return H5Dopen2(file, dataset.c_str(), access); };
  Hdf5Id plain(open(H5P_DEFAULT), H5Dclose);
  const Hdf5Id creation(H5Dget_create_plist(plain), H5Pclose), type(H5Dget_type(plain), H5Tclose);
  if (H5Pget_layout(creation) != H5D_CHUNKED) return plain;
  std::size_t bytes = H5Tget_size(type);
  for (const std::int64_t extent : chunk_extents(plain)) bytes *= static_cast<std::size_t>(extent);
  constexpr std::size_t usual_bytes = 1 << 20, slots = 521;
  if (bytes <= usual_bytes) return plain;
  plain.close();  // an open dataset keeps its first cache
  const Hdf5Id access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  check_hdf5(H5Pset_chunk_cache(access, slots, bytes, H5D_CHUNK_CACHE_W0_DEFAULT));
  return {open(access), H5Dclose};
}

}  // namespace

NumberDataset::NumberDataset(const std::filesystem::path& file, const std::string& dataset)
    : name_(file.string() + ":" + dataset),
      file_(open_hdf5(file, Status::invalid_input)),
      dataset_(open(file, dataset)),
      shape_(naming(name_, [&] { return dataset_shape(dataset_); })),
      reader_(naming(name_, [&] { return ChunkReader(dataset_); })) {
  const Hdf5Id type(H5Dget_type(dataset_), H5Tclose);
  if (!holds_numbers(type))
    fail(fmt::format("has type {}, wanted floating-point numbers, integers or booleans", type_name(type)));
  const Hdf5Id creation(H5Dget_create_plist(dataset_), H5Pclose);
  if (H5Pall_filters_avail(creation) <= 0)
    fail("is compressed by a filter that this HDF5 library has not; gzip and none are always there");
  for (const std::string& missing : {what_is_missing(dataset_), unwritten_values(dataset_)})
    if (!missing.empty()) fail(missing);
  packing_ = read_packing();
}

void NumberDataset::fail(const std::string& what) const {
  throw Error(Status::invalid_input, fmt::format("{} {}", name_, what));
}

Index3 NumberDataset::extent(int dimensions) const {
  if (static_cast<int>(shape_.size()) != dimensions)
    fail(fmt::format("has shape {}, wanted {} {}", shape_text(shape_), dimensions,
                     dimensions == 1 ? "axis" : "axes"));
  Index3 extent{1, 1, 1};
  std::copy(shape_.begin(), shape_.end(), extent.end() - dimensions);
  return extent;
}

Index3 NumberDataset::center(int dimensions, Index3 otherwise) const {
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

void NumberDataset::read(int dimensions, const Box& box, std::vector<double>& values) const {
  values.resize(static_cast<std::size_t>(box.points()));
  try {
    reader_.read(box, H5T_NATIVE_DOUBLE, values.data());
  } catch (const Error& error) {
    throw Error(error.status(), fmt::format("{}: {}", name_, error.what()));
  }
  require_valid(dimensions, box, values);
  require_exact(dimensions, box, values);
  unpack(dimensions, box, values);
}

void NumberDataset::require_valid(int dimensions, const Box& box, const std::vector<double>& values) const {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double stored = values[i];
    for (const auto& [attribute, mark] : packing_.missing)
      if (stored == mark)
        fail(fmt::format("has no value at {}: {} is its {}; wanted a number at every point",
                         place(dimensions, box, i), stored, attribute));
    if (stored < packing_.min || stored > packing_.max)
      fail(fmt::format("is {} at {}, beyond its valid range [{}, {}]", stored, place(dimensions, box, i),
                       packing_.min, packing_.max));
  }
}

void NumberDataset::require_exact(int dimensions, const Box& box, const std::vector<double>& values) const {
  constexpr double limit = 0x1p53;  // a double holds all integers up to it
  if (std::ranges::none_of(values, [](double value) { return std::abs(value) >= limit; })) return;
  const Hdf5Id type(H5Dget_type(dataset_), H5Tclose);
  if (H5Tget_class(type) != H5T_INTEGER) return;
  const auto look = [&]<class Integer>(Integer, hid_t native) {
    std::vector<Integer> integers(values.size());
    reader_.read(box, native, integers.data());
    const auto found = std::ranges::find_if_not(integers, fits_double<Integer>);
    if (found == integers.end()) return;
    const auto i = static_cast<std::size_t>(found - integers.begin());
    fail(fmt::format(
        "is {} at {}, of which fp64 keeps only {:.0f}; wanted integers up to 2^53, or numbers that "
        "are stored as fp64",
        *found, place(dimensions, box, i), values[i]));
  };
  if (H5Tget_sign(type) == H5T_SGN_2)
    look(std::int64_t{}, H5T_NATIVE_INT64);
  else
    look(std::uint64_t{}, H5T_NATIVE_UINT64);
}

void NumberDataset::unpack(int dimensions, const Box& box, std::vector<double>& values) const {
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = values[i] * packing_.scale + packing_.offset;
    if (!std::isfinite(values[i]))
      fail(fmt::format("is {} at {}, wanted finite numbers", values[i], place(dimensions, box, i)));
  }
}

std::vector<double> NumberDataset::numbers_of(const char* attribute) const {
  if (!has_attribute(dataset_, attribute)) return {};
  try {
    return read_attribute<std::vector<double>>(dataset_, attribute);
  } catch (const Error& error) {
    fail(error.what());
  }
}

NumberDataset::Packing NumberDataset::read_packing() const {
  Packing packing;
  const auto one = [&](const char* attribute, double otherwise) {
    if (!has_attribute(dataset_, attribute)) return otherwise;
    const auto numbers = numbers_of(attribute);
    if (numbers.size() != 1)
      fail(fmt::format("has attribute \"{}\" of {} numbers, wanted one", attribute, numbers.size()));
    return numbers.front();
  };
  if (has_attribute(dataset_, "_Unsigned"))
    fail(
        "has attribute \"_Unsigned\", which gives its integers another meaning; store them as they are "
        "meant");
  packing.scale = one("scale_factor", 1.0);
  if (packing.scale == 0) fail("has attribute \"scale_factor\" of 0, which makes all values the same");
  packing.offset = one("add_offset", 0.0);
  for (const char* attribute : {"_FillValue", "missing_value"})
    for (const double mark : numbers_of(attribute)) packing.missing.emplace_back(attribute, mark);
  const auto range = numbers_of("valid_range");
  if (range.size() != 0 && range.size() != 2)
    fail(fmt::format("has attribute \"valid_range\" of {} numbers, wanted two", range.size()));
  packing.min = one("valid_min", range.empty() ? packing.min : range[0]);
  packing.max = one("valid_max", range.empty() ? packing.max : range[1]);
  return packing;
}

Hdf5Id NumberDataset::open(const std::filesystem::path& file, const std::string& dataset) const {
  std::string problem;
  try {
    return opened(file_, dataset);
  } catch (const Error& error) {
    problem = error.what();
  }
  if (const std::string why = why_unreadable(file_, dataset); !why.empty()) fail(why);
  const auto known = dataset_names(file_);
  const std::string path = dataset.starts_with('/') ? dataset : "/" + dataset;
  if (std::ranges::find(known, path) != known.end()) fail("cannot be read: " + problem);
  const std::string nearest = nearest_name(path, known);
  constexpr std::size_t max_listed = 20;
  const std::span listed(known.data(), std::min(known.size(), max_listed));
  throw Error(
      Status::invalid_input,
      fmt::format("{} has no dataset \"{}\"{}; it holds {}{}", file.string(), dataset,
                  nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest),
                  known.empty() ? "none" : fmt::format("{}", fmt::join(listed, ", ")),
                  known.size() > max_listed ? fmt::format(" and {} more", known.size() - max_listed) : ""));
}

std::string why_unreadable(hid_t file, const std::string& path) {
  // Check link by link, because HDF5 only checks whether the last link exists.
  H5L_info_t link{};
  std::string reached;
  for (std::size_t begin = 0, end = 0; begin < path.size(); begin = end + 1) {
    end = std::min(path.find('/', begin), path.size());
    if (end == begin) continue;
    reached.append("/").append(path, begin, end - begin);
    if (H5Lexists(file, reached.c_str(), H5P_DEFAULT) <= 0) return "";
    check_hdf5(H5Lget_info(file, reached.c_str(), &link, H5P_DEFAULT));
    if (H5Oexists_by_name(file, reached.c_str(), H5P_DEFAULT) <= 0) break;
  }
  if (reached.empty()) return "is a group, wanted a dataset";
  if (link.type == H5L_TYPE_HARD) {
    const hid_t object = H5Oopen(file, reached.c_str(), H5P_DEFAULT);
    const std::string reason = object < 0 ? last_hdf5_error() : "";
    if (object >= 0) {
      const Hdf5Id owner(object, H5Oclose);
      if (H5Iget_type(object) == H5I_GROUP) return "is a group, wanted a dataset";
      if (H5Iget_type(object) == H5I_DATATYPE) return "is a type, wanted a dataset";
    }
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    return fmt::format(
        "is there, but HDF5 {}.{}.{} cannot open it{}; a newer library may have written it, whose "
        "h5repack --high=1 makes it readable",
        major, minor, release, reason.empty() ? "" : fmt::format(" ({})", reason));
  }
  std::string target(link.u.val_size, '\0');
  check_hdf5(H5Lget_val(file, reached.c_str(), target.data(), target.size(), H5P_DEFAULT));
  if (link.type == H5L_TYPE_SOFT) return fmt::format("is a link to {}, which is not there", target.c_str());
  const char *other = "", *object = "";
  if (link.type != H5L_TYPE_EXTERNAL ||
      H5Lunpack_elink_val(target.data(), target.size(), nullptr, &other, &object) < 0)
    return "is a link of a kind that this HDF5 library does not know";
  const LinkedFile found = linked_file(other, file_of(file), link_prefixes);
  std::string why = found.refusal;
  if (why.empty()) {
    const bool is_missing = found.file && H5Lexists(*found.file, object, H5P_DEFAULT) <= 0;
    why = is_missing ? fmt::format("is not in {}", found.place.string()) : "cannot be opened";
  }
  return fmt::format("is a link to {}:{}, which {}", other, object, why);
}

}  // namespace spsolve
