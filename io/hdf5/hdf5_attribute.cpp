// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "io/hdf5/hdf5.hpp"

namespace spsolve {
namespace {

template <class Number>
hid_t native_type() {
  if constexpr (std::is_same_v<Number, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::is_same_v<Number, std::int32_t>) return H5T_NATIVE_INT32;
  if constexpr (std::is_same_v<Number, std::int64_t>) return H5T_NATIVE_INT64;
  if constexpr (std::is_same_v<Number, std::uint64_t>) return H5T_NATIVE_UINT64;
}

Hdf5Id text_type(std::size_t length, bool ascii) {
  Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
  check_hdf5(H5Tset_size(type, std::max<std::size_t>(length, 1)));  // HDF5 has no type of size 0
  check_hdf5(H5Tset_strpad(type, H5T_STR_NULLPAD));
  check_hdf5(H5Tset_cset(type, ascii ? H5T_CSET_ASCII : H5T_CSET_UTF8));
  return type;
}

Hdf5Id open_attribute(hid_t object, const std::string& name) {
  if (!has_attribute(object, name))
    throw Error(Status::file_failure, fmt::format("has no attribute \"{}\"", name));
  return {H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose};
}

void store(hid_t object, const std::string& name, hid_t type, hid_t space, const void* data) {
  const Hdf5Id attribute(has_attribute(object, name)
                             ? H5Aopen(object, name.c_str(), H5P_DEFAULT)
                             : H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose);
  check_hdf5(H5Awrite(attribute, type, data));
}

template <class Number>
std::vector<Number> numbers(hid_t object, const std::string& name) {
  const Hdf5Id attribute = open_attribute(object, name);
  const Hdf5Id type(H5Aget_type(attribute), H5Tclose);
  const H5T_class_t kind = H5Tget_class(type);
  if (kind != H5T_INTEGER && !(kind == H5T_FLOAT && std::is_same_v<Number, double>))
    throw Error(Status::file_failure,
                fmt::format("attribute \"{}\" is of type {}, wanted {}", name, type_name(type),
                            std::is_same_v<Number, double> ? "numbers" : "integers"));
  const Hdf5Id space(H5Aget_space(attribute), H5Sclose);
  std::vector<Number> values(static_cast<std::size_t>(check_hdf5(H5Sget_simple_extent_npoints(space))));
  if (!values.empty()) check_hdf5(H5Aread(attribute, native_type<Number>(), values.data()));
  return values;
}

std::string text(hid_t object, const std::string& name) {
  const Hdf5Id attribute = open_attribute(object, name);
  const Hdf5Id type(H5Aget_type(attribute), H5Tclose);
  const Hdf5Id space(H5Aget_space(attribute), H5Sclose);
  if (H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1)
    throw Error(Status::file_failure,
                fmt::format("attribute \"{}\" is of type {}, wanted one text", name, type_name(type)));
  if (H5Tis_variable_str(type) > 0) {
    char* found = nullptr;
    check_hdf5(H5Aread(attribute, type, &found));
    const std::unique_ptr<char, herr_t (*)(void*)> owner(found, H5free_memory);
    return found ? found : "";
  }
  std::string value(H5Tget_size(type), '\0');
  check_hdf5(H5Aread(attribute, type, value.data()));
  value.resize(std::min(value.size(), value.find('\0')));
  return value;
}

}  // namespace

bool has_attribute(hid_t object, const std::string& name) {
  return check_hdf5(H5Aexists(object, name.c_str())) > 0;
}

void write_attribute(hid_t object, const std::string& name, const AttributeValue& value) {
  const auto write = [&]<class Value>(const Value& v) {
    if constexpr (std::is_same_v<Value, std::string>) {
      const bool ascii = std::all_of(v.begin(), v.end(), [](unsigned char c) { return c < 0x80; });
      const Hdf5Id scalar(H5Screate(H5S_SCALAR), H5Sclose);
      store(object, name, text_type(v.size(), ascii), scalar, v.c_str());
    } else if constexpr (std::is_arithmetic_v<Value>) {
      const Hdf5Id scalar(H5Screate(H5S_SCALAR), H5Sclose);
      store(object, name, native_type<Value>(), scalar, &v);
    } else {
      const hsize_t extent = v.size();
      const Hdf5Id row(H5Screate_simple(1, &extent, nullptr), H5Sclose);
      store(object, name, native_type<typename Value::value_type>(), row, v.data());
    }
  };
  std::visit(write, value);
}

void write_attributes(hid_t object, const Attributes& attributes) {
  for (const auto& [name, value] : attributes) write_attribute(object, name, value);
}

template <class Value>
Value read_attribute(hid_t object, const std::string& name) {
  if constexpr (std::is_same_v<Value, std::string>) {
    return text(object, name);
  } else if constexpr (std::is_arithmetic_v<Value>) {
    const auto values = numbers<Value>(object, name);
    if (values.size() != 1)
      throw Error(Status::file_failure, fmt::format("attribute \"{}\" is not one number", name));
    return values.front();
  } else {
    return numbers<typename Value::value_type>(object, name);
  }
}
template std::int64_t read_attribute(hid_t, const std::string&);
template double read_attribute(hid_t, const std::string&);
template std::string read_attribute(hid_t, const std::string&);
template std::vector<std::int64_t> read_attribute(hid_t, const std::string&);
template std::vector<std::uint64_t> read_attribute(hid_t, const std::string&);
template std::vector<double> read_attribute(hid_t, const std::string&);

std::vector<std::string> attribute_names(hid_t object) {
  std::vector<std::string> names;
  hsize_t index = 0;
  check_hdf5(H5Aiterate2(
      object, H5_INDEX_NAME, H5_ITER_INC, &index,
      [](hid_t, const char* name, const H5A_info_t*, void* data) -> herr_t {
        static_cast<std::vector<std::string>*>(data)->emplace_back(name);
        return 0;
      },
      &names));
  return names;
}

std::string attribute_text(hid_t object, const std::string& name) {
  constexpr std::size_t max_numbers = 16, max_characters = 4000;
  const auto list = [&](const auto& values) {
    if (values.size() == 1) return fmt::format("{}", values.front());
    const auto shown = std::min(values.size(), max_numbers);
    return fmt::format("[{}{}]",
                       fmt::join(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                       shown < values.size() ? fmt::format(", ... {} in all", values.size()) : "");
  };
  const Hdf5Id attribute = open_attribute(object, name);
  const Hdf5Id type(H5Aget_type(attribute), H5Tclose);
  const Hdf5Id space(H5Aget_space(attribute), H5Sclose);
  const bool single = H5Sget_simple_extent_npoints(space) == 1;
  const H5T_class_t kind = H5Tget_class(type);
  if (kind == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_NONE)
    return list(numbers<std::uint64_t>(object, name));
  if (kind == H5T_INTEGER) return list(numbers<std::int64_t>(object, name));
  if (kind == H5T_FLOAT) return list(numbers<double>(object, name));
  if (kind == H5T_STRING && single) {
    std::string value = text(object, name);
    if (value.size() > max_characters) value = value.substr(0, max_characters) + "...";
    return value;
  }
  return fmt::format("({})", type_name(type));
}

}  // namespace spsolve
