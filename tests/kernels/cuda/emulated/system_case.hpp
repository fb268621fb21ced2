// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <random>

#include "kernels/cuda/system/system_program.hpp"
#include "kernels/operator/repeating_form.hpp"
#include "tests/kernels/operator/example_steps.hpp"

namespace spsolve::cuda {

/// Holds an example system on a small grid with random walls, whose kernels are compiled for the host. The
/// program that writes their sources and the test make the same one.
class SystemCase {
 public:
  /// Makes the `number`-th of the examples, for a device of compute capability 8.0 or 9.0. Marches take small
  /// tiles, so that small grids have several.
  SystemCase(std::size_t number, Precision of_fields, int compute_capability)
      : limits{compute_capability, 163 << 10, 108},
        example(testing::example_steps().at(number)),
        precision(of_fields),
        canonical(canonical_form(testing::system_of(example))),
        facts(facts_of(canonical)),
        problem(problem_of(example, static_cast<unsigned>(number))) {
    // Steps that reach far across walls take another way through shared memory than on periodic grids. Where
    // all faces have one value, levels give it to all ghost points at once.
    if (reads_far(facts.radius[z_axis]))
      for (Domain& field : problem.context.fields) {
        if (compute_capability == 80) {
          const Face value{BoundaryKind::dirichlet, 0.25};
          field.faces.fill({value, value});
          continue;
        }
        field.faces[y_axis] = {Face{BoundaryKind::neumann}, Face{BoundaryKind::dirichlet, 0.5}};
        field.faces[x_axis] = {Face{BoundaryKind::dirichlet, 0.25}, Face{BoundaryKind::neumann}};
      }
    else if (facts.radius[z_axis] >= 4 && compute_capability == 90)
      // Copies fill all ghost points, beyond the ends of the march too.
      for (Domain& field : problem.context.fields)
        field.faces.fill({Face{BoundaryKind::dirichlet, 0.0}, Face{BoundaryKind::dirichlet, 0.0}});
    else if (precision == Precision::fp32 && compute_capability == 90 &&
             (example.name == "cellular patterns" || example.name == "cubic patterns"))
      // These steps read diagonal neighbours, and so what lies beyond two walls. There walls along the march
      // have the value 0, which copies fill in, and threads fill in other values across it.
      for (Domain& field : problem.context.fields) {
        const Face zero{BoundaryKind::dirichlet, 0.0};
        const bool has_planes = example.names.dimensions == 3;
        field.faces[z_axis] = {zero, zero};
        field.faces[y_axis] =
            has_planes ? std::array{Face{BoundaryKind::dirichlet, 0.5}, Face{BoundaryKind::neumann}}
                       : std::array{zero, zero};
        field.faces[x_axis] = {Face{BoundaryKind::dirichlet, 0.25}, Face{BoundaryKind::dirichlet, -0.5}};
      }
    else if (precision == Precision::fp64 && example.names.dimensions == 3 && facts.radius[z_axis] == 1 &&
             facts.groups.size() == 1)
      // Threads find their own values beyond walls that reflect across the march, and keep values of planes
      // where walls also end it. Beside the corners of the grid walls of both kinds meet.
      for (Domain& field : problem.context.fields) {
        const Face reflecting{BoundaryKind::neumann};
        const Face other = compute_capability == 90 ? reflecting : Face{BoundaryKind::dirichlet, 0.25};
        field.faces[z_axis] = {other, reflecting};
        field.faces[y_axis] = {reflecting, other};
        field.faces[x_axis] = {other, reflecting};
      }
    else if (compute_capability == 80 && example.names.dimensions == 3 && facts.groups.size() == 1)
      // Threads take values from their neighbours where no wall along rows and columns reflects; values that
      // are kept along the march begin at a wall that does (KeptGroup).
      for (Domain& field : problem.context.fields) {
        field.faces[z_axis] = {Face{BoundaryKind::neumann}, Face{BoundaryKind::dirichlet, 0.5}};
        field.faces[y_axis] = {Face{BoundaryKind::dirichlet, 0.25}, Face{BoundaryKind::dirichlet, 0.25}};
        field.faces[x_axis] = {Face{BoundaryKind::dirichlet, -0.5}, Face{BoundaryKind::dirichlet, 0.25}};
      }
    else if (compute_capability == 80 && example.names.dimensions == 2)
      // Walls reflect along the march and across it.
      for (Domain& field : problem.context.fields) {
        field.faces[y_axis] = {Face{BoundaryKind::neumann}, Face{BoundaryKind::dirichlet, 0.5}};
        field.faces[x_axis] = {Face{BoundaryKind::neumann}, Face{BoundaryKind::neumann}};
      }
    // Beyond reflecting walls marches of several groups read `.next` one point away at most. Values that are
    // kept for several planes are so on periodic grids only.
    if (facts.groups.size() > 1 && facts.radius[x_axis] > 2)
      for (Domain& field : problem.context.fields)
        for (const int axis : {y_axis, x_axis}) {
          const Face face = compute_capability == 90 ? Face{BoundaryKind::dirichlet, 0.25} : Face{};
          field.faces[axis] = {face, face};
        }
    // Coordinates that are read displaced do not repeat along periodic axes, as fields do.
    const Domain periodic{example.names.dimensions, problem.context.shape(), {}};
    if (repeating_form(canonical, periodic).coefficients != canonical.coefficients)
      problem.context.fields.assign(problem.context.fields.size(), periodic);
    if (precision == Precision::fp16 && compute_capability == 80) fill_walls();
    canonical = repeating_form(canonical, problem.context.fields.front());
    facts = facts_of(canonical);
    for (const auto& [first, last] : facts.groups)
      programs.push_back(
          required(SystemProgram::make(canonical, problem.context.fields, first, last, of_fields)));
    if (facts.groups.size() > 1)
      programs.push_back(required(SystemProgram::make(
          canonical, problem.context.fields, 0, static_cast<int>(canonical.equations.size()), of_fields)));
  }

