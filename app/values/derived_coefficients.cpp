// SPDX-License-Identifier: Apache-2.0
#include "app/values/derived_coefficients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>

#include "halo/collectively.hpp"
#include "kernels/operator/interpret.hpp"
#include "kernels/operator/interpret_coefficient.hpp"

namespace spsolve {
namespace {

/// Finds the first value of a derived coefficient on a grid that is a number in double and infinite in the
/// format that holds it. Several threads may look at rows.
class BeyondRange {
 public:
  explicit BeyondRange(const Box& grid) : grid_(grid) {}

  template <class Storage>
  void look_at(const Index3& begin, std::span<const double> row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!std::isfinite(row[i]) || std::isfinite(stored_value(to_storage<Storage>(row[i])))) continue;
      const Index3 place = begin + Index3{0, 0, static_cast<std::int64_t>(i)};
      const std::scoped_lock lock(mutex_);
      if (!contains(grid_, place) || (place_ && *place_ <= place)) continue;
      place_ = place;
      value_ = row[i];
    }
  }

  /// Throws on all ranks if one has found a value. Collective.
  void require_none(const Communicator& communicator, const RunConfig& config, const Problem& problem,
                    std::size_t coefficient) const {
    collectively(communicator, [&] {
      if (!place_) return;
      const Canonical& canonical = problem.equations->canonical;
      std::string place;
      for (int axis = axis_count - 1; axis >= config.grid.domain.first_axis(); --axis)
        place += fmt::format("{}{} = {}", place.empty() ? "" : ", ", axis_names[axis],
                             config.grid.coordinate(axis, (*place_)[axis]));
      throw Error(
          InputKey{"equations", "step"},
          fmt::format(
              ": {} is {:g} at {}, beyond the range of fp32, in which sums of {} are taken; [compute] "
              "precision = \"fp64\" holds it",
              text_of(canonical.terms, canonical.coefficients[coefficient],
                      {canonical.dimensions, canonical.field_names, canonical.coefficient_names}),
              value_, place, to_string(problem.precision)));
    });
  }

 private:
  Box grid_;
  std::mutex mutex_;
  std::optional<Index3> place_;
  double value_ = 0;
};

}  // namespace

Box coefficient_leaves(const Equations& equations, const Box& box) {
  const Canonical& canonical = equations.canonical;
  Box leaves;
  for (std::size_t i = 0; i < canonical.coefficients.size(); ++i)
    leaves = hull_of(leaves, coefficient_leaves(canonical.terms, canonical.coefficients[i],
                                                equations.coefficient_box(i, box)));
  return leaves;
}

LeafRow leaf_rows(const Grid& grid, const CoefficientValues& values) {
  return [&](const Term& term, const Index3& first, std::span<double> row) {
    const int axis = term.index;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Index3 p = first + Index3{0, 0, static_cast<std::int64_t>(i)};
      row[i] = term.kind == TermKind::coordinate ? grid.coordinate(axis, p[axis])
                                                 : values.at(static_cast<std::size_t>(term.index), p);
    }
  };
}

void require_derived_in_range(const Communicator& communicator, const RunConfig& config,
                              const Problem& problem, const CoefficientValues& values, const Box& box) {
  const Canonical& canonical = problem.equations->canonical;
  if (sum_precision(problem.precision) == Precision::fp64) return;
  const LeafRow leaf = leaf_rows(config.grid, values);
  for (std::size_t i = 0; i < canonical.coefficients.size(); ++i) {
    BeyondRange beyond(problem.domain.box());
    interpret_coefficient(
        canonical, i, problem.domain, box, leaf,
        [&](const Index3& first, std::span<const double> row) { beyond.look_at<float>(first, row); });
    beyond.require_none(communicator, config, problem, i);
  }
}

namespace {

/// Fills the derived coefficients of a block from `values`, which hold their coefficient_leaves().
/// Collective.
void fill_derived(const Communicator& communicator, const RunConfig& config, const Problem& problem,
                  const CoefficientValues& values, Block& block) {
  const Canonical& canonical = problem.equations->canonical;
  const LeafRow leaf = leaf_rows(config.grid, values);
  for (std::size_t i = 0; i < canonical.coefficients.size(); ++i) {
    BeyondRange beyond(problem.domain.box());
    block.set_coefficient(i, [&](Field& field) {
      with_storage(field.precision(), [&]<class Storage>() {
        interpret_coefficient(canonical, i, problem.domain, field.owned(), leaf,
                              [&](const Index3& first, std::span<const double> row) {
                                std::ranges::transform(row, field.at<Storage>(first), to_storage<Storage>);
                                beyond.look_at<Storage>(first, row);
                              });
      });
    });
    beyond.require_none(communicator, config, problem, i);
  }
}

}  // namespace

std::map<std::string, ValueFacts> fill_coefficients(const Communicator& communicator, const RunConfig& config,
                                                    const Problem& problem, Block& block) {
  if (!config.equations) return {};
  Box box = block.owned();
  if (problem.equations) box = hull_of(box, coefficient_leaves(*problem.equations, block.advanced()));
  const CoefficientValues values(communicator, config, box);
  if (problem.equations) fill_derived(communicator, config, problem, values, block);
  std::map<std::string, ValueFacts> facts;
  for (std::size_t i = 0; i < config.equations->coefficients.size(); ++i)
    facts[coefficient_section(config, config.equations->coefficients[i].name)] =
        values.facts(communicator, i, problem.domain.shape, block.owned());
  return facts;
}

}  // namespace spsolve
