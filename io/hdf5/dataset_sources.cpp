// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/dataset_sources.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "io/hdf5/chunk_reader.hpp"
#include "io/hdf5/hdf5.hpp"
#include "io/hdf5/linked_files.hpp"
#include "io/text_file.hpp"
#include "kernels/rounding.hpp"

namespace spsolve {
namespace {

namespace fs = std::filesystem;

/// Returns a name from HDF5; get(text, size) fills the text and returns its length.
template <class Get>
std::string name_by(Get&& get) {
  std::string name(static_cast<std::size_t>(check_hdf5(get(nullptr, 0))), '\0');
  check_hdf5(get(name.data(), name.size() + 1));
  return name;
}

std::string name_of(hid_t object) {
  return name_by([&](char* text, std::size_t size) { return H5Iget_name(object, text, size); });
}

/// Names the dataset from which a virtual dataset takes some of its points.
struct SourceDataset {
  std::string file, dataset;

  bool operator==(const SourceDataset&) const = default;
  std::string text() const { return file + ":" + dataset; }
};

/// Returns the name that stands for a block: HDF5 takes "%b" for its number and "%%" for "%".
std::string name_of_block(const std::string& pattern, std::size_t block) {
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (next == 'b')
      name += std::to_string(block);
    else
      name += pattern[i];
    if (next == 'b' || next == '%') ++i;
  }
  return name;
}

/// Returns a block of source `part` of a virtual dataset. All blocks are the same if the names have no "%b".
SourceDataset source_of(hid_t creation, std::size_t part, std::size_t block) {
  const auto name = [&](auto get) {
    return name_of_block(
        name_by([&](char* text, std::size_t size) { return get(creation, part, text, size); }), block);
  };
  return {name(H5Pget_virtual_filename), name(H5Pget_virtual_dsetname)};
}

LinkedFile file_of_source(hid_t dataset, const SourceDataset& source) {
  if (source.file == ".") return {file_of(dataset), "", Hdf5Id(H5Iget_file_id(dataset), H5Fclose)};
  return linked_file(source.file, file_of(dataset), vds_prefixes);
}

/// Opens a source in the file that file_of_source() has found. Returns nothing if it is missing.
std::optional<Hdf5Id> opened(const LinkedFile& found, const SourceDataset& source) {
  const hid_t id = found.file ? H5Dopen2(*found.file, source.dataset.c_str(), H5P_DEFAULT) : H5I_INVALID_HID;
  if (id < 0) return std::nullopt;
  return Hdf5Id(id, H5Dclose);
}

/// Describes a part of a raw file that holds values of a dataset.
struct RawPart {
  fs::path file;
  off_t offset = 0;
  hsize_t bytes = 0;
};

/// Returns part `i` of the raw files of a dataset. HDF5 looks for them in HDF5_EXTFILE_PREFIX or the current
/// directory.
RawPart raw_part(hid_t dataset, hid_t creation, int i) {
  std::array<char, 4096> name{};
  RawPart part;
  check_hdf5(H5Pget_external(creation, static_cast<unsigned>(i), name.size() - 1, name.data(), &part.offset,
                             &part.bytes));
  part.file = name.data();
  if (const char* const prefix = std::getenv("HDF5_EXTFILE_PREFIX"); prefix && part.file.is_relative())
    part.file = directory_of(prefix, file_of(dataset)) / part.file;
  return part;
}

/// Returns unsafe_source(). `seen` holds the files and names of the datasets whose sources were
/// looked at, because virtual datasets may refer to each other in a circle.
std::string unsafe_behind(hid_t dataset, std::set<std::pair<fs::path, std::string>>& seen) {
  const Hdf5Id creation(H5Dget_create_plist(dataset), H5Pclose);
  for (int i = 0; i < H5Pget_external_count(creation); ++i)
    if (const fs::path raw = raw_part(dataset, creation, i).file; is_stream(raw))
      return fmt::format("{}, which {}", raw.string(), refusal_of_stream);
  if (H5Pget_layout(creation) != H5D_VIRTUAL) return "";
  std::error_code none;
  if (!seen.emplace(fs::canonical(file_of(dataset), none), name_of(dataset)).second) return "";
  std::size_t count = 0;
  check_hdf5(H5Pget_virtual_count(creation, &count));
  for (std::size_t part = 0; part < count; ++part)
    for (std::size_t block = 0;; ++block) {  // HDF5 ends with the first block that is missing
      const SourceDataset source = source_of(creation, part, block);
      const LinkedFile found = file_of_source(dataset, source);
      if (!found.refusal.empty()) return fmt::format("{}, which {}", found.place.string(), found.refusal);
      const auto values = opened(found, source);
      if (!values) break;
      if (std::string unsafe = unsafe_behind(*values, seen); !unsafe.empty()) return unsafe;
      if (source == source_of(creation, part, block + 1)) break;
    }
  return "";
}

/// Returns true if a selection is unlimited, so that the dataset may grow.
bool is_unlimited(hid_t space) {
  return H5Sget_select_npoints(space) == static_cast<hssize_t>(H5S_UNLIMITED);
}

/// Returns true if a source has all points that a virtual dataset takes from it. `selection` holds these
/// points in the source, `part` holds them in the virtual dataset.
bool has_all(hid_t source, hid_t selection, hid_t part) {
  if (is_unlimited(selection) || is_unlimited(part)) return true;
  const auto shape = extents_of(source);
  if (H5Sget_select_type(selection) != H5S_SEL_HYPERSLABS) {  // the whole source, whatever its extent was
    const Hdf5Id space(H5Dget_space(source), H5Sclose);
    return H5Sget_select_npoints(part) <= H5Sget_simple_extent_npoints(space);
  }
  std::array<hsize_t, H5S_MAX_RANK> first{}, last{};
  if (H5Sget_simple_extent_ndims(selection) != std::ssize(shape)) return false;
  if (H5Sget_select_bounds(selection, first.data(), last.data()) < 0) return true;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (last[axis] >= static_cast<hsize_t>(shape[axis])) return false;
  return true;
}

/// Returns true if the sources of a virtual dataset together cover all its points.
bool covers_all(hid_t dataset, hid_t creation, std::size_t count) {
  const Hdf5Id space(H5Dget_space(dataset), H5Sclose);
  const hssize_t points = H5Sget_simple_extent_npoints(space);
  check_hdf5(H5Sselect_none(space));
  std::optional<Hdf5Id> covered;
  for (std::size_t i = 0; i < count; ++i) {
    Hdf5Id part(H5Pget_virtual_vspace(creation, i), H5Sclose);
    if (is_unlimited(part) || H5Sget_select_type(part) == H5S_SEL_ALL) return true;
    // After a dataset has grown or shrunk, its part still has the former extent.
    if (H5Sget_select_type(part) != H5S_SEL_HYPERSLABS) continue;
    if (!covered) {
      covered.emplace(std::move(part));
      continue;
    }
    const hid_t both = H5Scombine_select(*covered, H5S_SELECT_OR, part);
    if (both < 0) return true;
    covered.reset();
    covered.emplace(both, H5Sclose);
  }
  return points == 0 || (covered && H5Sget_select_npoints(*covered) >= points);
}

/// Returns what_is_missing() for a dataset that is reached through `depth` virtual datasets.
std::string missing_at(hid_t dataset, int depth);

/// Returns missing_at() for a virtual dataset. Names with a block number (%b) stand for any number of sources
/// and are not checked.
std::string missing_of_virtual(hid_t dataset, hid_t creation, int depth) {
  std::size_t count = 0;
  check_hdf5(H5Pget_virtual_count(creation, &count));
  for (std::size_t i = 0; i < count; ++i) {
    const SourceDataset source = source_of(creation, i, 0);
    if (source != source_of(creation, i, 1)) continue;
    const auto values = opened(file_of_source(dataset, source), source);
    if (!values) return fmt::format("is virtual, and its source {} is missing", source.text());
    const Hdf5Id selection(H5Pget_virtual_srcspace(creation, i), H5Sclose),
        part(H5Pget_virtual_vspace(creation, i), H5Sclose);
    if (!has_all(*values, selection, part))
      return fmt::format("is virtual, and its source {} has shape ({}), less than is taken from it",
                         source.text(), fmt::join(extents_of(*values), ", "));
    if (std::string missing = missing_at(*values, depth + 1); !missing.empty()) return missing;
  }
  return covers_all(dataset, creation, count) ? "" : "is virtual, and some of its points have no source";
}

/// Returns missing_at() for a dataset whose values lie in raw files.
std::string missing_of_external(hid_t dataset, hid_t creation, int count) {
  const Hdf5Id space(H5Dget_space(dataset), H5Sclose), type(H5Dget_type(dataset), H5Tclose);
  auto left = static_cast<std::uint64_t>(H5Sget_simple_extent_npoints(space)) * H5Tget_size(type);
  for (int i = 0; i < count && left > 0; ++i) {
    const auto [file, offset, size] = raw_part(dataset, creation, i);
    const std::uint64_t part = size == H5F_UNLIMITED ? left : std::min<std::uint64_t>(left, size);
    const std::uint64_t wanted = static_cast<std::uint64_t>(offset) + part;
    std::error_code missing;
    const std::uintmax_t bytes = fs::file_size(file, missing);
    if (missing)
      return fmt::format("has its values in the raw file {}: {}", file.string(), missing.message());
    if (bytes < wanted)
      return fmt::format("has its values in the raw file {}, which has {} bytes of {}", file.string(), bytes,
                         wanted);
    left -= part;
  }
  return "";
}

/// Says what is wrong with the chunks of a source of a virtual dataset, which the HDF5 library decodes
/// unseen.
std::string damage_of_source(hid_t source, hid_t creation) try {
  const std::string filter = unsafe_filter(creation);
  if (filter.empty()) return "";
  const auto shape = extents_of(source);
  if (shape.empty() || shape.size() > axis_count)
    return fmt::format(
        "has the filter {} and {} axes: its chunks cannot be checked; h5repack -f NONE makes a copy "
        "without the filter",
        filter, shape.size());
  Index3 extent{1, 1, 1};
  std::copy(shape.begin(), shape.end(), extent.end() - std::ssize(shape));
  ChunkReader(source).check(box_of(extent));
  return "";
} catch (const Error& error) {
  return fmt::format("cannot be read: {}", error.what());
}

std::string missing_at(hid_t dataset, int depth) {
  constexpr int deepest = 8;  // virtual datasets may refer to each other in a circle
  const Hdf5Id creation(H5Dget_create_plist(dataset), H5Pclose);
  if (H5Pget_layout(creation) == H5D_VIRTUAL) {
    if (depth == deepest)  // the HDF5 library overflows its stack when it reads a circle
      return fmt::format("is virtual, and its values are not reached within {} virtual datasets", deepest);
    return missing_of_virtual(dataset, creation, depth);
  }
  if (depth > 0)
    for (std::string found : {damage_of_source(dataset, creation), unwritten_values(dataset)})
      if (!found.empty()) return "is virtual, and its source " + name_of(dataset) + " " + found;
  const int count = H5Pget_external_count(creation);
  return count > 0 ? missing_of_external(dataset, creation, count) : "";
}

}  // namespace

