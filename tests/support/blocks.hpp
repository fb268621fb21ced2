// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "solver/block.hpp"
#include "tests/support/random_case.hpp"

namespace spsolve::testing {

/// Returns all points of the grid, x fastest, on every rank.
inline std::vector<double> gathered(const Communicator& world, const Domain& domain, const Field& field) {
  std::vector<double> all(static_cast<std::size_t>(domain.box().points()));
  const auto own = points_of(field, field.owned());
  std::size_t i = 0;
  for_each_point(field.owned(), [&](const Index3& p) {
    all[static_cast<std::size_t>(index_of(p, domain.shape))] = own[i++];
  });
  // All other ranks contribute +0, so the sum is exact.
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM,
                          world.handle()));
  return all;
}

/// Returns a function that sets the owned points of a field from a grid array.
inline FillField values_of(const Domain& domain, const std::vector<double>& values) {
  return [&](Field& field) { set_points(field, field.owned(), domain, values); };
}

/// Returns the rank grids of `ranks` ranks that fit a grid of points.
inline std::vector<Index3> rank_grids(const Index3& shape, int ranks) {
  std::vector<Index3> fitting;
  for (int z = 1; z <= ranks; ++z)
    for (int y = 1; z * y <= ranks; ++y)
      if (const Index3 grid{z, y, ranks / (z * y)};
          volume(grid) == ranks && grid[0] <= shape[0] && grid[1] <= shape[1] && grid[2] <= shape[2])
        fitting.push_back(grid);
  return fitting;
}

/// Returns a random rank grid of all ranks that fits the grid, or nothing.
inline std::optional<Index3> random_rank_grid(RandomCase& problem, int ranks) {
  const std::vector<Index3> fitting = rank_grids(problem.domain.shape, ranks);
  if (fitting.empty()) return std::nullopt;
  return fitting[static_cast<std::size_t>(problem.between(0, static_cast<std::int64_t>(fitting.size()) - 1))];
}

}  // namespace spsolve::testing
