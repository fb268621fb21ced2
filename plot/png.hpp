// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "plot/image.hpp"

namespace spsolve {

/// Texts of a PNG file by their keywords (chunks of type tEXt: https://www.w3.org/TR/png-3/#11tEXt).
using PngTexts = std::map<std::string, std::string>;

/// Returns the bytes of a PNG file with 8 bits per channel. Equal images and texts give equal bytes. Throws
/// Error(device_failure) if memory runs out.
std::string encode_png(const Image& image, const PngTexts& texts);

/// Returns the texts in the bytes of a PNG file; those before the first damaged byte if the file is damaged
/// or no PNG file.
PngTexts texts_of_png(const std::string& bytes);

}  // namespace spsolve
