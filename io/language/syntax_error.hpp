// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "kernels/error.hpp"

namespace spsolve {

/// Is a position in a text. Lines and columns count from 1, columns in characters of UTF-8.
struct Position {
  int line = 1;
  int column = 1;

  friend bool operator==(const Position&, const Position&) = default;
};

/// Reports a text that is not in the language of equations: what was found at a position, and what was wanted
/// there. The message is one sentence, then the line of the text with a caret under the position.
class SyntaxError : public Error {
 public:
  SyntaxError(std::string_view text, Position position, std::string found_there, std::string wanted_instead);

  const Position& position() const { return position_; }
  const std::string& found() const { return found_; }
  const std::string& wanted() const { return wanted_; }

 private:
  Position position_;
  std::string found_, wanted_;
};

}  // namespace spsolve
