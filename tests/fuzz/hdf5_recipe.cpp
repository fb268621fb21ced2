// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/hdf5_recipe.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace spsolve::testing {
namespace {

/// Takes bytes of a recipe one after the other, and zeros behind its end.
class Recipe {
 public:
  explicit Recipe(std::span<const std::uint8_t> bytes) : rest_(bytes) {}
  bool done() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }
  template <class Choices>
  const auto& one_of(const Choices& choices) {
    return choices[byte() % std::size(choices)];
  }
  /// Fills `bytes` bytes, cyclically if the recipe has fewer left, so that short recipes make long values.
  std::vector<std::uint8_t> values(std::size_t bytes) {
    const std::size_t taken = std::min<std::size_t>({byte(), bytes, rest_.size()});
    std::vector<std::uint8_t> values(bytes);
    for (std::size_t i = 0; taken > 0 && i < bytes; ++i) values[i] = rest_[i % taken];
    rest_ = rest_.subspan(taken);
    return values;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

constexpr std::size_t max_bytes = 1 << 12;  // largest size of values that are written
constexpr double max_chunks = 1 << 12;      // HDF5 takes 6 KiB of memory for each that is read

const std::array<std::string, 9> object_names{"/u", "/weights", "/p", "/p.previous", "/x",
                                              "/y", "/VTKHDF",  "/g", "/g/u"};
const std::array<std::string, 35> attribute_names{"center",
                                                  "scale_factor",
                                                  "add_offset",
                                                  "_FillValue",
                                                  "missing_value",
                                                  "_Unsigned",
                                                  "valid_range",
                                                  "valid_min",
                                                  "valid_max",
                                                  "format",
                                                  "step",
                                                  "time",
                                                  "precision",
                                                  "input",
                                                  "format_version",
                                                  "plan",
                                                  "weights_checksum",
                                                  "fields",
                                                  "header_checksum",
                                                  "value_checksums",
                                                  "checksums",
                                                  "checksum_block_bytes",
                                                  "checksum_algorithm",
                                                  "Spacing",
                                                  "Origin",
                                                  "WholeExtent",
                                                  "Direction",
                                                  "Version",
                                                  "Type",
                                                  "CLASS",
                                                  "NAME",
                                                  "DIMENSION_LIST",
                                                  "REFERENCE_LIST",
                                                  "units",
                                                  "stride"};

hid_t type_of(Recipe& recipe) {
  const std::array<hid_t, 16> standard{
      H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT, H5T_IEEE_F64BE,  H5T_IEEE_F32BE,    H5T_STD_I8LE,  H5T_STD_U8LE,
      H5T_STD_I16BE,     H5T_STD_U16LE,    H5T_STD_I32LE,   H5T_STD_U32BE,     H5T_STD_I64LE, H5T_STD_U64LE,
      H5T_C_S1,          H5T_STD_B8LE,     H5T_STD_REF_OBJ, H5T_NATIVE_LDOUBLE};
  const std::uint8_t kind = recipe.byte();
  if (kind < 2 * standard.size()) return H5Tcopy(standard[kind % standard.size()]);
  switch (kind % 8) {
    case 0: {  // a float of 16 bits, of this or another division
      const hid_t type = H5Tcopy(H5T_NATIVE_FLOAT);
      const std::size_t exponent = recipe.byte() % 12;
      H5Tset_fields(type, 15, 15 - exponent, exponent, 0, 15 - exponent);
      H5Tset_size(type, 2);
      H5Tset_ebias(type, recipe.byte());
      return type;
    }
    case 1: {
      const hid_t type = H5Tcopy(H5T_C_S1);
      H5Tset_size(type, 1 + recipe.byte());
      H5Tset_strpad(type, recipe.one_of(std::array{H5T_STR_NULLTERM, H5T_STR_NULLPAD, H5T_STR_SPACEPAD}));
      return type;
    }
    case 2: {
      const hid_t type = H5Tcopy(H5T_C_S1);
      H5Tset_size(type, H5T_VARIABLE);
      return type;
    }
    case 3: {
      const hid_t type = H5Tcreate(H5T_COMPOUND, 16);
      H5Tinsert(type, "r", 0, H5T_NATIVE_DOUBLE);
      H5Tinsert(type, "i", 8, H5T_NATIVE_DOUBLE);
      return type;
    }
    case 4: {
      const hid_t type = H5Tenum_create(recipe.one_of(std::array{H5T_STD_I8LE, H5T_STD_I32LE}));
      const std::array<int, 2> none_and_one{0, 1};
      H5Tenum_insert(type, "FALSE", &none_and_one[0]);
      H5Tenum_insert(type, "TRUE", &none_and_one[1]);
      return type;
    }
    case 5:
      return H5Tvlen_create(H5T_NATIVE_DOUBLE);
    case 6: {
      const hsize_t extent = 1 + recipe.byte() % 4;
      return H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &extent);
    }
    default: {  // integers with bits that are not used
      const hid_t type = H5Tcopy(recipe.one_of(std::array{H5T_STD_I32LE, H5T_STD_U16BE, H5T_STD_I64LE}));
      H5Tset_precision(type, 1 + recipe.byte() % 16);
      H5Tset_offset(type, recipe.byte() % 16);
      return type;
    }
  }
}

hsize_t extent_of(Recipe& recipe) {
  const std::uint8_t kind = recipe.byte();
  if (kind < 240) return kind % 12;
  return hsize_t{1} << (recipe.byte() % 64);
}

hid_t space_of(Recipe& recipe) {
  const std::uint8_t kind = recipe.byte() % 16;
  if (kind == 0) return H5Screate(H5S_NULL);
  if (kind == 1) return H5Screate(H5S_SCALAR);
  if (kind < 8) {  // what the readers want
    const std::array<hsize_t, 2> grid{3, 5};
    return H5Screate_simple(2, grid.data(), nullptr);
  }
  std::array<hsize_t, 5> extents{}, most{};
  const int rank = 1 + recipe.byte() % 5;
  for (int axis = 0; axis < rank; ++axis) {
    extents[static_cast<std::size_t>(axis)] = extent_of(recipe);
    most[static_cast<std::size_t>(axis)] =
        kind == 8 ? H5S_UNLIMITED : extents[static_cast<std::size_t>(axis)];
  }
  return H5Screate_simple(rank, extents.data(), most.data());
}

/// Returns the number of bytes of all values, or nothing if they are of variable length or too many.
std::size_t bytes_of(hid_t type, hid_t space) {
  const hssize_t points = H5Sget_simple_extent_npoints(space);
  const std::size_t size = H5Tget_size(type);
  if (points <= 0 || size == 0 || H5Tdetect_class(type, H5T_VLEN) > 0 || H5Tis_variable_str(type) > 0 ||
      H5Tdetect_class(type, H5T_REFERENCE) > 0)
    return 0;
  return static_cast<std::size_t>(points) > max_bytes / size ? 0 : static_cast<std::size_t>(points) * size;
}

double chunk_count(hid_t space, const std::array<hsize_t, 5>& chunk) {
  std::array<hsize_t, 5> extents{};
  const int rank = H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  double count = 1;
  for (std::size_t axis = 0; std::cmp_less(axis, rank); ++axis)
    count *= std::ceil(static_cast<double>(extents[axis]) / static_cast<double>(chunk[axis]));
  return count;
}

void set_layout(Recipe& recipe, hid_t creation, hid_t space) {
  std::array<hsize_t, 5> chunk{};
  switch (recipe.byte() % 6) {
    case 0:
      H5Pset_layout(creation, H5D_COMPACT);
      return;
    case 1: {
      const std::array<const char*, 3> files{"absent.bin", "/dev/zero", "/proc/self/exe"};
      H5Pset_external(creation, recipe.one_of(files), recipe.byte(), 1 + extent_of(recipe));
      return;
    }
    case 2: {
      const int rank = H5Sget_simple_extent_ndims(space);
      for (hsize_t& extent : chunk) extent = 1 + extent_of(recipe) % 64;
      if (chunk_count(space, chunk) > max_chunks) return;
      if (rank > 0) H5Pset_chunk(creation, rank, chunk.data());
      const std::uint8_t filters = recipe.byte();
      if (filters & 1) H5Pset_shuffle(creation);
      if (filters & 2) H5Pset_fletcher32(creation);
      if (filters & 4) H5Pset_deflate(creation, 1);
      // Chunks of these two are written as they are, because their encoders write beyond their buffers.
      if (filters & 8) H5Pset_nbit(creation);
      if (filters & 16)
        H5Pset_scaleoffset(creation, filters & 32 ? H5Z_SO_INT : H5Z_SO_FLOAT_DSCALE, recipe.byte() % 8);
      return;
    }
    case 3:
      H5Pset_virtual(creation, space, recipe.byte() % 2 ? "." : "absent.h5",
                     recipe.one_of(object_names).c_str(), space);
      return;
    default:
      H5Pset_alloc_time(creation, recipe.byte() % 2 ? H5D_ALLOC_TIME_LATE : H5D_ALLOC_TIME_INCR);
      return;
  }
}

/// Stores any bytes as the first chunk of a dataset, as its filters might have left them.
void write_chunk(Recipe& recipe, hid_t dataset, hid_t space) {
  if (H5Sget_simple_extent_type(space) != H5S_SIMPLE || H5Sget_simple_extent_npoints(space) <= 0) return;
  const std::array<hsize_t, H5S_MAX_RANK> first{};
  const std::uint32_t left_out = recipe.byte() % 2 ? 0 : recipe.byte();
  const std::size_t bytes = recipe.byte() % 2 ? recipe.byte() : recipe.byte() * std::size_t{16};
  if (bytes > 0)
    H5Dwrite_chunk(dataset, H5P_DEFAULT, left_out, first.data(), bytes, recipe.values(bytes).data());
}

/// Returns true if the HDF5 library may write beyond its memory when it encodes values.
bool has_unsafe_encoder(hid_t creation) {
  unsigned flags = 0;
  std::size_t parameters = 0;
  for (const H5Z_filter_t filter : {H5Z_FILTER_NBIT, H5Z_FILTER_SCALEOFFSET})
    if (H5Pget_filter_by_id2(creation, filter, &flags, &parameters, nullptr, 0, nullptr, nullptr) >= 0)
      return true;
  return false;
}

void change_dataset(Recipe& recipe, hid_t file) {
  const std::string& name = recipe.one_of(object_names);
  const hid_t type = type_of(recipe), space = space_of(recipe), creation = H5Pcreate(H5P_DATASET_CREATE);
  set_layout(recipe, creation, space);
  H5Ldelete(file, name.c_str(), H5P_DEFAULT);
  // Values that the library reads from elsewhere, or makes up, would take long if there were many.
  const bool others = H5Pget_external_count(creation) > 0 || H5Pget_layout(creation) == H5D_VIRTUAL;
  const hid_t dataset = others && H5Sget_simple_extent_npoints(space) > static_cast<hssize_t>(max_bytes)
                            ? H5I_INVALID_HID
                            : H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  const std::size_t bytes = others ? 0 : bytes_of(type, space);
  const bool chunked = H5Pget_layout(creation) == H5D_CHUNKED;
  if (dataset >= 0 && chunked && (has_unsafe_encoder(creation) || recipe.byte() % 4 == 0))
    write_chunk(recipe, dataset, space);
  else if (dataset >= 0 && bytes > 0 && recipe.byte() % 4)
    H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, recipe.values(bytes).data());
  H5Dclose(dataset), H5Pclose(creation), H5Sclose(space), H5Tclose(type);
}

