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

/// Returns the name of the type in ptx/precision.cuh that stores a number of this precision.
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

/// Builds constants.cuh: the header of compile-time constants that a kernel template includes.
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
  /// Writes the constant `element`, a value of the enum Element in sparse_mma.cuh: the operand format of
  /// tensor cores. fp64 has no such format.
  void element(Precision precision) {
    put("Element", "element",
        precision == Precision::bf16   ? "Element::bf16"
        : precision == Precision::tf32 ? "Element::tf32"
                                       : "Element::fp16");
  }
  void flag(const char* name, bool value) { put("bool", name, value ? "true" : "false"); }
  /// Writes an array of int in device memory; `extents` is its declarator, for example "[3][steps]".
  template <class Values>
  void table(const char* name, const char* extents, const Values& values) {
    line(std::string("__device__ constexpr int ") + name + extents + " = " + list(values) + ";");
  }
  /// Writes one line of C++ as it is.
  void line(const std::string& text) { text_.append(text).append("\n"); }

  std::string finished() const { return text_ + "}  // namespace spsolve::cuda::constants\n"; }

  /// Returns a hexadecimal literal that keeps every bit of the number.
  static std::string number(double value) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%a", value);
    return text.data();
  }

  /// Returns a braced initialiser list; ranges inside ranges become nested lists.
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
