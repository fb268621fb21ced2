// SPDX-License-Identifier: Apache-2.0
// tests/app/test_pictures.py tests how other readers read the files.
#include <gtest/gtest.h>

#include "plot/font.hpp"
#include "plot/png.hpp"

namespace spsolve {
namespace {

TEST(Png, KeepsTexts) {
  Image image(3, 2);
  image.set(1, 1, {1, 2, 3});
  const PngTexts texts{{"range", "-1 0.5"}, {"Title", "a: b"}, {"empty", ""}};
  const std::string bytes = encode_png(image, texts);
  EXPECT_EQ(texts_of_png(bytes), texts);
  EXPECT_EQ(encode_png(image, texts), bytes);
  image.set(1, 1, {1, 2, 4});
  EXPECT_NE(encode_png(image, texts), bytes);
}

/// A file that was cut off or changed anywhere must have no texts beyond its end, and must not crash the
/// reader.
TEST(Png, ReadsDamagedFiles) {
  const std::string bytes = encode_png(Image(3, 2), {{"a", "1"}, {"b", "2"}});
  EXPECT_TRUE(texts_of_png("").empty());
  EXPECT_TRUE(texts_of_png("no PNG file").empty());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_LE(texts_of_png(bytes.substr(0, length)).size(), 2u);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(~changed[i]);
    EXPECT_LE(texts_of_png(changed).size(), 2u);
  }
}

TEST(Font, HasDifferentGlyphs) {
  std::vector<std::string> glyphs;
  for (char c = ' '; c <= '~'; ++c) {
    std::string glyph;
    for (int y = 0; y < glyph_height; ++y)
      for (int x = 0; x < glyph_width; ++x) glyph += has_ink(c, x, y) ? '#' : '.';
    EXPECT_EQ(glyph.find('#') == std::string::npos, c == ' ') << c;
    for (std::size_t i = 0; i < glyphs.size(); ++i)
      EXPECT_NE(glyph, glyphs[i]) << c << " looks as " << static_cast<char>(' ' + i);
    glyphs.push_back(glyph);
  }
  EXPECT_EQ(has_ink('\n', 2, 6), has_ink('?', 2, 6));
  EXPECT_EQ(has_ink('\xff', 2, 6), has_ink('?', 2, 6));
}

}  // namespace
}  // namespace spsolve