/// Changes the values of a dataset and leaves its type and its attributes.
void change_values(Recipe& recipe, hid_t file) {
  const hid_t dataset = H5Dopen2(file, recipe.one_of(object_names).c_str(), H5P_DEFAULT);
  if (dataset < 0) return;
  const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset),
              creation = H5Dget_create_plist(dataset);
  const bool others = H5Pget_external_count(creation) > 0 || H5Pget_layout(creation) == H5D_VIRTUAL ||
                      has_unsafe_encoder(creation);
  const std::size_t bytes = others ? 0 : bytes_of(type, space);
  if (bytes > 0) H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, recipe.values(bytes).data());
  H5Pclose(creation), H5Sclose(space), H5Tclose(type), H5Dclose(dataset);
}

/// Makes an attribute unless the object has one of that name. Attributes are never deleted, because the
/// library may crash when it deletes one of many: those of a base are left out when it is copied.
void add_attribute(Recipe& recipe, hid_t file) {
  const std::string& owner = recipe.byte() % 2 ? "/" : recipe.one_of(object_names);
  const hid_t object = H5Oopen(file, owner.c_str(), H5P_DEFAULT);
  if (object < 0) return;
  const std::string& name = recipe.one_of(attribute_names);
  const hid_t type = type_of(recipe), space = space_of(recipe);
  const bool too_large = H5Sget_simple_extent_npoints(space) > static_cast<hssize_t>(max_bytes);
  const hid_t attribute =
      too_large ? H5I_INVALID_HID : H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
  const std::size_t bytes = bytes_of(type, space);
  if (attribute >= 0 && bytes > 0) H5Awrite(attribute, type, recipe.values(bytes).data());
  H5Aclose(attribute), H5Sclose(space), H5Tclose(type), H5Oclose(object);
}

