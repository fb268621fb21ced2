// SPDX-License-Identifier: Apache-2.0
#include "io/file_info.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "io/array_blocks.hpp"
#include "io/array_file.hpp"
#include "io/checkpoint.hpp"
#include "io/hdf5.hpp"
#include "io/number_dataset.hpp"
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
  for (const auto& name : attribute_names(object))
    text += fmt::format("{}{} = {}\n", margin, name, indented(attribute_text(object, name)));
  return text;
}

/// Least and largest value and how many are not finite, of an array of 1 to 3 dimensions.
std::string range_text(hid_t dataset, const std::vector<std::int64_t>& extents) try {
  constexpr std::int64_t points_at_once = 1 << 19;
  Index3 shape{1, 1, 1};
  std::copy(extents.begin(), extents.end(), shape.end() - static_cast<std::ptrdiff_t>(extents.size()));
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  std::int64_t not_finite = 0;
  std::vector<double> values;
  for_each_part(box_of(shape), points_at_once, [&](const Box& part) {
    values.resize(static_cast<std::size_t>(part.points()));
    read_hyperslab(dataset, part, H5T_NATIVE_DOUBLE, values.data());
    for (const double value : values) {
      if (!std::isfinite(value))
        ++not_finite;
      else
        least = std::min(least, value), largest = std::max(largest, value);
    }
  });
  std::string text = least <= largest ? fmt::format(", min {}, max {}", least, largest) : "";
  if (not_finite) text += fmt::format(", {} values are NaN or infinite", not_finite);
  return text;
} catch (const Error& error) {  // what else the file holds can still be told
  return fmt::format(", values cannot be read ({})", error.what());
}

std::string dataset_text(hid_t file, const std::string& name) {
  const hid_t found = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  if (found < 0) return fmt::format("dataset {}: {}\n", name, why_it_does_not_open(file, name));
  const Hdf5Id dataset(found, H5Dclose);
  const Hdf5Id type(H5Dget_type(dataset), H5Tclose);
  const auto shape = dataset_shape(dataset);
  const bool numbers = holds_numbers(type) && !shape.empty() && shape.size() <= axis_count;
  return fmt::format("dataset {}: shape ({}), {}{}\n{}", name, fmt::join(shape, ", "), type_name(type),
                     numbers ? range_text(dataset, shape) : "", attributes_text(dataset, "  "));
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

bool has_checksums(const std::filesystem::path& file) {
  const Hdf5Id input = open_hdf5(file);
  if (check_hdf5(H5Lexists(input, field_dataset, H5P_DEFAULT)) == 0) return false;
  const hid_t found = H5Dopen2(input, field_dataset, H5P_DEFAULT);
  if (found < 0) return false;
  const Hdf5Id dataset(found, H5Dclose);
  return has_attribute(dataset, checksum_attribute::values);
}

bool is_checkpoint(const std::filesystem::path& file) {
  const Hdf5Id input = open_hdf5(file);
  return has_attribute(input, "format") && read_attribute<std::string>(input, "format") == checkpoint_format;
}

}  // namespace

FileInfo describe_file(const Communicator& communicator, const std::filesystem::path& file) {
  FileInfo info;
  bool checked = false, checkpoint = false;
  StoredArray array;
  collectively(communicator, [&] {
    naming(file, [&] {
      if (communicator.root()) info.text = contents(file);
      checked = has_checksums(file);
      checkpoint = checked && is_checkpoint(file);
      if (checked && !checkpoint) array = locate_array(file);
    });
  });
  info.text = communicator.broadcast(info.text);
  if (!checked) {
    info.text += "no checksums\n";
    return info;
  }
  try {
    if (checkpoint)
      array = verified_checkpoint(communicator, file).array;
    else
      verify_array(communicator, array);
    info.text += fmt::format("all {} checksums hold\n", array.checksums.size());
  } catch (const Error& error) {
    info.sound = false;
    info.text += std::string(error.what()) + "\n";
  }
  return info;
}

}  // namespace spsolve
