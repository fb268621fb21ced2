// SPDX-License-Identifier: Apache-2.0
#include "io/file_info.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "halo/collectively.hpp"
#include "io/array_blocks.hpp"
#include "io/checkpoint.hpp"
#include "io/format_version.hpp"
#include "io/hdf5/chunk_reader.hpp"
#include "io/hdf5/dataset_sources.hpp"
#include "io/hdf5/hdf5.hpp"
#include "io/hdf5/number_dataset.hpp"
#include "io/stored_array.hpp"

namespace spsolve {
namespace {

/// Indents the lines of a text after the first.
std::string indented(const std::string& text) {
  std::string result;
  for (const char c : text.substr(0, text.find_last_not_of('\n') + 1))
    result += c == '\n' ? "\n    " : std::string(1, c);
  return result;
}

std::string attributes_text(hid_t object, const std::string& margin) {
  std::string text;
  // Lists attributes that link arrays to the coordinates of their axes; they are of no interest to readers.
  const std::set<std::string> of_scales{"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"};
  for (const auto& name : attribute_names(object))
    if (!of_scales.contains(name))
      text += fmt::format("{}{} = {}\n", margin, name, indented(attribute_text(object, name)));
  return text;
}

/// Returns the least and the largest value and the number of values that are not finite, of an array of 1 to
/// 3 dimensions, or says that it has no values of its own.
std::string range_text(hid_t dataset, const std::vector<std::int64_t>& extents) try {
  if (const std::string missing = what_is_missing(dataset); !missing.empty()) return ", " + missing;
  const Hdf5Id creation(H5Dget_create_plist(dataset), H5Pclose);
  const bool elsewhere = H5Pget_layout(creation) == H5D_VIRTUAL || H5Pget_external_count(creation) > 0;
  if (!elsewhere && H5Dget_storage_size(dataset) == 0) return ", no values are stored";
  constexpr std::int64_t max_points = std::int64_t{1} << 40;
  Index3 shape{1, 1, 1};
  std::copy(extents.begin(), extents.end(), shape.end() - static_cast<std::ptrdiff_t>(extents.size()));
  if (!has_volume_within(shape, max_points)) return ", more values than can be looked through";
  // A file of a few bytes can have any number of chunks that were never written.
  constexpr std::int64_t few_points = 1 << 20;
  const std::string gaps = unwritten_chunks(dataset);
  if (!gaps.empty() && !has_volume_within(shape, few_points)) return ", " + gaps;
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  std::int64_t not_finite = 0;
  std::vector<double> values;
  ChunkReader reader(dataset);
  for_each_part_of_chunks(shape, reader.encoded_chunks(), box_of(shape), [&](const Box& part) {
    values.resize(static_cast<std::size_t>(part.points()));
    reader.read(part, H5T_NATIVE_DOUBLE, values.data());
    for (const double value : values) {
      if (!std::isfinite(value))
        ++not_finite;
      else
        least = std::min(least, value), largest = std::max(largest, value);
    }
  });
  std::string text = least <= largest ? fmt::format(", min {}, max {}", least, largest) : "";
  if (not_finite) text += fmt::format(", {} values are NaN or infinite", not_finite);
  return gaps.empty() ? text : text + ", " + gaps;
} catch (const Error& error) {  // other datasets of the file can still be described
  return fmt::format(", values cannot be read ({})", error.what());
}

std::string dataset_text(hid_t file, const std::string& name) try {
  const hid_t found = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  if (found < 0) return fmt::format("dataset {}: {}\n", name, why_unreadable(file, name));
  const Hdf5Id dataset(found, H5Dclose);
  const Hdf5Id type(H5Dget_type(dataset), H5Tclose);
  const auto shape = dataset_shape(dataset);
  const bool numbers = holds_numbers(type) && !shape.empty() && shape.size() <= axis_count;
  return fmt::format("dataset {}: shape ({}), {}{}\n{}", name, fmt::join(shape, ", "), type_name(type),
                     numbers ? range_text(dataset, shape) : "", attributes_text(dataset, "  "));
} catch (const Error& error) {
  if (error.status() != Status::invalid_input) throw;  // the file is damaged
  return fmt::format("dataset {}: {}\n", name, error.what());
}

std::string contents(const std::filesystem::path& file) {
  const Hdf5Id input = open_hdf5(file);
  std::string text =
      fmt::format("{}: {}, {} bytes\n", file.string(),
                  has_attribute(input, "format") ? attribute_text(input, "format") : "HDF5 file",
                  std::filesystem::file_size(file));
  text += attributes_text(input, "  ");
  for (const auto& name : dataset_names(input)) text += dataset_text(input, name);
  return text;
}

std::string format_of(hid_t file) {
  return has_attribute(file, "format") ? attribute_text(file, "format") : "";
}

/// Returns the names of the datasets at the root that have checksums, and of snapshot datasets that cannot be
/// opened.
std::vector<std::string> names_with_checksums(const std::filesystem::path& file) {
  const Hdf5Id input = open_hdf5(file);
  const bool snapshot = format_of(input) == snapshot_format;
  std::vector<std::string> names = link_names(input);
  std::erase_if(names, [&](const std::string& name) {
    const hid_t object = H5Oopen(input, name.c_str(), H5P_DEFAULT);
    if (object < 0) return !snapshot;
    const Hdf5Id owner(object, H5Oclose);
    return H5Iget_type(object) != H5I_DATASET || !has_attribute(object, checksum_attribute::values);
  });
  return names;
}

/// Does work that all ranks do alike, and adds its failure to `info`.
template <class Work>
void examine(FileInfo& info, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    info.valid = false;
    info.text += std::string(error.what()) + "\n";
  }
}

/// Returns the arrays of a file that have checksums. Arrays without expected checksums are named in `info`.
std::vector<StoredArray> arrays_of(const Communicator& communicator, const std::filesystem::path& file,
                                   FileInfo& info) {
  bool checkpoint = false;
  std::vector<std::string> names;
  collectively(communicator, [&] {
    naming(file, [&] {
      checkpoint = format_of(open_hdf5(file)) == checkpoint_format;
      if (!checkpoint) names = names_with_checksums(file);
    });
  });
  std::vector<StoredArray> arrays;
  if (checkpoint)
    examine(info, [&] { collectively(communicator, [&] { arrays = open_checkpoint(file).arrays; }); });
  for (const std::string& name : names)
    examine(info, [&] { collectively(communicator, [&] { arrays.push_back(locate_array(file, name)); }); });
  return arrays;
}

}  // namespace

FileInfo describe_file(const Communicator& communicator, const std::filesystem::path& file) {
  FileInfo info;
  on_root(communicator, [&] { naming(file, [&] { info.text = contents(file); }); });
  info.text = communicator.broadcast(info.text);
  std::size_t checksums = 0;
  for (const StoredArray& array : arrays_of(communicator, file, info)) {
    examine(info, [&] { verify_array(communicator, array); });
    checksums += array.checksums.size();
  }
  if (info.valid)
    info.text += checksums ? fmt::format("all {} checksums hold\n", checksums) : "no checksums\n";
  return info;
}

}  // namespace spsolve
