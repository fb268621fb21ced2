// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "kernels/cpu/bound_program.hpp"
#include "kernels/cpu/cpu_tiles.hpp"
#include "kernels/cpu/fill_walls.hpp"
#include "kernels/cpu/program_queries.hpp"
#include "kernels/cpu/statement_group.hpp"
#include "kernels/cpu/system_arrays.hpp"
#include "kernels/operator/filled_face.hpp"
#include "kernels/operator/interpret.hpp"
#include "kernels/operator/statement_boxes.hpp"
#include "kernels/operator/system_facts.hpp"
#include "kernels/state.hpp"

namespace spsolve {

/// Takes a region through one step of a system, group after group of its statements. Holds the data that all
/// rows share.
template <class Storage>
class SystemLaunch {
  using T = Compute<Storage>;

 public:
  SystemLaunch(const std::vector<StatementGroup>& groups, const SystemArrays<Storage>& arrays,
               const State& out, const Canonical& canonical, const SystemFacts& facts, bool bypasses_caches)
      : groups_(groups),
        arrays_(arrays),
        out_(out),
        canonical_(canonical),
        facts_(facts),
        radius_(halo_radius(facts, arrays.domains().front())),
        bypasses_caches_(bypasses_caches) {}

  /// `step` is the time level of the results.
  void run(const Box& region, std::span<const FilledFace> filled, std::int64_t step) const {
    const Domain& domain = arrays_.domains().front();
    const Axes axes(domain);
    const std::vector<Box> boxes = statement_boxes(facts_, domain, region);
    for (const StatementGroup& group : groups_) {
      Box all, common = boxes[group.first];
      for (int s = group.first; s < group.last; ++s) {
        all = hull_of(all, boxes[s]);
        common = intersect(common, boxes[s]);
      }
      const auto tiles =
          CpuTiles::for_single_step(all, axes, radius_, planes_of(group.joint, axes.stream), sizeof(T));
#pragma omp parallel
      {
        Work work(*this, group, boxes, common, all.extent()[x_axis]);
#pragma omp for schedule(static)
        for (std::int64_t i = 0; i < tiles.count(); ++i) work.tile(tiles[i], axes);
        // Non-temporal stores must be visible before another thread, or a message, reads them.
        std::atomic_thread_fence(std::memory_order_seq_cst);
      }
      // Later groups may read results beyond walls, so ghosts are filled between groups. The ghosts that the
      // next step reads are filled before that step.
      if (filled.empty() || group.last == static_cast<int>(boxes.size())) continue;
      for (int s = group.first; s < group.last; ++s) {
        const int field = canonical_.fields[s];
        fill_walls(out_[static_cast<std::size_t>(field)], arrays_.domains()[field], filled, field, boxes[s],
                   step);
      }
    }
  }

 private:
  /// Holds the memory that one thread needs for the tiles of a group.
  class Work {
   public:
    Work(const SystemLaunch& launch, const StatementGroup& group, const std::vector<Box>& boxes,
         const Box& common, std::int64_t longest)
        : launch_(launch),
          group_(group),
          boxes_(boxes),
          common_(common),
          joint_(group.joint, launch.arrays_, longest, launch.radius_[x_axis], launch.bypasses_caches_) {
      for (const StepProgram& program : group.single)
        single_.emplace_back(program, launch.arrays_, longest, launch.radius_[x_axis], false);
    }

    void tile(const Box& tile, const Axes& axes) {
      const Range x{tile.begin[x_axis], tile.end[x_axis]};
      for (std::int64_t s = tile.begin[axes.stream], planes; s < tile.end[axes.stream]; s += planes) {
        planes = joint_.planes_to_join();
        if (s + planes > tile.end[axes.stream]) planes = 1;
        for (std::int64_t c = tile.begin[axes.cross]; c < tile.end[axes.cross]; ++c) {
          const Index3 p = axes.point(s, c, 0);
          rows(p[z_axis], p[y_axis], x, static_cast<int>(planes));
        }
      }
    }

   private:
    /// Returns the points of a row at which all statements are needed.
    Range points_of_all(std::int64_t z, std::int64_t y, const Range& x) const {
      const Range all{std::max(x.begin, common_.begin[x_axis]), std::min(x.end, common_.end[x_axis])};
      return has_row(common_, z, y) && all.begin < all.end ? all : Range{x.begin, x.begin};
    }

    /// Computes the row {z, y} of each of `planes` planes from z on. All statements are computed together
    /// where all are needed; points that only one needs follow.
    void rows(std::int64_t z, std::int64_t y, const Range& x, int planes) {
      const Range together = points_of_all(z, y, x);
      const bool joins =
          planes == max_rows && has_row(common_, z + max_rows - 1, y) && joint_.joins_planes(z, y, together);
      if (joins) joint_.run(z, y, together, max_rows);
      for (int p = 0; p < planes; ++p) {
        const Range computed = points_of_all(z + p, y, x);
        if (!joins && computed.begin < computed.end) joint_.run(z + p, y, computed);
        rest_of_row(z + p, y, x, computed);
      }
    }

    /// Computes the points of a row at which not all statements are needed, and fills the ghost points.
    void rest_of_row(std::int64_t z, std::int64_t y, const Range& x, const Range& together) {
      for (int s = group_.first; s < group_.last; ++s) {
        const Box& box = boxes_[s];
        if (!has_row(box, z, y)) continue;
        const Range own{std::max(x.begin, box.begin[x_axis]), std::min(x.end, box.end[x_axis])};
        if (own.begin >= own.end) continue;
        if (together.begin < together.end) {
          run_single(s, z, y, {own.begin, together.begin});
          run_single(s, z, y, {together.end, own.end});
        } else {
          run_single(s, z, y, own);
        }
        fill_ghosts(s, z, y, own);
      }
    }

    void run_single(int statement, std::int64_t z, std::int64_t y, const Range& x) {
      if (x.begin >= x.end) return;
      if (single_.empty())
        joint_.run(z, y, x);
      else
        single_[static_cast<std::size_t>(statement - group_.first)].run(z, y, x);
    }

    void fill_ghosts(int statement, std::int64_t z, std::int64_t y, const Range& known) const {
      const int field = launch_.canonical_.fields[statement];
      const Box& box = boxes_[statement];
      fill_row_ends(
          launch_.arrays_, field, {z, y, 0}, launch_.radius_[x_axis], known,
          ends_to_fill(launch_.out_[static_cast<std::size_t>(field)], launch_.arrays_.domains()[field], known,
                       {box.begin[x_axis], box.end[x_axis]}));
    }

    const SystemLaunch& launch_;
    const StatementGroup& group_;
    const std::vector<Box>& boxes_;
    const Box& common_;
    BoundProgram<Storage> joint_;
    std::vector<BoundProgram<Storage>> single_;
  };

  const std::vector<StatementGroup>& groups_;
  const SystemArrays<Storage>& arrays_;
  const State& out_;
  const Canonical& canonical_;
  const SystemFacts& facts_;
  Index3 radius_;
  bool bypasses_caches_;
};

}  // namespace spsolve