  /// Returns constants.cuh of a group, for both of its kernels if there is a march.
  std::string constants(std::size_t group) const {
    const auto march = tile(programs[group]);
    return march ? programs[group].march_constants(*march, limits) : programs[group].point_constants();
  }

  /// Returns how many steps one launch takes, if it takes several.
  int steps() const {
    std::int64_t reach = 1;
    for (const std::int64_t along : facts.radius) reach = std::max(reach, along);
    if (reads_far(reach)) return 3;
    // Plans choose these depths for waves and heat conduction.
    if (precision == Precision::fp32 && limits.compute_capability == 90) {
      if (example.name == "standing wave") return 9;
      if (example.name == "heat in two materials") return 5;
    }
    const std::int64_t margin = example.names.dimensions == 3 ? 2 : 4;
    return static_cast<int>(1 + std::max<std::int64_t>(1, margin / reach));
  }
  /// Returns the tile of a march of several steps that works on points, or why there is none.
  OrNoKernel<FusedTile> fused() const {
    // In fp64 a row of a grid with three axes is that of a warp; in fp32 every thread has two points of it.
    // On grids with two axes it is the other way round, unless steps need rows of warps.
    const bool has_planes = example.names.dimensions == 3, is_fp64 = precision == Precision::fp64;
    OrNoKernel<FusedTile> made = fused(is_fp64 == has_planes ? 1 : 2);
    if (!has_planes && std::holds_alternative<NoKernel>(made)) made = fused(2);
    if (auto* const tile = std::get_if<FusedTile>(&made)) tile->has_points = true;
    return made;
  }
  /// Returns constants.cuh of march_steps.cuh.
  std::string fused_constants() const { return programs.back().fused_constants(required(fused()), limits); }

  /// Returns the tile of a group, or nothing on grids of one axis.
  std::optional<SystemTile> tile(const SystemProgram& program) const {
    if (example.names.dimensions == 1) return {};
    SystemTile wanted;
    wanted.columns = 32;
    wanted.thread_rows = example.names.dimensions == 3 ? 2 : 1;
    wanted.rows_of_thread = example.names.dimensions == 3 ? 2 : 1;
    wanted.ahead = 2;
    return program.tile(limits, wanted);
  }

  BlockLimits limits;
  testing::ExampleStep example;
  Precision precision;
  Canonical canonical;
  SystemFacts facts;
  testing::RandomProblem problem;
  std::vector<FilledFace> filled;       // with one value each, at all times
  std::vector<SystemProgram> programs;  // by group; then all groups as one, if there are several

 private:
  /// Makes all faces of all fields filled ones, of all conditions.
  void fill_walls() {
    int number = 0;
    for (std::size_t field = 0; field < problem.context.fields.size(); ++field)
      for (int axis = problem.context.fields[field].first_axis(); axis < axis_count; ++axis)
        for (const Side side : {low, high}) {
          problem.context.fields[field].faces[axis][side] = {BoundaryKind::filled};
          FilledFace face{
              static_cast<int>(field), axis, side, static_cast<WallCondition>(number % 4), 0.75, 0.5};
          face.values = [c = 0.1 + 0.2 * number](const Index3&, std::int64_t, std::span<double> values) {
            std::ranges::fill(values, c);
          };
          face.varies_along_face = face.varies_in_time = false;
          filled.push_back(std::move(face));
          number += 3;
        }
  }

  OrNoKernel<FusedTile> fused(int columns_of_thread) const {
    const bool has_planes = example.names.dimensions == 3;
    SystemTile wanted;
    wanted.columns_of_thread = columns_of_thread;
    wanted.columns = has_planes ? 32 * columns_of_thread : 64;
    wanted.thread_rows = has_planes ? 4 : 1;
    wanted.rows_of_thread = has_planes ? 3 : 1;
    wanted.ahead = 2;
    if (reads_far(facts.radius[z_axis])) {
      // A warp has two rows, and margins leave two rows of a tile.
      wanted.columns = 32;
      wanted.thread_rows = 6;
    }
    const auto with = [&](const BlockLimits& available) {
      return fused_tile(canonical, facts, problem.context.fields, precision, steps(), available, wanted,
                        filled);
    };
    OrNoKernel<FusedTile> made = with(limits);
    auto* const tile = std::get_if<FusedTile>(&made);
    if (!tile || !tile->splits || precision != Precision::fp64) return made;
    // Stores of levels replace what the same iteration has read where shared memory is short.
    BlockLimits less = limits;
    less.shared_bytes = static_cast<std::size_t>(tile->tile.shared_bytes) - 1;
    return with(less);
  }

  /// Returns true if three steps are taken although they reach far: old values of two levels wait in shared
  /// memory then. In fp64 there is not enough of it.
  bool reads_far(std::int64_t reach) const {
    return reach >= 4 && example.names.dimensions == 3 && precision == Precision::fp32;
  }

  static testing::RandomProblem problem_of(const testing::ExampleStep& example, unsigned seed) {
    std::mt19937 random(seed);
    testing::RandomProblem problem(example, random, 1);
    // There are two tiles along rows and along x, the last ones partly beyond the grid.
    const int dimensions = example.names.dimensions;
    problem.resize({dimensions == 3 ? 11 : 1, dimensions == 3 ? 9 : dimensions > 1 ? 11 : 1, 39}, random);
    return problem;
  }
};

}  // namespace spsolve::cuda
