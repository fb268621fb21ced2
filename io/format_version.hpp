// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace spsolve {

/// The root of every file that spsolve writes has the attributes "format" and "format_version". The version
/// grows when an older program would misread a newer file.
constexpr std::string_view snapshot_format = "spsolve snapshot";
constexpr std::string_view checkpoint_format = "spsolve checkpoint";
constexpr std::string_view probes_format = "spsolve probes";
constexpr std::int64_t format_version = 1;
/// This version marks checkpoints that name their fields, because they hold others than the single field "u".
/// A program that knows only version 1 would continue without the other fields.
constexpr std::int64_t version_with_fields = 2;

}  // namespace spsolve
