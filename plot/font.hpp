// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace spsolve {

/// Is the size of a character in dots. Its body ends at `glyph_baseline`; the lines below are for descenders.
constexpr int glyph_width = 5, glyph_height = 9, glyph_baseline = 7;

/// Returns true if a character has a dot at column x (0 is the left one) and line y (0 is the top one). Only
/// printable ASCII is drawn; other characters become question marks.
bool has_ink(char character, int x, int y);

}  // namespace spsolve
