// SPDX-License-Identifier: Apache-2.0
// Fills ghost points beyond random walls by the kernel for GPUs, in an emulation of its blocks, and compares
// them bit for bit with those of CPUs. No GPU is needed.
#include <gtest/gtest.h>

#include <random>

#include "emulated.hpp"
#include "kernels/cpu/fill_walls.hpp"
#include "kernels/cuda/system/wall_tables.hpp"
#include "tests/support/fields.hpp"
#include "tests/support/random_walls.hpp"

namespace spsolve::cuda {
namespace {

/// Holds random walls of two fields on a block of a small grid, which may be thinner than its halo.
class WallCase {
 public:
  explicit WallCase(unsigned seed) : seed_(seed), random_(seed) {
    Domain domain;
    domain.dimensions = 1 + below(3);
    block = domain.box();
    for (int axis = domain.first_axis(); axis < axis_count; ++axis) {
      domain.shape[axis] = 1 + below(7);
      halo[axis] = below(4);
      if (below(4) > 0) domain.faces[axis] = {Face{BoundaryKind::neumann}, Face{BoundaryKind::neumann}};
      block.begin[axis] = below(3) > 0 ? 0 : below(static_cast<int>(domain.shape[axis]));
      block.end[axis] = below(3) > 0 ? domain.shape[axis]
                                     : block.begin[axis] + 1 +
                                           below(static_cast<int>(domain.shape[axis] - block.begin[axis]));
    }
    fields.assign(2, domain);
    for (int field = 0; field < 2; ++field) testing::fill_at_random(fields[field], field, random_, faces);
    known = domain.clip_to_walls(grow(block, halo));
    if (below(2))
      for (int axis = 0; axis < axis_count; ++axis) {
        known.begin[axis] += below(static_cast<int>(known.extent()[axis]));
        known.end[axis] -= below(static_cast<int>(known.extent()[axis]));
      }
    step = below(5) - 1;
    precision = std::array{Precision::fp64, Precision::fp32, Precision::bf16, Precision::fp16}[below(4)];
  }

  /// Returns random values of a field, the same at every call.
  Field values_of(int field) const {
    std::mt19937_64 random(2 * seed_ + static_cast<unsigned>(field));
    return testing::random_field(random, block, halo, precision);
  }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

  /// Returns true if p is a ghost point that mirrors a known one, along every axis in which it lies beyond a
  /// face.
  bool is_filled(const Index3& p) const {
    bool is_ghost = false;
    for (int axis = 0; axis < axis_count; ++axis) {
      const std::int64_t n = fields[0].shape[axis];
      std::int64_t mirrored = p[axis];
      if (!fields[0].periodic(axis) && (p[axis] < 0 || p[axis] >= n)) {
        is_ghost = true;
        if (!touches(fields[0], known, axis, p[axis] < 0 ? low : high)) return false;
        mirrored = reflect(mirrored, n);
      }
      if (mirrored < known.begin[axis] || mirrored >= known.end[axis]) return false;
    }
    return is_ghost;
  }

  std::vector<Domain> fields;
  std::vector<FilledFace> faces;
  Box block, known;
  Index3 halo{};
  std::int64_t step;
  Precision precision;

 private:
  unsigned seed_;
  std::mt19937 random_;
};

TEST(EmulatedFillWalls, HaveTheBitsOfCpus) {
  std::int64_t compared = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    WallCase what(seed);
    const auto points = [&](const Field& field) { return testing::points_of(field, field.allocated()); };
    std::array<Field, 2> wanted{what.values_of(0), what.values_of(1)},
        found{what.values_of(0), what.values_of(1)};
    const Box allocated = found[0].allocated();
    const WallTables tables(what.faces, what.fields, allocated, what.halo);
    std::vector<double> constants(tables.constant_size()), levels(2 * tables.level_size());
    tables.write_constants(constants);
    tables.write_levels(what.step - 1, levels);
    std::vector<GhostsOf> ghosts;
    for (int field = 0; field < 2; ++field) {
      fill_walls(wanted[field], what.fields[field], what.faces, field, what.known, what.step);
      ghosts.push_back({field, &found[field], levels.data() + tables.level_size()});
    }
    launch_emulated_fill_walls(fill_arguments(tables, ghosts, constants.data(), what.known), what.precision,
                               1 + what.below(3), 2);
    for (int field = 0; field < 2; ++field) {
      const auto before = points(what.values_of(field)), of_cpu = points(wanted[field]),
                 of_kernel = points(found[field]);
      std::size_t next = 0;
      for_each_point(allocated, [&](const Index3& p) {
        const std::size_t i = next++;
        const bool is_filled = what.is_filled(p);
        ASSERT_EQ(of_kernel[i], is_filled ? of_cpu[i] : before[i])
            << "seed " << seed << ", field " << field << " at " << p[0] << ", " << p[1] << ", " << p[2];
        compared += is_filled;
      });
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(compared, 3000);
}

}  // namespace
}  // namespace spsolve::cuda
