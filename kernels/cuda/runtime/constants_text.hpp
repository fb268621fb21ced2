// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <ranges>
#include <string>

#include "kernels/precision.hpp"

namespace spsolve::cuda {

/// The type of ptx/precision.cuh that a precision is stored as.
constexpr const char* stored_name(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return "float";
    case Precision::tf32:
      return "Tf32";
    case Precision::bf16:
      return "Bfloat16";
    case Precision::fp16:
      return "Half";
    case Precision::fp64:
      break;
  }
  return "double";
}

/// The header of constants that a kernel template is compiled with.
class ConstantsText {
 public:
  explicit ConstantsText(std::initializer_list<const char*> includes) : text_("#pragma once\n") {
    for (const char* file : includes) text_.append("#include \"").append(file).append("\"\n");
    text_ += "namespace spsolve::cuda::constants {\n";
  }

  void type(const char* name, const char* what) { line(std::string("using ") + name + " = " + what + ";"); }
  void put(const char* type, const std::string& name, const std::string& value) {
    line(std::string("constexpr ") + type + " " + name + " = " + value + ";");
  }
  void integer(const char* name, std::int64_t value) { put("int", name, std::to_string(value)); }
  /// `element` as sparse_mma.cuh has it; fp64 has none.
  void element(Precision precision) {
    put("Element", "element",
        precision == Precision::bf16   ? "Element::bf16"
        : precision == Precision::tf32 ? "Element::tf32"
                                       : "Element::fp16");
  }
  void flag(const char* name, bool value) { put("bool", name, value ? "true" : "false"); }
  /// An array of int in memory of the device; `extents` such as "[3][steps]".
  template <class Values>
  void table(const char* name, const char* extents, const Values& values) {
    line(std::string("__device__ constexpr int ") + name + extents + " = " + list(values) + ";");
  }
  /// Anything else.
  void line(const std::string& text) { text_.append(text).append("\n"); }

  std::string finished() const { return text_ + "}  // namespace spsolve::cuda::constants\n"; }

  /// A number to its last bit.
  static std::string number(double value) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%a", value);
    return text.data();
  }

  /// A braced list, nested lists included.
  template <class Values>
  static std::string list(const Values& values) {
    std::string text = "{";
    for (const auto& value : values) {
      if constexpr (std::ranges::range<decltype(value)>)
        text += list(value);
      else
        text += std::to_string(value);
      text += ", ";
    }
    return text + "}";
  }

 private:
  std::string text_;
};

}  // namespace spsolve::cuda
