// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "kernels/field.hpp"

namespace spsolve {

/// The parts of a case, such as star2d1r:fp32:10240x10240:8.
inline std::vector<std::string> split(const std::string& text, char separator) {
  std::istringstream stream(text);
  std::vector<std::string> parts;
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

/// Random values in [0, 1) in device memory, the same 16 MB again and again: nothing in the kernels depends
/// on the data.
inline void fill_random(Field& field) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> value(0.0, 1.0);
  with_storage(field.precision(), [&]<class Storage>() {
    std::vector<Storage> block((std::size_t{16} << 20) / sizeof(Storage));
    for (Storage& element : block) element = to_storage<Storage>(value(random));
    const std::size_t lead = reinterpret_cast<std::uintptr_t>(field.bytes_at(field.allocated().begin)) % 64;
    std::byte* begin = field.bytes_at(field.allocated().begin) - lead;
    for (std::size_t done = 0; done < field.bytes(); done += block.size() * sizeof(Storage))
      cuda::check_cuda(cudaMemcpy(begin + done, block.data(),
                                  std::min(block.size() * sizeof(Storage), field.bytes() - done),
                                  cudaMemcpyHostToDevice));
  });
}

}  // namespace spsolve
