// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/ceilings/sparse_gemm.hpp"

#include <cmath>

#include "kernels/cuda/launch/make_tensor_map.hpp"
#include "kernels/cuda/ptx/wgmma_text.hpp"
#include "kernels/cuda/runtime/constants_text.hpp"

namespace spsolve::cuda {
namespace {

constexpr int cluster_blocks = 2;

// Bytes of the pipeline stages, two chunks of metadata, and the barriers (Shared in sparse_gemm.cuh).
constexpr std::size_t shared_bytes(SparseGemm::Format format) {
  const std::size_t metadata = format == SparseGemm::Format::e4m3 ? 2048 : 1024;
  return gemm_stages * (gemm_tile_n * gemm_b_bytes + gemm_tile_m * gemm_a_bytes) + 2 * gemm_chunk * metadata +
         1024;
}

/// Returns the tensor map of a matrix with rows of `row_bytes` bytes, in boxes of `box_rows` x `box_bytes`.
TensorMap map_of(const DeviceBuffer& matrix, int rows, int row_bytes, int box_rows, int box_bytes,
                 Swizzle swizzle) {
  const long long pitch = row_bytes / 2;  // in elements of two bytes
  const View view{matrix.data(), {0, 0, 0}, {1, rows, pitch}, {rows * pitch, pitch, 1}, nullptr};
  return make_tensor_map(view, 2, box_rows, box_bytes / 2, swizzle);
}

double element_value(bool is_e4m3, unsigned bits) {
  const int fraction_bits = is_e4m3 ? 3 : 10, bias = is_e4m3 ? 7 : 15;
  const int exponent = static_cast<int>(bits >> fraction_bits & (is_e4m3 ? 0xf : 0x1f));
  const double fraction = bits & ((1u << fraction_bits) - 1);
  const double magnitude = std::ldexp(1 + std::ldexp(fraction, -fraction_bits), exponent - bias);
  return bits >> (is_e4m3 ? 7 : 15) & 1 ? -magnitude : magnitude;
}

}  // namespace

std::string SparseGemm::constants(Format format) {
  ConstantsText text({});
  text.flag("is_e4m3", format == Format::e4m3);
  text.integer("cluster_blocks", cluster_blocks);
  text.line(wgmma_function("wgmma", {format == Format::e4m3 ? "e4m3" : "f16"}));
  return text.finished();
}

SparseGemm::SparseGemm(Format format, int m, int n, int k, const KernelCompiler& compiler,
                       const Stream& stream)
    : format_(format),
      stream_(&stream),
      code_(compiler.begin("kernels/cuda/ceilings/sparse_gemm.cuh", constants(format))),
      multiply_(code_, "sparse_gemm", shared_bytes(format)),
      fill_(code_, "fill") {
  const int element_bytes = format == Format::e4m3 ? 1 : 2, a_row = k / 2 * element_bytes,
            b_row = k * element_bytes;
  a_ = DeviceBuffer(static_cast<std::size_t>(m) * a_row);
  b_ = DeviceBuffer(static_cast<std::size_t>(n) * b_row);
  c_ = DeviceBuffer(static_cast<std::size_t>(m) * n * sizeof(float));
  metadata_ = DeviceBuffer(static_cast<std::size_t>(m) * k / 8);  // two bits per kept element
  arguments_.a = map_of(a_, m, a_row, gemm_tile_m, gemm_a_bytes, Swizzle::bytes_64);
  arguments_.b = map_of(b_, n, b_row, gemm_tile_n / cluster_blocks, gemm_b_bytes, Swizzle::bytes_128);
  arguments_.a_data = a_.data();
  arguments_.b_data = b_.data();
  arguments_.metadata = static_cast<unsigned*>(metadata_.data());
  arguments_.c = static_cast<float*>(c_.data());
  arguments_.m = m, arguments_.n = n, arguments_.k = k;
  blocks_ = std::min(current_device().multiprocessors / cluster_blocks * cluster_blocks,
                     m / gemm_tile_m * (n / gemm_tile_n));
}

void SparseGemm::fill(Data data) {
  arguments_.exact = data == Data::exact;
  fill_.launch(1024, 256, 0, *stream_, arguments_);
}

void SparseGemm::launch() const {
  multiply_.launch(blocks_, gemm_threads, shared_bytes(format_), *stream_, arguments_);
}

int SparseGemm::wrong_entries(int samples) const {
  const bool is_e4m3 = format_ == Format::e4m3;
  const auto value = [&](unsigned matrix, long long place) {
    return element_value(is_e4m3, gemm_element(is_e4m3, arguments_.exact, gemm_hash(matrix, place)));
  };
  stream_->synchronize();
  int wrong = 0;
  for (int sample = 0; sample < samples; ++sample) {
    const long long row = gemm_hash(3, 2 * sample) % static_cast<unsigned>(arguments_.m);
    const long long column = gemm_hash(3, 2 * sample + 1) % static_cast<unsigned>(arguments_.n);
    const long long groups = arguments_.k / 4;
    double sum = 0;
    for (long long group = 0; group < groups; ++group) {
      const unsigned pattern = gemm_pattern(row * groups + group);
      for (const int kept : {0, 1})
        sum += value(0, (row * groups + group) * 2 + kept) *
               value(1, column * arguments_.k + 4 * group + (pattern >> 2 * kept & 3));
    }
    float found = 0;
    check_cuda(
        cudaMemcpy(&found, arguments_.c + row * arguments_.n + column, sizeof found, cudaMemcpyDeviceToHost));
    wrong += static_cast<double>(found) != sum;
  }
  return wrong;
}

}  // namespace spsolve::cuda
