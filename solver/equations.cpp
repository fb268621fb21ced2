// SPDX-License-Identifier: Apache-2.0
#include "solver/equations.hpp"

#include <utility>

#include "kernels/operator/linearity.hpp"
#include "kernels/operator/repeating_form.hpp"

namespace spsolve {

Equations::Equations(const Canonical& form, std::vector<Domain> walls, double time_step,
                     std::vector<FilledFace> filled_faces)
    : canonical(repeating_form(form, walls.front())),
      facts(facts_of(canonical)),
      domains(std::move(walls)),
      dt(time_step),
      filled(std::move(filled_faces)),
      stencil(single_stencil(canonical)) {}

Box Equations::coefficient_box(std::size_t coefficient, const Box& region) const {
  const Box& offsets = facts.coefficient_reach[coefficient];  // half-open
  // Statements are computed around the region too.
  const Box advanced = grow(region, radius());
  return {advanced.begin + offsets.begin, advanced.end + offsets.end - Index3{1, 1, 1}};
}

}  // namespace spsolve
