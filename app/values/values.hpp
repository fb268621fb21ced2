// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/setup/setup.hpp"
#include "app/setup/value_sections.hpp"
#include "app/values/value_summary.hpp"
#include "halo/communicator.hpp"
#include "io/input/config.hpp"
#include "kernels/field.hpp"

namespace spsolve {

/// Reads a section that is a dataset, divided among the ranks, and returns the facts of its values, as fill()
/// does. Returns nothing if the dataset cannot be read. Collective.
std::optional<ValueFacts> facts_of(const Communicator& communicator, const RunConfig& config,
                                   const ValueSection& section);

/// Evaluates every formula and opens every file that the input names, each rank for the points of its own
/// block. Returns the facts of the values by the names of value_sections(). Shows progress if reading takes
/// long. Collective.
std::map<std::string, ValueFacts> check_values(const Communicator& communicator, const Setup& setup);

/// Sets the owned points of a field from a formula or a dataset and returns the facts of all values.
/// Collective.
ValueFacts fill(const Communicator& communicator, const RunConfig& config, const ValueSection& section,
                Field& field);

/// Holds the values of all coefficients of an input on a box of points. Beyond the faces of the grid they
/// wrap if the axis is periodic, and are mirrored otherwise.
class CoefficientValues {
 public:
  /// Reads the values. Collective; `box` may be empty, and all ranks throw if one finds an error.
  CoefficientValues(const Communicator& communicator, const RunConfig& config, const Box& box);

  double at(std::size_t coefficient, const Index3& p) const {
    std::size_t index = 0;
    for (int axis = 0; axis < axis_count; ++axis)
      index = index * places_[axis].size() + place_of(axis, p[axis]);
    return values_[coefficient][index];
  }
  /// Returns the facts of a coefficient on the grid of `shape`. This rank owns the points of `owned`, which
  /// lie in the box. Collective.
  ValueFacts facts(const Communicator& communicator, std::size_t coefficient, const Index3& shape,
                   const Box& owned) const;

 private:
  std::size_t place_of(int axis, std::int64_t p) const {
    return static_cast<std::size_t>(columns_[axis][static_cast<std::size_t>(p - box_.begin[axis])]);
  }
  void read(const Communicator& communicator, const RunConfig& config, std::size_t coefficient);

  Box box_;
  std::array<std::vector<std::int64_t>, 3> places_;   // by axis: points of the grid that are held, in order
  std::array<std::vector<std::int64_t>, 3> columns_;  // by axis: for each point of the box its place
  std::vector<Box> parts_;                   // the parts of the grid that are held; as many on every rank
  std::vector<std::vector<double>> values_;  // by coefficient, x fastest
};

}  // namespace spsolve
