// SPDX-License-Identifier: Apache-2.0
#include "io/checkpoint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "halo/collectively.hpp"
#include "io/array_file.hpp"
#include "io/atomic_file.hpp"
#include "io/field_rows.hpp"
#include "io/format_version.hpp"
#include "io/hdf5/hdf5.hpp"
#include "io/numbered_name.hpp"

namespace spsolve {
namespace {

/// Returns the steps of the checkpoints in a directory, newest first; with `temporary`, of those that were
/// never finished.
std::vector<std::int64_t> checkpoint_steps(const std::filesystem::path& directory, bool temporary = false) {
  std::vector<std::int64_t> steps;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(directory, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::filesystem::path name = entry->path().filename();
    const auto parts = parse_numbered_name(name.string());
    if (!parts) continue;
    const std::filesystem::path file = checkpoint_file("", parts->number);
    if (name == (temporary ? temporary_name(file) : file)) steps.push_back(parts->number);
  }
  if (error && error != std::errc::no_such_file_or_directory)
    throw Error(Status::file_failure,
                fmt::format("{}: cannot list: {}", directory.string(), error.message()));
  std::ranges::sort(steps, std::greater());
  return steps;
}

/// Names the attribute that holds the names of the fields, in order, with blanks between them.
constexpr const char* fields_attribute = "fields";

std::string joined(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, " ")); }

/// Returns the names of those arrays that do not hold previous values.
std::vector<std::string> fields_of(const std::vector<NamedRows>& arrays) {
  std::vector<std::string> names;
  for (const NamedRows& array : arrays)
    if (!array.name.ends_with(previous_suffix)) names.push_back(array.name);
  return names;
}

/// Names the attribute of the first array that holds the checksum of the header. The root already has as many
/// attributes as HDF5 keeps in order.
constexpr const char* header_checksum = "header_checksum";
constexpr const char* value_checksums = "value_checksums";
constexpr const char* last_change = "change";

/// Writes checksums of values as lines "section checksum".
std::string to_text(const ValueChecksums& values) {
  std::string text;
  for (const auto& [section, checksum] : values) text += fmt::format("{} {}\n", section, checksum);
  return text;
}

ValueChecksums parse_value_checksums(const std::string& text) {
  ValueChecksums values;
  std::istringstream lines(text);
  for (std::string section, checksum; lines >> section >> checksum;) values[section] = checksum;
  return values;
}

std::string checksum_of(const void* bytes, std::size_t count) {
  return fmt::format("{:016x}", XXH3_64bits(bytes, count));
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

/// HDF5 has checksums of attributes up to 64 KiB, but an input with its weights may be longer.
std::string checksum_of(const CheckpointHeader& header, bool with_names) {
  std::string all = fmt::format("{}\n{:a}\n{}\n{}\n{}\n{}", header.step, header.time,
                                to_string(header.precision), header.weights, header.plan, header.input);
  if (with_names) all.append("\n").append(joined(header.fields));
  if (!header.values.empty())
    all.append("\n").append(to_text(header.values));  // the first checkpoints had no values
  if (header.change) all.append(fmt::format("\n{:a}", *header.change));
  return checksum_of(all.data(), all.size());
}

}  // namespace

std::string checksum_of(const Stencil& stencil) {
  static_assert(sizeof(Tap) == sizeof(Index3) + sizeof(double), "no bytes of padding");
  const auto& taps = stencil.taps();
  return checksum_of(taps.data(), taps.size() * sizeof(Tap));
}

std::filesystem::path checkpoint_file(const std::filesystem::path& directory, std::int64_t step) {
  return directory / to_text({"checkpoint", step, ".h5"});
}

std::filesystem::path write_checkpoint(const Communicator& communicator,
                                       const std::filesystem::path& directory, const CheckpointHeader& header,
                                       int dimensions, const Index3& shape, const Box& box,
                                       const std::vector<NamedRows>& arrays, const FileTurn& turn) {
  if (fields_of(arrays) != header.fields)
    throw std::invalid_argument(fmt::format("arrays of {} for a checkpoint of {}",
                                            fmt::join(fields_of(arrays), " "),
                                            fmt::join(header.fields, " ")));
  const bool with_names = arrays.size() > 1 || arrays.front().name != default_field;
  const auto file = checkpoint_file(directory, header.step);
  Attributes attributes{{"format", std::string(checkpoint_format)},
                        {"format_version", with_names ? version_with_fields : format_version},
                        {"step", header.step},
                        {"time", header.time},
                        {"precision", std::string(to_string(header.precision))},
                        {"input", header.input},
                        {"plan", header.plan},
                        {"weights_checksum", header.weights}};
  if (with_names) attributes.emplace_back(fields_attribute, joined(header.fields));
  write_arrays(
      communicator, file, {dimensions, shape, header.precision}, attributes, box, arrays,
      [&](hid_t output) {
        const Hdf5Id first(H5Dopen2(output, dataset_of(header.fields.front()).c_str(), H5P_DEFAULT),
                           H5Dclose);
        write_attribute(first, header_checksum, checksum_of(header, with_names));
        if (!header.values.empty()) write_attribute(first, value_checksums, to_text(header.values));
        if (header.change) write_attribute(first, last_change, *header.change);
      },
      nullptr, turn);
  return file;
}

