// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "kernels/operator/canonical.hpp"
#include "kernels/operator/filled_face.hpp"
#include "kernels/operator/statement_boxes.hpp"
#include "kernels/operator/system_facts.hpp"

namespace spsolve {

/// Holds a system of equations to be solved: what a step computes, and the walls of each field. The values of
/// derived coefficients belong to blocks (Block::set_coefficient).
struct Equations {
  /// `walls` holds the grid with the walls of each field; grid and periodic axes are the same for all.
  Equations(const Canonical& form, std::vector<Domain> walls, double time_step,
            std::vector<FilledFace> filled_faces = {});

  Canonical canonical;  // in the form that repeats along periodic axes (repeating_form())
  SystemFacts facts;
  std::vector<Domain> domains;  // by field
  double dt;
  std::vector<FilledFace> filled;
  /// The weights of a step if it is one weighted sum over a single field (single_stencil()).
  std::optional<Stencil> stencil;

  bool has_previous(std::size_t field) const { return !facts.reach_previous[field].empty(); }
  /// Returns true if memory holds the ghost points beyond some wall, which are filled before every launch of
  /// a march.
  bool fills_ghosts() const { return !filled.empty(); }
  /// Returns how far around a block the fields of a step are read or computed.
  Index3 radius() const { return halo_radius(facts, domains.front()); }
  /// Returns the box of points around `region` at which a launch that advances it reads a derived
  /// coefficient.
  Box coefficient_box(std::size_t coefficient, const Box& region) const;
};

}  // namespace spsolve
