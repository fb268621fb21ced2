// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/program.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "kernels/cuda/system/wall_tables.hpp"
#include "kernels/precision.hpp"

namespace spsolve::cuda {

/// Names a field in device memory and the time level whose walls its ghost points get.
struct FieldAtStep {
  int field;
  Field* array;
  std::int64_t step;
};

/// Fills ghost points beyond faces of BoundaryKind::filled in device memory, with the bits of fill_walls() on
/// CPUs. The units of one block, which work on several streams, share one filler and its tables.
///
/// Values of faces are computed on the host. Values that do not change in time are uploaded once. Values that
/// change are computed and uploaded for several time levels at once, ahead of the steps that need them. The
/// device waits for them only if the host computes them more slowly than the device takes steps.
class WallFiller {
 public:
  /// `fields` holds the grid with the walls of each field. Tables are uploaded on `stream`, which must
  /// outlive the filler. Starts to compile its kernel.
  WallFiller(std::vector<FilledFace> faces, std::vector<Domain> fields, Precision precision,
             cudaStream_t stream);

  /// Returns true if the ghost points of a field are filled.
  bool fills(std::size_t field) const { return fields_[field].has_filled_faces(); }
  const std::vector<FilledFace>& faces() const { return faces_; }
  /// Returns true if values change in time.
  bool changes() const { return changes_; }

  /// Makes sure that the tables hold the time levels from `first` to `last`, at most two steps later, for
  /// work that is ordered after the stream of the filler. Levels before `first` are forgotten. `like` is an
  /// array of the block, always of the same geometry.
  void provide(const Field& like, std::int64_t first, std::int64_t last);
  /// Fills the ghost points of arrays that mirror points of `known`, by launches on `stream`. Their levels
  /// must have been provided.
  void fill(std::span<const FieldAtStep> arrays, const Box& known, cudaStream_t stream) const;

 private:
  /// Holds page-locked host memory from which several levels are uploaded.
  struct UploadBuffer {
    PinnedBuffer memory;
    Event uploaded;
  };
  void begin(const Field& like);
  /// Computes and uploads levels that are not in the ring.
  void append(std::int64_t count);
  /// Returns the table of a time level.
  double* level(std::int64_t step) const;

  std::vector<FilledFace> faces_;
  std::vector<Domain> fields_;
  bool changes_;
  cudaStream_t stream_;
  Kernel kernel_;
  std::optional<WallTables> tables_;    // made when the geometry of the block is known
  DeviceBuffer constants_, levels_;     // `levels_` is a ring: time level n lies in slot n modulo slots_
  std::int64_t ahead_ = 1, slots_ = 1;  // levels of an upload, and of the ring
  std::int64_t begin_ = 0, end_ = 0;    // levels that the ring holds
  std::array<UploadBuffer, 2> staging_;
  std::size_t next_staging_ = 0;
};

}  // namespace spsolve::cuda
