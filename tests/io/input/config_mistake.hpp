// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "io/input/config.hpp"
#include "kernels/error.hpp"

namespace spsolve {

/// Represents a mistake in an input that is right without it.
struct Mistake {
  const char* text;         // the part of the input that is replaced
  const char* replacement;  // what stands there instead
  const char* message;      // the error, or its beginning
};

/// Returns the error of an input, which must be of the status for inputs, or "no error".
inline std::string error_of_input(std::string_view text, const std::string& file_name,
                                  const std::vector<std::string>& overrides = {}) {
  try {
    parse_config(text, file_name, overrides);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::invalid_input);
    return error.what();
  }
  return "no error";
}

/// Returns the error of the input `good` with a mistake in it.
inline std::string error_of_mistake(std::string good, const Mistake& mistake, const std::string& file_name) {
  const std::size_t begin = good.find(mistake.text);
  EXPECT_NE(begin, std::string::npos) << mistake.text;
  if (begin == std::string::npos) return "no mistake";
  good.replace(begin, std::string_view(mistake.text).size(), mistake.replacement);
  return error_of_input(good, file_name);
}

}  // namespace spsolve
