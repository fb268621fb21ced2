// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/system/wall_filler.hpp"

#include <algorithm>
#include <utility>

#include "kernels/rounding.hpp"

namespace spsolve::cuda {
namespace {

constexpr std::int64_t max_levels_ahead = 64;   // levels of an upload, as launches that are in flight at most
constexpr std::int64_t upload_bytes = 4 << 20;  // bytes of several levels: more would not be faster
constexpr std::int64_t max_needed = 3;  // levels of one step: of previous values, of fields, of `.next`
constexpr std::int64_t max_fill_blocks = 4096;

}  // namespace

WallFiller::WallFiller(std::vector<FilledFace> faces, std::vector<Domain> fields, Precision precision,
                       cudaStream_t stream)
    : faces_(std::move(faces)),
      fields_(std::move(fields)),
      changes_(std::ranges::any_of(
          faces_, [](const FilledFace& face) { return face.values && face.varies_in_time; })),
      stream_(stream),
      kernel_(KernelCompiler(current_device().architecture()).begin("kernels/cuda/system/fill_walls.cuh", ""),
              "fill_walls_" + std::string(to_string(precision))) {}

void WallFiller::begin(const Field& like) {
  tables_.emplace(faces_, fields_, like.allocated(), like.halo());
  std::vector<double> constants(tables_->constant_size());
  tables_->write_constants(constants);
  constants_ = DeviceBuffer(constants.size() * sizeof(double));
  check_cuda(cudaMemcpyAsync(constants_.data(), constants.data(), constants_.bytes(), cudaMemcpyHostToDevice,
                             stream_));
  const auto level_bytes = static_cast<std::int64_t>(tables_->level_size() * sizeof(double));
  if (level_bytes == 0) return;
  ahead_ = std::clamp<std::int64_t>(upload_bytes / level_bytes, 1, max_levels_ahead);
  slots_ = ahead_ + max_needed;
  levels_ = DeviceBuffer(static_cast<std::size_t>(slots_ * level_bytes));
  for (UploadBuffer& staging : staging_)
    staging.memory = PinnedBuffer(static_cast<std::size_t>(std::max(ahead_, max_needed) * level_bytes));
}

void WallFiller::provide(const Field& like, std::int64_t first, std::int64_t last) {
  if (!tables_) begin(like);
  if (tables_->level_size() == 0) return;
  if (first < begin_ || first > end_) begin_ = end_ = first;
  if (last >= end_) append(std::max(ahead_, last + 1 - end_));
}

void WallFiller::append(std::int64_t count) {
  UploadBuffer& staging = staging_[next_staging_];
  next_staging_ = (next_staging_ + 1) % staging_.size();
  staging.uploaded.synchronize();  // two uploads ago
  const std::size_t size = tables_->level_size();
  auto* const values = static_cast<double*>(staging.memory.data());
  tables_->write_levels(end_, {values, static_cast<std::size_t>(count) * size});
  for (std::int64_t done = 0; done < count;) {  // the ring may end in between
    const std::int64_t slot = wrap(end_ + done, slots_), together = std::min(count - done, slots_ - slot);
    check_cuda(cudaMemcpyAsync(level(end_ + done), values + static_cast<std::size_t>(done) * size,
                               static_cast<std::size_t>(together) * size * sizeof(double),
                               cudaMemcpyHostToDevice, stream_));
    done += together;
  }
  staging.uploaded.record(stream_);
  end_ += count;
  begin_ = std::max(begin_, end_ - slots_);
}

double* WallFiller::level(std::int64_t step) const {
  return static_cast<double*>(levels_.data()) +
         static_cast<std::size_t>(wrap(step, slots_)) * tables_->level_size();
}

void WallFiller::fill(std::span<const FieldAtStep> arrays, const Box& known, cudaStream_t stream) const {
  if (known.empty()) return;
  while (!arrays.empty()) {
    std::vector<GhostsOf> ghosts;
    for (const FieldAtStep& one : arrays.first(std::min<std::size_t>(arrays.size(), max_filled_arrays)))
      ghosts.push_back({one.field, one.array, level(one.step)});
    arrays = arrays.subspan(ghosts.size());
    const FillArguments a =
        fill_arguments(*tables_, ghosts, static_cast<const double*>(constants_.data()), known);
    const std::int64_t points = a.first_point[6];
    if (points == 0) return;
    const std::int64_t blocks = std::min(ceil_div<std::int64_t>(points, fill_threads), max_fill_blocks);
    kernel_.launch({static_cast<unsigned>(blocks), static_cast<unsigned>(ghosts.size())}, fill_threads, 0,
                   stream, a);
  }
}

}  // namespace spsolve::cuda
