// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace spsolve {

/// Returns the part of a path that only shells expand: "~" or "~name" in front, "$NAME", "${NAME}",
/// "$(command)", "`command`" or "%NAME%" anywhere. Without a shell it would become the name of a directory.
/// Returns an empty text if there is no such part.
std::string shell_word(const std::filesystem::path& path);

}  // namespace spsolve
