// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/launch/stage_pipeline.cuh"
#include "kernels/cuda/ptx/async_copy.cuh"
#include "kernels/cuda/scalar/scalar_types.cuh"
#include "kernels/cuda/scalar/walls.cuh"

namespace spsolve::cuda {

/// A block holds this many columns and rows, halo included.
constexpr int tile_columns = 32 * constants::points_per_lane;
constexpr int tile_rows = constants::warps * constants::rows_per_warp;

/// Returns whether a tile lies across the ends of rows that repeat: half of its columns lie before the grid,
/// half after its beginning. Shared memory holds the two halves swapped, with the beginning of the rows
/// first, since the copy engine goes through memory upwards only.
__device__ inline bool is_across(long long first_column) { return wraps(column_axis) && first_column < 0; }
/// Returns where shared memory holds column c of the tile.
__device__ inline int held_column(long long first_column, int c) {
  return is_across(first_column) ? c ^ tile_columns / 2 : c;
}

/// Synchronises the block; with one warp, a warp barrier suffices.
__device__ inline void block_barrier() {
  if constexpr (constants::warps == 1)
    __syncwarp();
  else
    __syncthreads();
}

/// Copies the planes of a tile of a field to shared memory, one after the other. sm_90 uses the tensor copy
/// engine (one instruction per plane, or per row and 256 columns), sm_80 uses cp.async. Points outside the
/// memory of the field have any value.
template <class T>
class TileCopy {
 public:
  static constexpr int bytes = tile_rows * tile_columns * static_cast<int>(sizeof(T));
  // Is the number of columns of one tensor copy: at most 256; wider tiles are copied row by row.
  static constexpr int box_columns = tile_columns < 256 ? tile_columns : 256;
  static constexpr int box_rows = tile_columns > box_columns ? 1 : tile_rows;

  __device__ TileCopy(const ScalarArguments& a, const View& view, const TensorMap (&maps)[2],
                      long long first_plane, long long first_row, long long first_column)
      : a_(a),
        view_(view),
        maps_(maps),
        plane_(static_cast<int>(first_plane - view.begin[0])),
        row_(static_cast<int>(first_row - view.begin[1])),
        column_(static_cast<int>((is_across(first_column) ? 0 : first_column) - view.begin[2])) {}

  /// Starts the copy of the next plane. On sm_90 one thread calls it, on sm_80 all threads of the block do.
  __device__ void copy(T (*to)[tile_columns], [[maybe_unused]] unsigned long long* full) const {
    const bool across = wraps(column_axis) && column_ == 0;
#if __CUDA_ARCH__ >= 900
    for (int r = 0; r < tile_rows; r += box_rows)
#pragma unroll
      for (int c = 0; c < tile_columns; c += box_columns)
        if (c == 0 || !across)
          tensor_copy(&to[r][c], maps_[across], {column_ + c, 0, row_ + r, plane_}, full);
#else
    constexpr int elements = 16 / sizeof(T), chunks = tile_columns / elements;
    const long long plane = inside(plane_, 0) * view_.stride[0];
    for (int i = threadIdx.x; i < tile_rows * chunks; i += 32 * constants::warps) {
      const int row = i / chunks, column = i % chunks * elements;
      const bool end = across && column >= tile_columns / 2;  // the column lies at the end of rows
      const long long x = column_ + column + (end ? a_.row_period - tile_columns : 0),
                      width = view_.end[2] - view_.begin[2];
      if (x >= 0 && x < width)
        copy_16_bytes(&to[row][column], static_cast<const T*>(view_.data) + plane +
                                            inside(row_ + row, 1) * view_.stride[1] + x);
    }
#endif
  }
  /// Moves on to the next plane. All threads call it, so that the coordinate stays in registers that warps
  /// share.
  __device__ void advance() { ++plane_; }

 private:
  /// Clamps a coordinate to the memory of the field.
  __device__ long long inside(int p, int axis) const {
    return clamp(p, 0, view_.end[axis] - view_.begin[axis]);
  }

  const ScalarArguments& a_;
  const View& view_;
  const TensorMap (&maps_)[2];
  // These locate the first point of the tile in the next plane, relative to the memory of the field.
  int plane_, row_, column_;
};

/// Runs the pipeline of planes from global to shared memory. A stage holds one plane of a tile of the input
/// and, if there is a source, the source plane that is `lead` planes further.
template <int lead>
class PlanePipeline {
  static constexpr bool with_source = constants::with_source;
  static constexpr int stage_bytes = TileCopy<In>::bytes + (with_source ? TileCopy<Compute>::bytes : 0);

 public:
  static constexpr int stages = constants::stages;
  struct Storage {
    alignas(128) unsigned char planes[stages][stage_bytes];
    unsigned long long full[stages];
  };
  static_assert(TileCopy<In>::bytes % 128 == 0 && stage_bytes % 128 == 0, "where the copy engine writes");
  struct StagePlanes {
    const In (*input)[tile_columns];
    const Compute (*source)[tile_columns];  // undefined without a source
  };

  __device__ PlanePipeline(Storage& storage, const ScalarArguments& a, long long first_plane,
                           long long first_row, long long first_column)
      : storage_(storage),
        input_(a, a.in, a.in_map, first_plane, first_row, first_column),
        source_(a, a.source, a.source_map, first_plane + lead, first_row, first_column),
        pipeline_(storage.full) {
#if __CUDA_ARCH__ >= 900
    pipeline_.initialise();
    block_barrier();
#endif
  }

  /// Starts the copies of the next stage if it is `wanted`. No thread may still read the stage that it
  /// overwrites.
  __device__ void fetch(bool wanted) {
    if (wanted) copy_planes();
    pipeline_.commit();
  }

  /// Waits for the next stage and returns its planes. All threads of the block call it.
  __device__ StagePlanes wait() {
    const int stage = pipeline_.wait([] {
#if __CUDA_ARCH__ < 900
      block_barrier();
#endif
    });
    return {plane_in<In>(stage, 0), plane_in<Compute>(stage, TileCopy<In>::bytes)};
  }

 private:
  template <class T>
  __device__ T (*plane_in(int stage, int offset))[tile_columns] {
    return reinterpret_cast<T(*)[tile_columns]>(storage_.planes[stage] + offset);
  }

  __device__ void copy_planes() {
    const int stage = pipeline_.stage_to_fill();
    unsigned long long* const full = pipeline_.full();
#if __CUDA_ARCH__ >= 900
    const bool asks = threadIdx.x == 0;
    if (asks) mbarrier_expect(full, stage_bytes);
#else
    constexpr bool asks = true;
#endif
    if (asks) {
      input_.copy(plane_in<In>(stage, 0), full);
      if constexpr (with_source) source_.copy(plane_in<Compute>(stage, TileCopy<In>::bytes), full);
    }
    input_.advance();
    source_.advance();
    pipeline_.advance();
  }

  Storage& storage_;
  TileCopy<In> input_;
  TileCopy<Compute> source_;
  StagePipeline<stages> pipeline_;
};

}  // namespace spsolve::cuda
