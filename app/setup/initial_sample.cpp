// SPDX-License-Identifier: Apache-2.0
#include "app/setup/initial_sample.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/setup/value_sections.hpp"
#include "kernels/rounding.hpp"

namespace spsolve {
namespace {

constexpr std::array<std::int64_t, 3> longest{4096, 128, 32};  // edges of a part in 1D, 2D and 3D, in points
constexpr std::int64_t most_parts = 5;
constexpr std::int64_t most_steps = 64;                // launches of more are rare
constexpr std::int64_t most_products = 1'000'000'000;  // of weights and values in all steps, some seconds

/// Describes the boxes of a sample: their extent, how many there are, and how many steps they can take.
struct SampleSize {
  Index3 extent;
  std::int64_t parts = 1, steps = most_steps;
};

/// At least a third of a part is judged after all its steps. There are no steps if even one takes too many
/// products.
SampleSize size_of(const Domain& grid, const Stencil& stencil) {
  SampleSize size{};
  for (int axis = 0; axis < axis_count; ++axis) {
    const std::int64_t radius = stencil.radius()[axis],
                       edge = std::max(longest[static_cast<std::size_t>(grid.dimensions - 1)], 3 * radius);
    size.extent[axis] = std::min(grid.shape[axis], edge);
    if (size.extent[axis] == grid.shape[axis]) continue;
    size.parts = std::max(size.parts, std::min(most_parts, ceil_div(grid.shape[axis], edge)));
    if (radius > 0) size.steps = std::min(size.steps, edge / (3 * radius));
  }
  const std::int64_t products = size.parts * box_of(size.extent).points() * std::ssize(stencil.taps());
  size.steps = std::min(size.steps, most_products / products);
  return size;
}

/// Returns the part that lies in a box of the grid, without values. `margin` is the number of points that a
/// face may reach.
SampledPart part_of(const Domain& grid, const Box& box, const Index3& margin) {
  SampledPart part{{grid.dimensions, box.extent(), grid.faces}, box_of(box.extent()), {}, {}};
  for (int axis = 0; axis < axis_count; ++axis) {
    if (box.extent()[axis] == grid.shape[axis]) continue;
    if (grid.periodic(axis) || box.begin[axis] > 0) {
      part.domain.faces[axis][low] = {BoundaryKind::neumann};
      part.judged.begin[axis] += margin[axis];
    }
    if (grid.periodic(axis) || box.end[axis] < grid.shape[axis]) {
      part.domain.faces[axis][high] = {BoundaryKind::neumann};
      part.judged.end[axis] -= margin[axis];
    }
  }
  return part;
}

/// Returns the values of a section on a box that rank 0 reads, x fastest; other ranks get none. Collective.
std::vector<double> values_on_root(const Communicator& communicator, const RunConfig& config,
                                   const ValueSection& section, const Box& box) {
  const Box own = communicator.root() ? box : Box{};
  std::vector<double> values(static_cast<std::size_t>(own.points()));
  read_values(communicator, config, section, {}, own, [&](const Index3& begin, std::span<const double> row) {
    std::ranges::copy(row, values.begin() + index_of(begin - box.begin, box.extent()));
  });
  return values;
}

}  // namespace

InitialSample initial_sample(const Communicator& communicator, const RunConfig& config,
                             const Problem& problem) {
  const Domain& grid = problem.domain;
  const auto [extent, parts, steps] = size_of(grid, problem.stencil);
  InitialSample sample{static_cast<int>(steps)};
  if (steps == 0) return sample;
  const auto sections = value_sections(config);
  const auto read = [&](const std::string& name, const Box& box) {
    const auto section = std::ranges::find(sections, name, &ValueSection::name);
    if (section == sections.end()) throw std::logic_error("the input has no section " + name);
    return values_on_root(communicator, config, *section, box);
  };
  for (std::int64_t i = 0; i < parts; ++i) {
    Box box;
    for (int axis = 0; axis < axis_count; ++axis)
      box.begin[axis] = parts == 1 ? 0 : (grid.shape[axis] - extent[axis]) * i / (parts - 1);
    box.end = box.begin + extent;
    SampledPart part = part_of(grid, box, steps * problem.radius());
    part.field = read(initial_section(config, problem.field_name(0)), box);
    if (problem.has_source) part.source = read("source", box);
    if (communicator.root()) sample.parts.push_back(std::move(part));
  }
  return sample;
}

}  // namespace spsolve
