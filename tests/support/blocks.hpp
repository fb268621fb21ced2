// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "solver/block.hpp"
#include "tests/support/random_case.hpp"

namespace spsolve::testing {

/// All points of the grid, x fastest, on every rank.
inline std::vector<double> gathered(const Communicator& world, const Domain& domain, const Field& field) {
  std::vector<double> all(static_cast<std::size_t>(domain.box().points()));
  const auto own = points_of(field, field.owned());
  std::size_t i = 0;
  for_each_point(field.owned(), [&](const Index3& p) {
    all[static_cast<std::size_t>((p[0] * domain.shape[1] + p[1]) * domain.shape[2] + p[2])] = own[i++];
  });
  // Every other rank contributes +0: the sum is exact.
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM,
                          world.handle()));
  return all;
}

inline std::unique_ptr<Field> source_field(const Communicator& world, const RandomCase& problem,
                                           const Decomposition& decomposition, Precision precision,
                                           int fuse) {
  auto source = std::make_unique<Field>(decomposition.block(world.rank()),
                                        (fuse - 1) * problem.stencil.radius(), source_precision(precision));
  set_points(*source, source->owned(), problem.domain, problem.source);
  return source;
}

}  // namespace spsolve::testing
