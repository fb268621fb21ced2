// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "io/atomic_file.hpp"
#include "io/file_descriptor.hpp"

/// Small text files are read and written as a whole. A path may also name a stream. Every failure throws
/// Error(file_failure) with the file and the system's reason.
namespace spsolve {

/// Returns true if a path names a stream, which must not be replaced by a file: `-` (standard output or
/// input), an open descriptor (/dev/stdout, /dev/fd/3), a device, a named pipe or a socket.
bool is_stream(const std::filesystem::path& path);
/// Returns true if the path names the standard output.
bool is_standard_output(const std::filesystem::path& path);

/// Returns the file that a path leads to when all symbolic links are followed. The file need not exist, but
/// its directory must, and it must not be a directory: otherwise an Error names the path and its target.
std::filesystem::path followed(const std::filesystem::path& file);

/// Writes a small text file as a whole. Follows links. Writes to a stream directly.
void write_text(const std::filesystem::path& file, const std::string& text, Flush flush = Flush::now);
/// Appends to a text file, which is made if there is none, or writes to a stream.
void append_text(const std::filesystem::path& file, const std::string& text);

/// Opens a named pipe for writing, so that its reader does not see the end of the pipe after each text that
/// is written. Waits until a process reads the pipe, and throws Error(file_failure) if none does for ten
/// seconds. Returns nothing if the path names no pipe.
std::optional<FileDescriptor> keep_pipe_open(const std::filesystem::path& path);

/// Writes a small text file as a cache: several processes may write it at a time, and it may be lost. Makes
/// its directory.
void write_cache(const std::filesystem::path& file, const std::string& text);

/// Reads a whole text file, or a stream to its end. Throws Error(file_failure) if it has more than `most`
/// bytes, as a sparse file or a device may.
std::string read_text(const std::filesystem::path& file, std::int64_t most = std::int64_t{1} << 30);

}  // namespace spsolve