fs::path file_of(hid_t object) {
  const Hdf5Id file(H5Iget_file_id(object), H5Fclose);
  return name_by([&](char* text, std::size_t size) { return H5Fget_name(file, text, size); });
}

std::string unsafe_source(hid_t dataset) {
  std::set<std::pair<fs::path, std::string>> seen;
  return unsafe_behind(dataset, seen);
}

std::string what_is_missing(hid_t dataset) { return missing_at(dataset, 0); }

std::string unwritten_chunks(hid_t dataset) {
  const Hdf5Id creation(H5Dget_create_plist(dataset), H5Pclose), space(H5Dget_space(dataset), H5Sclose);
  if (H5Pget_layout(creation) != H5D_CHUNKED) return "";
  const auto chunk = chunk_extents(dataset), shape = extents_of(dataset);
  hsize_t all = 1, written = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    all *= static_cast<hsize_t>(ceil_div(shape[axis], chunk[axis]));
  check_hdf5(H5Dget_num_chunks(dataset, space, &written));
  return written >= all ? ""
                        : fmt::format("has gaps: {} of its {} chunks were never written", all - written, all);
}

std::string unwritten_values(hid_t dataset) {
  const Hdf5Id creation(H5Dget_create_plist(dataset), H5Pclose), space(H5Dget_space(dataset), H5Sclose);
  const auto layout = H5Pget_layout(creation);
  H5D_fill_value_t fill{};
  check_hdf5(H5Pfill_value_defined(creation, &fill));
  if (fill == H5D_FILL_VALUE_USER_DEFINED || H5Sget_simple_extent_npoints(space) <= 0 ||
      (layout != H5D_CHUNKED && layout != H5D_CONTIGUOUS) || H5Pget_external_count(creation) > 0)
    return "";
  if (H5Dget_storage_size(dataset) == 0) return "has no values: none were written";
  return unwritten_chunks(dataset);
}

}  // namespace spsolve
