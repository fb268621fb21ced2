// SPDX-License-Identifier: Apache-2.0
#include "app/setup/bench_errors.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/reference.hpp"
#include "solver/block.hpp"

namespace spsolve {
namespace {

/// Returns data that look random, a function of the point alone (splitmix64; Steele, Lea and Flood 2014), in
/// [-1, 1).
double initial_value(const Index3& p) {
  auto bits = static_cast<std::uint64_t>((p[0] * 1000003 + p[1]) * 1000003 + p[2]) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((bits ^ (bits >> 31)) >> 11) * 0x1p-52 - 1.0;
}

/// Returns the initial value rounded to a storage precision; the reference starts from these.
double stored_initial_value(const Index3& p, Precision precision) {
  return with_storage(precision,
                      [&]<class Storage>() { return stored_value(to_storage<Storage>(initial_value(p))); });
}

}  // namespace

void set_benchmark_data(Field& field) {
  with_storage(field.precision(), [&]<class Storage>() {
    const Box& owned = field.owned();
#pragma omp parallel for collapse(2) schedule(static)
    for (std::int64_t z = owned.begin[z_axis]; z < owned.end[z_axis]; ++z)
      for (std::int64_t y = owned.begin[y_axis]; y < owned.end[y_axis]; ++y)
        for (std::int64_t x = owned.begin[x_axis]; x < owned.end[x_axis]; ++x)
          *field.at<Storage>({z, y, x}) = to_storage<Storage>(initial_value({z, y, x}));
  });
}

Errors measure_errors(const Communicator& communicator, const Problem& problem, const Field& state,
                      int steps) {
  double sums[2] = {}, largest[2] = {};
  const Box owned = state.owned();
  for (int corner = 0; corner <= 8; ++corner) {
    Box sample = owned;
    for (int axis = 0; axis < axis_count; ++axis) {
      const std::int64_t side = problem.domain.dimensions == 1   ? 512
                                : problem.domain.dimensions == 2 ? 24
                                                                 : 8;
      if (corner == 8)
        sample.begin[axis] += std::max<std::int64_t>(0, (owned.extent()[axis] - side) / 2);
      else if (corner >> axis & 1)
        sample.begin[axis] = std::max(owned.begin[axis], owned.end[axis] - side);
      sample.end[axis] = std::min(owned.end[axis], sample.begin[axis] + side);
    }
    // Ghost values that the reference assumes at the ends of this box, inside the grid, do not reach the
    // sample.
    const Box cone = problem.domain.clip_to_walls(grow(sample, steps * problem.stencil.radius()));
    Domain local = problem.domain;
    local.shape = cone.extent();
    const auto data = [&](Precision precision) {
      std::vector<double> values;
      for_each_point(cone, [&](Index3 p) {
        for (int axis = 0; axis < axis_count; ++axis) p[axis] = wrap(p[axis], problem.domain.shape[axis]);
        values.push_back(stored_initial_value(p, precision));
      });
      return values;
    };
    std::vector<double> source;
    if (problem.has_source) source = data(sum_precision(problem.precision));
    const std::vector<double> values = reference_steps(local, problem.stencil, data(problem.precision), steps,
                                                       problem.has_source ? &source : nullptr);
    with_storage(problem.precision, [&]<class Storage>() {
      std::size_t i = 0;
      for_each_point(cone, [&](const Index3& p) {
        const double expected = values[i++];
        if (!contains(sample, p)) return;
        const double error = stored_value(*state.at<Storage>(p)) - expected;
        sums[0] += error * error;
        sums[1] += expected * expected;
        largest[0] = std::max(largest[0], std::abs(error));
        largest[1] = std::max(largest[1], std::abs(expected));
      });
    });
  }
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, communicator.handle()));
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPI_DOUBLE, MPI_MAX, communicator.handle()));
  return {std::sqrt(sums[0] / sums[1]), largest[0] / largest[1]};
}

}  // namespace spsolve
