// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "plot/image.hpp"

namespace spsolve {

/// Holds texts of a PNG file by their keywords, in UTF-8.
using PngTexts = std::map<std::string, std::string>;

/// Returns the bytes of a PNG file with 8 bits per channel. Texts are chunks of type tEXt, or iTXt if they
/// are not ASCII (https://www.w3.org/TR/png-3/#11textinfo). Equal images and texts give equal bytes. Throws
/// Error(device_failure) if memory runs out.
std::string encode_png(const Image& image, const PngTexts& texts);

/// Returns the texts of type tEXt in the bytes of a PNG file, or those before the first damaged byte if the
/// file is damaged or no PNG file.
PngTexts texts_of_png(const std::string& bytes);

}  // namespace spsolve
