// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/ceilings/sparse_gemm.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/cuda/ceilings/gemm_data.hpp"
#include "kernels/cuda/launch/make_tensor_map.hpp"
#include "kernels/cuda/ptx/wgmma_text.hpp"
#include "kernels/cuda/runtime/constants_text.hpp"
#include "kernels/rounding.hpp"

namespace spsolve::cuda {
namespace {

int element_bytes(GemmFormat format) { return format == GemmFormat::e4m3 ? 1 : 2; }

/// Returns the number of columns of A in a stage, kept or not.
int stage_columns(GemmFormat format, const GemmDesign& design) {
  return design.b_bytes() / element_bytes(format);
}

/// Returns the bytes of the metadata of 128 rows and a stage.
int metadata_bytes(GemmFormat format, const GemmDesign& design) {
  return stage_columns(format, design) / gemm_word_columns * gemm_metadata_rows * 2 * int{sizeof(unsigned)};
}

/// Returns the bytes of struct Shared in sparse_gemm.cuh, with room for its padding.
int shared_bytes(GemmFormat format, const GemmDesign& design) {
  constexpr int barriers = 1024;
  const int stage = gemm_columns * design.b_bytes() + design.consumers() * gemm_group_rows * design.a_bytes();
  const int pieces = design.metadata == GemmMetadata::apart           ? 2 * gemm_chunk
                     : design.metadata == GemmMetadata::with_operands ? design.stages
                                                                      : 0;
  return design.stages * stage + pieces * metadata_bytes(format, design) + barriers;
}

/// Returns the tensor map of a matrix with rows of `pitch` elements of two bytes, of which `columns` are
/// used, in boxes of `box_rows` x `box_columns`.
TensorMap map_of(const DeviceBuffer& matrix, int rows, long long columns, long long pitch, int box_rows,
                 int box_columns) {
  const View view{matrix.data(), {0, 0, 0}, {1, rows, columns}, {rows * pitch, pitch, 1}, nullptr};
  const Swizzle swizzle = box_columns == 64   ? Swizzle::bytes_128
                          : box_columns == 32 ? Swizzle::bytes_64
                                              : Swizzle::bytes_32;
  return make_tensor_map({view, 2, box_rows, box_columns}, swizzle);
}

DeviceBuffer zeroed(std::size_t bytes, const Stream& stream) {
  DeviceBuffer buffer(bytes);
  check_cuda(cudaMemsetAsync(buffer.data(), 0, bytes, stream));
  return buffer;
}

/// Returns the value of a normal number or zero.
double element_value(bool is_e4m3, unsigned bits) {
  const int fraction_bits = is_e4m3 ? 3 : 10, bias = is_e4m3 ? 7 : 15;
  const int exponent = static_cast<int>(bits >> fraction_bits & (is_e4m3 ? 0xf : 0x1f));
  if (exponent == 0) return 0;
  const double fraction = bits & ((1u << fraction_bits) - 1);
  const double magnitude = std::ldexp(1 + std::ldexp(fraction, -fraction_bits), exponent - bias);
  return bits >> (is_e4m3 ? 7 : 15) & 1 ? -magnitude : magnitude;
}

/// Returns a number of at least 2^-14 in magnitude, or zero, rounded to fp16.
double rounded_to_fp16(double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(value, 11 - exponent)), exponent - 11);
}

}  // namespace

std::string SparseGemm::constants(GemmFormat format, const GemmDesign& design) {
  ConstantsText text({});
  text.flag("is_e4m3", format == GemmFormat::e4m3);
  text.flag("specialised", design.specialised);
  text.flag("metadata_apart", design.metadata == GemmMetadata::apart);
  text.flag("metadata_with_operands", design.metadata == GemmMetadata::with_operands);
  text.flag("overlap", design.overlap);
  text.flag("early_release", design.early_release);
  text.flag("copied_results", design.copied_results);
  text.integer("a_bytes", design.a_bytes());
  text.integer("b_bytes", design.b_bytes());
  text.integer("ring", design.stages);
  text.integer("cluster_blocks", design.cluster_blocks);
  text.integer("shared_bytes", shared_bytes(format, design));
  text.line(wgmma_function("wgmma", {format == GemmFormat::e4m3 ? "e4m3" : "f16"}));
  return text.finished();
}

std::string SparseGemm::operand_constants(GemmFormat format) {
  ConstantsText text({});
  text.flag("is_e4m3", format == GemmFormat::e4m3);
  return text.finished();
}

