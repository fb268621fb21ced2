// SPDX-License-Identifier: Apache-2.0
#include "solver/equations.hpp"

#include <string>
#include <utility>

#include "kernels/error.hpp"
#include "kernels/operator/statement_boxes.hpp"

namespace spsolve {

Equations::Equations(Canonical form, std::vector<Domain> walls, double time_step,
                     std::vector<FilledFace> filled_faces)
    : canonical(std::move(form)),
      facts(facts_of(canonical)),
      domains(std::move(walls)),
      dt(time_step),
      filled(std::move(filled_faces)) {
  if (const auto axis = axis_of_ambiguous_coordinate(canonical, facts, domains.front()))
    throw Error(InputKey{"equations", "step"},
                std::string(": a statement whose .next is read displaced along ") + "zyx"[*axis] +
                    ", which is periodic, may not use the coordinate " + "zyx"[*axis] +
                    " displaced along it; give the formula that uses it a name in [coefficients], whose "
                    "values repeat");
}

Box Equations::coefficient_box(std::size_t coefficient, const Box& region) const {
  const Box& offsets = facts.coefficient_reach[coefficient];  // half-open
  // Statements are computed around the region too.
  const Box advanced = grow(region, radius());
  return {advanced.begin + offsets.begin, advanced.end + offsets.end - Index3{1, 1, 1}};
}

}  // namespace spsolve