void change_link(Recipe& recipe, hid_t file) {
  const std::string &name = recipe.one_of(object_names), &target = recipe.one_of(object_names);
  H5Ldelete(file, name.c_str(), H5P_DEFAULT);
  switch (recipe.byte() % 5) {
    case 0:
      H5Lcreate_soft(target.c_str(), file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
      return;
    case 1:
      H5Lcreate_hard(file, target.c_str(), file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
      return;
    case 2:
      H5Lcreate_external("absent.h5", target.c_str(), file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
      return;
    case 3:
      H5Gclose(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      return;
    default:
      return;
  }
}

/// Counts the attributes of a base down to the one that is left out.
struct LeftOut {
  int number;
};

/// Copies the attributes of an object, except the one that is left out.
void copy_attributes(LeftOut& left_out, hid_t from, hid_t to) {
  struct Copy {
    hid_t to;
    LeftOut& left_out;
  } copy{to, left_out};
  hsize_t first = 0;
  H5Aiterate2(
      from, H5_INDEX_NAME, H5_ITER_INC, &first,
      [](hid_t object, const char* name, const H5A_info_t*, void* data) -> herr_t {
        auto& state = *static_cast<Copy*>(data);
        if (state.left_out.number-- == 0) return 0;
        const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(attribute),
                    space = H5Aget_space(attribute);
        std::vector<std::uint8_t> values(bytes_of(type, space));
        const hid_t made = H5Acreate2(state.to, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
        if (!values.empty() && H5Aread(attribute, type, values.data()) >= 0)
          H5Awrite(made, type, values.data());
        H5Aclose(made), H5Sclose(space), H5Tclose(type), H5Aclose(attribute);
        return 0;
      },
      &copy);
}

/// Copies a base without one of its attributes at most.
void copy_base(LeftOut left_out, hid_t base, hid_t file) {
  copy_attributes(left_out, base, file);
  const hid_t plain = H5Pcreate(H5P_OBJECT_COPY);
  H5Pset_copy_object(plain, H5O_COPY_WITHOUT_ATTR_FLAG);
  for (const std::string& name : object_names) {
    if (H5Lexists(base, name.c_str(), H5P_DEFAULT) <= 0) continue;
    H5Ocopy(base, name.c_str(), file, name.c_str(), plain, H5P_DEFAULT);
    const hid_t from = H5Oopen(base, name.c_str(), H5P_DEFAULT),
                to = H5Oopen(file, name.c_str(), H5P_DEFAULT);
    if (to >= 0) copy_attributes(left_out, from, to);
    H5Oclose(from), H5Oclose(to);
  }
  H5Pclose(plain);
}

/// Returns access properties of files that lie in memory, and are written to a disk at most when they are
/// closed.
hid_t in_memory(bool written) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  constexpr std::size_t increment = 1 << 16;
  H5Pset_fapl_core(access, increment, written);
  H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
  return access;
}

using Image = std::vector<std::uint8_t>;

/// Returns the bytes of a copy of a base, or of an empty file.
Image image_of(const hid_t* base, LeftOut left_out) {
  const hid_t access = in_memory(false), file = H5Fcreate("image", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  if (base) copy_base(left_out, *base, file);
  H5Fflush(file, H5F_SCOPE_LOCAL);
  // H5Fget_file_image() of HDF5 1.10 changes a byte below the checksum of the first block.
  hsize_t bytes = 0;
  void* memory = nullptr;  // the driver's pointer to its buffer
  H5Fget_filesize(file, &bytes);
  H5Fget_vfd_handle(file, access, &memory);
  const auto* begin = *static_cast<const std::uint8_t**>(memory);
  const Image image(begin, begin + bytes);
  H5Fclose(file), H5Pclose(access);
  return image;
}

/// Makes a file from which a recipe begins, and returns its identifier. Copies of bases are made once and
/// kept as bytes, because the library takes far longer to make them than to open them.
hid_t begin_file(Recipe& recipe, std::span<const hid_t> bases, const std::filesystem::path& path) {
  static std::map<std::pair<std::size_t, std::uint8_t>, Image> images;
  const std::size_t base = recipe.byte() % (bases.size() + 1);
  const std::uint8_t left_out = base < bases.size() ? recipe.byte() : 0;
  const auto [known, is_new] = images.try_emplace({base, left_out});
  Image& image = known->second;
  if (is_new) image = image_of(base < bases.size() ? &bases[base] : nullptr, {left_out});
  std::filesystem::remove(path);
  const hid_t access = in_memory(true);
  H5Pset_file_image(access, image.data(), image.size());
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, access);
  H5Pclose(access);
  return file;
}

}  // namespace

hid_t open_base(std::vector<std::uint8_t> image) {
  const hid_t access = in_memory(false);
  H5Pset_file_image(access, image.data(), image.size());
  const hid_t file = H5Fopen("base", H5F_ACC_RDONLY, access);
  H5Pclose(access);
  return file;
}

void follow_recipe(std::span<const std::uint8_t> bytes, std::span<const hid_t> bases,
                   const std::filesystem::path& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  Recipe recipe(bytes);
  const hid_t file = begin_file(recipe, bases, path);
  constexpr int max_changes = 16;
  for (int change = 0; change < max_changes && !recipe.done(); ++change) {
    constexpr std::array changes{change_dataset, change_values, add_attribute, change_link};
    recipe.one_of(changes)(recipe, file);
  }
  H5Fclose(file);
}

}  // namespace spsolve::testing
