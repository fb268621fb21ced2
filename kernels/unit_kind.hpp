// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace spsolve {

/// Names the arithmetic that advances a block: plain cores, or the weights of fused steps on dense or sparse
/// (2:4) tensor cores.
enum class UnitKind { scalar, tensor, sparse_tensor };
/// Holds the names that inputs use, in the order of UnitKind.
inline constexpr std::array<std::string_view, 3> unit_kind_names{"scalar", "tensor", "sparse-tensor"};

/// Names the way in which the weights of a stencil become an operand of tensor cores.
enum class Layout { strided_swap, morph, natural_order, dual_tessellation, separable };
/// Holds the names that inputs use, in the order of Layout.
inline constexpr std::array<std::string_view, 5> layout_kind_names{"strided-swap", "morph", "natural-order",
                                                                   "dual-tessellation", "separable"};

/// Returns the layout of fp64 weights. GPUs multiply dense slices of the window in natural order
/// (slice_dense()); CPUs emulate the dual tessellation of ConvStencil.
constexpr Layout fp64_layout(bool gpu) { return gpu ? Layout::natural_order : Layout::dual_tessellation; }

constexpr std::string_view to_string(UnitKind unit) {
  return unit_kind_names[static_cast<std::size_t>(unit)];
}
constexpr std::string_view to_string(Layout layout) {
  return layout_kind_names[static_cast<std::size_t>(layout)];
}

/// Returns the unit of that name, and nothing for any other name, "auto" and "none" included.
constexpr std::optional<UnitKind> parse_unit_kind(std::string_view name) {
  for (std::size_t i = 0; i < unit_kind_names.size(); ++i)
    if (unit_kind_names[i] == name) return static_cast<UnitKind>(i);
  return {};
}
constexpr std::optional<Layout> parse_layout(std::string_view name) {
  for (std::size_t i = 0; i < layout_kind_names.size(); ++i)
    if (layout_kind_names[i] == name) return static_cast<Layout>(i);
  return {};
}

/// Returns the name of a unit or layout, or `otherwise` ("auto", "none") where there is none.
template <class Kind>
constexpr std::string_view name_or(const std::optional<Kind>& kind, std::string_view otherwise) {
  return kind ? to_string(*kind) : otherwise;
}

}  // namespace spsolve