void prune_checkpoints(const Communicator& communicator, const std::filesystem::path& directory,
                       std::int64_t step, int keep) {
  on_root(communicator, [&] {
    auto steps = checkpoint_steps(directory);
    std::erase_if(steps, [&](std::int64_t found) { return found > step; });
    std::error_code ignored;
    for (std::size_t i = static_cast<std::size_t>(std::max(keep, 1)); i < steps.size(); ++i)
      std::filesystem::remove(checkpoint_file(directory, steps[i]), ignored);
    for (const std::int64_t unfinished : checkpoint_steps(directory, true))
      std::filesystem::remove(temporary_name(checkpoint_file(directory, unfinished)), ignored);
  });
}

Checkpoint open_checkpoint(const std::filesystem::path& file) {
  const auto fail = [](const std::string& what) { throw Error(Status::file_failure, what); };
  return naming(file, [&] {
    const Hdf5Id input = open_hdf5(file);
    if (!has_attribute(input, "format")) fail("is not a checkpoint of spsolve");
    if (const auto format = read_attribute<std::string>(input, "format"); format != checkpoint_format)
      fail(fmt::format("is a file of kind \"{}\", not a checkpoint", format));
    const auto version = read_attribute<std::int64_t>(input, "format_version");
    if (version != format_version && version != version_with_fields)
      fail(fmt::format("has format version {}, this program reads {} and {}", version, format_version,
                       version_with_fields));
    const bool with_names = version == version_with_fields;
    Checkpoint checkpoint;
    checkpoint.file = file;
    checkpoint.header = {.step = read_attribute<std::int64_t>(input, "step"),
                         .time = read_attribute<double>(input, "time"),
                         .precision = Precision::fp64,
                         .input = read_attribute<std::string>(input, "input"),
                         .plan = read_attribute<std::string>(input, "plan"),
                         .weights = read_attribute<std::string>(input, "weights_checksum")};
    const auto precision = parse_precision(read_attribute<std::string>(input, "precision"));
    if (with_names) checkpoint.header.fields = words_of(read_attribute<std::string>(input, fields_attribute));
    if (checkpoint.header.fields.empty()) fail("names no fields");
    for (const std::string& field : checkpoint.header.fields) {
      checkpoint.arrays.push_back(locate_array(file, field));
      const std::string previous = previous_of(field);
      if (with_names && check_hdf5(H5Lexists(input, dataset_of(previous).c_str(), H5P_DEFAULT)) > 0)
        checkpoint.arrays.push_back(locate_array(file, previous));
    }
    for (const StoredArray& array : checkpoint.arrays) {
      if (!precision || storage_precision(storage_type(*precision)) != array.format.precision)
        fail("has another type of values than it says");
      if (array.format.shape != checkpoint.arrays.front().format.shape) fail("has arrays of several shapes");
    }
    checkpoint.header.precision = *precision;
    const Hdf5Id first(H5Dopen2(input, dataset_of(checkpoint.header.fields.front()).c_str(), H5P_DEFAULT),
                       H5Dclose);
    if (has_attribute(first, value_checksums))
      checkpoint.header.values = parse_value_checksums(read_attribute<std::string>(first, value_checksums));
    if (has_attribute(first, last_change))
      checkpoint.header.change = read_attribute<double>(first, last_change);
    const bool sound = has_attribute(first, header_checksum)
                           ? read_attribute<std::string>(first, header_checksum) ==
                                 checksum_of(checkpoint.header, with_names)
                           : !with_names;  // the first checkpoints had no such checksum
    if (!sound) fail("attributes are damaged: they do not have their checksum");
    return checkpoint;
  });
}

Checkpoint verified_checkpoint(const Communicator& communicator, const std::filesystem::path& file) {
  Checkpoint checkpoint;
  collectively(communicator, [&] { checkpoint = open_checkpoint(file); });
  for (const StoredArray& array : checkpoint.arrays) verify_array(communicator, array);
  return checkpoint;
}

void read_checkpoint(const Communicator& communicator, const Checkpoint& checkpoint, const std::string& name,
                     const Index3& shape, Field& field) {
  collectively(communicator, [&] {
    const auto array = std::ranges::find(checkpoint.arrays, name, &StoredArray::name);
    if (array == checkpoint.arrays.end())
      throw Error(Status::invalid_input,
                  fmt::format("{} has no array {}; its fields are {}", checkpoint.file.string(),
                              dataset_of(name), fmt::join(checkpoint.header.fields, ", ")));
    const ArrayFormat& format = array->format;
    if (format.shape != shape)
      throw Error(Status::invalid_input, fmt::format("{} has shape ({}), wanted ({})", array->where(),
                                                     fmt::join(format.shape, ", "), fmt::join(shape, ", ")));
    if (storage_precision(storage_type(field.precision())) != format.precision)
      throw Error(Status::invalid_input,
                  fmt::format("{} holds {} values, wanted {}", array->where(), to_string(format.precision),
                              to_string(field.precision())));
    read_array(*array, field.owned(), rows_into(field, format.precision));
  });
}

LatestCheckpoint find_latest_checkpoint(const Communicator& communicator,
                                        const std::filesystem::path& directory) {
  std::string listed;
  on_root(communicator, [&] { listed = fmt::format("{}", fmt::join(checkpoint_steps(directory), " ")); });
  LatestCheckpoint latest;
  std::istringstream steps(communicator.broadcast(listed));
  for (std::int64_t step = 0; steps >> step;) {
    try {
      latest.checkpoint = verified_checkpoint(communicator, checkpoint_file(directory, step));
      break;
    } catch (const Error& error) {
      latest.skipped.emplace_back(error.what());
    }
  }
  return latest;
}

}  // namespace spsolve
