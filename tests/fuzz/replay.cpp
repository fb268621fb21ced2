// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

/// Runs a fuzz target over the files of a directory and returns their number.
static int replay(const std::filesystem::path& directory) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    std::printf("%s\n", entry.path().c_str());
    std::fflush(stdout);  // if a file crashes, its name is the last one printed
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++files;
  }
  return files;
}

/// Runs a fuzz target over the files of directories, so that compilers without libFuzzer test the corpus.
int main(int argument_count, char** arguments) {
  for (int i = 1; i < argument_count; ++i)
    if (replay(arguments[i]) == 0) return 1;
  return argument_count > 1 ? 0 : 2;
}