SparseGemm::SparseGemm(GemmFormat format, int m, int n, int k, const GemmDesign& design,
                       const KernelCompiler& compiler, const Stream& stream)
    : format_(format),
      design_(design),
      stream_(&stream),
      multiply_(compiler.begin("kernels/cuda/ceilings/sparse_gemm.cuh", constants(format, design)),
                "sparse_gemm", static_cast<std::size_t>(shared_bytes(format, design))),
      fill_(compiler.begin("kernels/cuda/ceilings/gemm_operands.cuh", operand_constants(format)), "fill"),
      compress_(compiler.begin("kernels/cuda/ceilings/gemm_operands.cuh", operand_constants(format)),
                "compress") {
  constexpr int alignment = 16;  // the alignment of rows, in bytes
  const int element = element_bytes(format), stage = stage_columns(format, design);
  GemmOperands& o = operands_;
  o.m = m, o.n = n, o.k = k;
  o.pitch = round_up(static_cast<long long>(k) * element, alignment) / element;
  o.values_pitch = round_up(ceil_div(static_cast<long long>(k), 4) * 2 * element, alignment) / element;
  o.stages = static_cast<int>(round_up(ceil_div(static_cast<long long>(k), stage), gemm_chunk));
  o.words_per_stage = stage / gemm_word_columns;
  const auto bytes = [&](int rows, long long pitch) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(pitch * element);
  };
  a_ = zeroed(bytes(m, o.pitch), stream);
  b_ = zeroed(bytes(n, o.pitch), stream);
  values_ = zeroed(bytes(m, o.values_pitch), stream);
  const auto pieces = static_cast<std::size_t>(ceil_div(m, 2 * gemm_metadata_rows) * 2);
  metadata_ = DeviceBuffer(pieces * static_cast<std::size_t>(o.stages) *
                           static_cast<std::size_t>(metadata_bytes(format, design)));
  faults_ = DeviceBuffer(sizeof(int));
  o.a = a_.data(), o.b = b_.data(), o.values = values_.data();
  o.metadata = static_cast<unsigned*>(metadata_.data());
  o.faults = static_cast<int*>(faults_.data());

  GemmArguments& a = arguments_;
  a.m = m, a.n = n, a.stages = o.stages, a.metadata = o.metadata;
  a.pitch = round_up(static_cast<long long>(n), alignment / 2);
  c_ = zeroed(static_cast<std::size_t>(m) * static_cast<std::size_t>(a.pitch) * 2, stream);
  a.results = c_.data();
  const int tile_rows = design.consumers() * gemm_group_rows;
  const long long values = o.values_pitch * element / 2, elements = o.pitch * element / 2;
  a.a = map_of(values_, m, values, values, tile_rows, design.a_bytes() / 2);
  a.b = map_of(b_, n, elements, elements, gemm_columns / design.cluster_blocks, design.b_bytes() / 2);
  a.c = map_of(c_, m, n, a.pitch, gemm_group_rows, gemm_box_columns);
  const int tiles = ceil_div(m, tile_rows * design.cluster_blocks) * ceil_div(n, gemm_columns),
            resident = multiply_.resident_blocks(design.threads(),
                                                 static_cast<std::size_t>(shared_bytes(format, design))),
            clusters = current_device().multiprocessors * resident / design.cluster_blocks;
  blocks_ = std::min(clusters, tiles) * design.cluster_blocks;
}

void SparseGemm::compress() {
  check_cuda(cudaMemsetAsync(faults_.data(), 0, sizeof(int), *stream_));
  compress_.launch(1024, 256, 0, *stream_, operands_);
  int faults = 0;
  check_cuda(cudaMemcpyAsync(&faults, faults_.data(), sizeof faults, cudaMemcpyDeviceToHost, *stream_));
  stream_->synchronize();
  if (faults > 0)
    throw Error(Status::invalid_input,
                "sparse GEMM: A is not in 2:4 form: " + std::to_string(faults) +
                    " groups of four neighbours in a row have more than two elements that are not zero");
}

void SparseGemm::fill(Data data) {
  operands_.exact = data == Data::exact;
  fill_.launch(1024, 256, 0, *stream_, operands_);
  compress();
}

void SparseGemm::launch() const {
  multiply_.launch(static_cast<unsigned>(blocks_), static_cast<unsigned>(design_.threads()),
                   static_cast<std::size_t>(shared_bytes(format_, design_)), *stream_, arguments_);
}

int SparseGemm::wrong_entries(int samples) const {
  const GemmOperands& o = operands_;
  const bool is_e4m3 = format_ == GemmFormat::e4m3;
  stream_->synchronize();
  int wrong = 0;
  for (int sample = 0; sample < samples; ++sample) {
    // The first samples are the last entry and the first one.
    const long long row = sample == 0   ? o.m - 1
                          : sample == 1 ? 0
                                        : gemm_hash(3, 2 * sample) % static_cast<unsigned>(o.m);
    const long long column = sample == 0   ? o.n - 1
                             : sample == 1 ? 0
                                           : gemm_hash(3, 2 * sample + 1) % static_cast<unsigned>(o.n);
    double sum = 0;
    for (int k = 0; k < o.k; ++k)
      sum += element_value(is_e4m3, gemm_a_element(is_e4m3, o.exact, row, k, o.k)) *
             element_value(is_e4m3, gemm_b_element(is_e4m3, o.exact, k, column, o.k));
    unsigned short found = 0;
    check_cuda(cudaMemcpy(
        &found, static_cast<const unsigned short*>(arguments_.results) + row * arguments_.pitch + column,
        sizeof found, cudaMemcpyDeviceToHost));
    wrong += element_value(false, found) != rounded_to_fp16(sum);
  }
  return wrong;
}

LaunchTime time_when_right(SparseGemm& gemm, const std::string& name, double seconds, const Stream& stream) {
  constexpr int samples = 256;
  gemm.fill(SparseGemm::Data::exact);
  gemm.launch();
  if (const int wrong = gemm.wrong_entries(samples))
    throw Error(Status::device_failure, name + ": " + std::to_string(wrong) + " of " +
                                            std::to_string(samples) +
                                            " entries differ from the sums on the host");
  gemm.fill(SparseGemm::Data::random);
  return launch_time(stream, seconds, [&] { gemm.launch(); });
}

}  // namespace spsolve::cuda
