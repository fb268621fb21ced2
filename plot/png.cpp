// SPDX-License-Identifier: Apache-2.0
#include "plot/png.hpp"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstdint>
#include <new>
#include <string_view>
#include <vector>

#include "kernels/error.hpp"

namespace spsolve {
namespace {

constexpr std::string_view signature("\x89PNG\r\n\x1a\n", 8);

void append(png_structp png, png_bytep data, png_size_t count) {
  bool done = true;
  try {
    static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<const char*>(data), count);
  } catch (const std::bad_alloc&) {  // must not pass through the C functions of libpng
    done = false;
  }
  if (!done) png_error(png, "out of memory");
}

/// Calls libpng, which leaves by longjmp if it fails: nothing here may need a destructor. Returns false then.
bool write(std::string* bytes, const Image& image, png_text* texts, int count) {
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  if (!png) return false;
  png_infop info = png_create_info_struct(png);
  if (!info || setjmp(png_jmpbuf(png))) {
    png_destroy_write_struct(&png, &info);
    return false;
  }
  png_set_write_fn(png, bytes, append, nullptr);
  png_set_compression_level(png, 6);
  png_set_IHDR(png, info, static_cast<png_uint_32>(image.width()), static_cast<png_uint_32>(image.height()),
               8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_set_text(png, info, texts, count);
  png_write_info(png, info);
  static_assert(sizeof(Color) == 3, "a row of pixels is a row of bytes");
  for (int y = 0; y < image.height(); ++y)
    png_write_row(png, reinterpret_cast<png_const_bytep>(image.row(y)));
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return true;
}

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

}  // namespace

std::string encode_png(const Image& image, const PngTexts& texts) {
  std::vector<png_text> entries;
  for (const auto& [keyword, text] : texts) {
    const bool is_ascii = std::ranges::all_of(text, [](unsigned char c) { return c < 0x80; });
    png_text entry{};
    entry.compression = is_ascii ? PNG_TEXT_COMPRESSION_NONE : PNG_ITXT_COMPRESSION_NONE;
    entry.key = const_cast<char*>(keyword.c_str());
    entry.text = const_cast<char*>(text.c_str());
    (is_ascii ? entry.text_length : entry.itxt_length) = text.size();
    entries.push_back(entry);
  }
  std::string bytes;
  if (!write(&bytes, image, entries.data(), static_cast<int>(entries.size())))
    throw Error(Status::device_failure, "a picture could not be encoded: out of memory");
  return bytes;
}

PngTexts texts_of_png(const std::string& bytes) {
  PngTexts texts;
  if (!bytes.starts_with(signature)) return texts;
  // A chunk is: length of the data, type, data, check sum.
  for (std::size_t at = signature.size(); at + 12 <= bytes.size();) {
    const std::size_t length = number_at(bytes, at);
    if (length > bytes.size() - at - 12) break;
    const std::string_view type(bytes.data() + at + 4, 4), data(bytes.data() + at + 8, length);
    if (type == "tEXt")
      if (const std::size_t end = data.find('\0'); end != std::string_view::npos)
        texts[std::string(data.substr(0, end))] = data.substr(end + 1);
    at += 12 + length;
  }
  return texts;
}

}  // namespace spsolve
