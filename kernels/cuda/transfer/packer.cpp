// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/transfer/packer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "kernels/domain.hpp"
#include "kernels/rounding.hpp"

namespace spsolve::cuda {
namespace {

constexpr unsigned largest_item = 16;  // bytes of one load
constexpr unsigned max_blocks = 8192;  // starting more blocks takes longer than looping

/// Returns where the rows of a box lie in fields of this geometry, whose first owned points lie at multiples
/// of 64 bytes.
RowLayout row_layout_of(const CopyPosition& place, const Index3& extent, const Field& field,
                        std::int64_t element) {
  if (const auto* offset = std::get_if<std::size_t>(&place))
    return {static_cast<long long>(*offset), extent[1] * extent[2] * element, extent[2] * element,
            AddressBase::buffer};
  const Index3 at = std::get<Index3>(place) - field.owned().begin;
  const Index3& strides = field.strides();
  return {(at[0] * strides[0] + at[1] * strides[1] + at[2]) * element, strides[0] * element,
          strides[1] * element, AddressBase::field};
}

/// Returns the rows that a reflection is made from, starting at its last element, row or plane along mirrored
/// axes.
RowLayout mirrored(RowLayout rows, const BoxCopy& copy, std::int64_t element) {
  if (copy.reflection.reversed[z_axis]) {
    rows.begin += (copy.extent[z_axis] - 1) * rows.plane_stride;
    rows.plane_stride = -rows.plane_stride;
  }
  if (copy.reflection.reversed[y_axis]) {
    rows.begin += (copy.extent[y_axis] - 1) * rows.row_stride;
    rows.row_stride = -rows.row_stride;
  }
  if (copy.reflection.reversed[x_axis]) rows.begin += (copy.extent[x_axis] - 1) * element;
  return rows;
}

Elements elements_of(Precision precision) {
  return precision == Precision::fp64   ? Elements::fp64
         : precision == Precision::bf16 ? Elements::bf16
         : precision == Precision::fp16 ? Elements::fp16
                                        : Elements::fp32;
}

/// Holds a box to copy, and possibly the column of one value beside it: the ghost points of a wall, about
/// which the other points are mirrored.
struct RowsAndGhost {
  BoxCopy box;
  std::optional<double> ghost = {};
  bool ghost_first = false;
};

/// Widens a copy to the first or last columns of the rows of a field to whole sectors of memory, if possible:
/// rows have room for them, and a sector that is written in part must be read first. A mirrored copy is
/// widened to whole items.
BoxCopy in_whole_sectors(const BoxCopy& copy, const Field& field, std::int64_t element) {
  const auto *from = std::get_if<Index3>(&copy.from), *to = std::get_if<Index3>(&copy.to);
  const bool mirrored = copy.reflection.reversed[x_axis];
  if (!from || !to || !(mirrored || copy.reflection.is_copy())) return copy;
  const std::int64_t columns = 32 / element, aligned = field.owned().begin[x_axis];
  const std::int64_t to_begin = (*to)[x_axis], to_end = to_begin + copy.extent[x_axis];
  const Box all = field.allocated();
  const std::int64_t before = to_begin == all.begin[x_axis] ? wrap(to_begin - aligned, columns) : 0,
                     after = to_end == all.end[x_axis] ? wrap(aligned - to_end, columns) : 0;
  const std::int64_t begin = (*from)[x_axis] - (mirrored ? after : before),
                     extent = before + copy.extent[x_axis] + after;
  const bool possible = mirrored ? begin >= all.begin[x_axis] && begin + extent <= all.end[x_axis] &&
                                       wrap(to_begin - before - aligned, largest_item / element) == 0
                                 : wrap(to_begin - (*from)[x_axis], columns) == 0;
  if (!possible) return copy;
  BoxCopy whole = copy;
  std::get<Index3>(whole.from)[x_axis] = begin;
  std::get<Index3>(whole.to)[x_axis] = to_begin - before;
  whole.extent[x_axis] = extent;
  return whole;
}

/// Returns the copy of a box in the form that the kernel reads, not yet joined with another box.
DeviceCopy device_copy(const RowsAndGhost& rows, const Field& field, std::int64_t element) {
  const BoxCopy copy = in_whole_sectors(rows.box, field, element);
  const RowLayout from = mirrored(row_layout_of(copy.from, copy.extent, field, element), copy, element),
                  to = row_layout_of(copy.to, copy.extent, field, element);
  const Reflection& reflection = copy.reflection;
  const bool mirrored_row = reflection.reversed[x_axis],
             is_reflection = mirrored_row || !reflection.keeps_values();
  const std::int64_t row_bytes = copy.extent[x_axis] * element;
  std::int64_t bits = largest_item | row_bytes | to.begin | to.plane_stride | to.row_stride;
  if (!mirrored_row) bits |= from.begin | from.plane_stride | from.row_stride;
  const unsigned of_addresses = 1u << std::countr_zero(static_cast<std::uint64_t>(bits)),
                 item = is_reflection && of_addresses != largest_item ? static_cast<unsigned>(element)
                                                                      : of_addresses,
                 items = static_cast<unsigned>(row_bytes / item);
  unsigned ghost = ~0u;
  if (rows.ghost) {
    const std::int64_t column = std::get<Index3>(rows.box.to)[x_axis] - std::get<Index3>(copy.to)[x_axis];
    ghost = static_cast<unsigned>(column + (rows.ghost_first ? 0 : rows.box.extent[x_axis] - 1));
  }
  return {.from = from,
          .to = to,
          .from_jump = 0,
          .to_jump = 0,
          .items = 0,
          .rows = static_cast<unsigned>(copy.extent[y_axis]),
          .items_per_row = items,
          .second = items,
          .offset = reflection.offset,
          .ghost_value = rows.ghost.value_or(0),
          .ghost = ghost,
          .item_bytes = item,
          .scale = static_cast<signed char>(reflection.scale),
          .elements = is_reflection ? elements_of(field.precision()) : Elements::any,
          .changed = !reflection.keeps_values(),
          .mirrored = mirrored_row};
}

/// Cuts a copy in two; the lower part has `points` points along an axis. The copy is within a field, or
/// slower axes have extent 1.
std::array<BoxCopy, 2> parts(const BoxCopy& copy, int axis, std::int64_t points, std::int64_t element) {
  BoxCopy low = copy, high = copy;
  low.extent[axis] = points;
  high.extent[axis] -= points;
  const auto skip = [&](CopyPosition& place, const BoxCopy& before) {
    if (auto* at = std::get_if<Index3>(&place))
      (*at)[axis] += before.extent[axis];
    else
      std::get<std::size_t>(place) += static_cast<std::size_t>(volume(before.extent) * element);
  };
  skip(high.to, low);
  if (copy.reflection.reversed[axis])
    skip(low.from, high);
  else
    skip(high.from, low);
  return {low, high};
}

/// Halves a copy along the slowest axis that has several points.
std::array<BoxCopy, 2> halves(const BoxCopy& copy, std::int64_t element) {
  const int axis = copy.extent[z_axis] > 1 ? z_axis : copy.extent[y_axis] > 1 ? y_axis : x_axis;
  return parts(copy, axis, copy.extent[axis] / 2, element);
}

/// Returns how many columns at the ends of rows keep a copy within a field from using the largest items. Rows
/// of a few items are left as they are.
std::int64_t odd_columns(const BoxCopy& copy, const Field& field, std::int64_t element) {
  constexpr std::int64_t few_items = 4;
  const std::int64_t columns = largest_item / element;
  const auto aligned = [&](const CopyPosition& place) {
    const auto* at = std::get_if<Index3>(&place);
    return at && wrap((*at)[x_axis] - field.owned().begin[x_axis], columns) == 0;
  };
  return !copy.reflection.reversed[x_axis] && aligned(copy.from) && aligned(copy.to) &&
                 copy.extent[x_axis] > few_items * columns
             ? copy.extent[x_axis] % columns
             : 0;
}

/// Cuts copies so that each has at most `max_points` points and odd columns are copies of their own. The
/// last copy comes first.
std::vector<BoxCopy> in_parts(std::vector<BoxCopy> left, const Field& field, std::int64_t element,
                              std::int64_t max_points) {
  std::vector<BoxCopy> result;
  while (!left.empty()) {
    const BoxCopy copy = left.back();
    left.pop_back();
    const std::int64_t odd = odd_columns(copy, field, element);
    if (volume(copy.extent) > max_points) {
      const auto both = halves(copy, element);
      left.insert(left.end(), both.begin(), both.end());
    } else if (odd > 0) {
      const auto both = parts(copy, x_axis, copy.extent[x_axis] - odd, element);
      left.insert(left.end(), both.begin(), both.end());
    } else if (volume(copy.extent) > 0) {
      result.push_back(copy);
    }
  }
  return result;
}

/// Returns true if two boxes have the same rows of a field.
bool share_rows(const BoxCopy& a, const BoxCopy& b, CopyPosition BoxCopy::*place) {
  const auto *first = std::get_if<Index3>(&(a.*place)), *second = std::get_if<Index3>(&(b.*place));
  return first && second && a.extent[z_axis] == b.extent[z_axis] && a.extent[y_axis] == b.extent[y_axis] &&
         (*first)[z_axis] == (*second)[z_axis] && (*first)[y_axis] == (*second)[y_axis];
}

/// Returns whether two plain copies go from the same rows to the same rows.
bool can_join(const BoxCopy& a, const BoxCopy& b) {
  return a.reflection.is_copy() && b.reflection.is_copy() && share_rows(a, b, &BoxCopy::from) &&
         share_rows(a, b, &BoxCopy::to);
}

/// Returns whether a copy fills one column with one value, as the ghost points of a wall are.
bool is_ghost(const BoxCopy& copy) { return copy.extent[x_axis] == 1 && copy.reflection.scale == 0; }

/// Returns whether the rows of a reflection are mirrored about a column of one value beside them.
bool mirrored_about(const BoxCopy& copy, const BoxCopy& column) {
  if (!is_ghost(column) || is_ghost(copy) || !copy.reflection.reversed[x_axis]) return false;
  if (!share_rows(copy, column, &BoxCopy::to) || !std::holds_alternative<Index3>(copy.from)) return false;
  const std::int64_t begin = std::get<Index3>(copy.to)[x_axis], ghost = std::get<Index3>(column.to)[x_axis];
  return ghost == begin - 1 || ghost == begin + copy.extent[x_axis];
}

RowsAndGhost with_ghost(BoxCopy copy, const BoxCopy& column) {
  auto &from = std::get<Index3>(copy.from)[x_axis], &to = std::get<Index3>(copy.to)[x_axis];
  const bool first = std::get<Index3>(column.to)[x_axis] < to;
  (first ? to : from) -= 1;
  copy.extent[x_axis] += 1;
  return {copy, column.reflection.offset, first};
}

/// Removes and returns the last box that fits.
template <class Fits>
std::optional<BoxCopy> extract_last(std::vector<BoxCopy>& boxes, const Fits& fits) {
  const auto found = std::find_if(boxes.rbegin(), boxes.rend(), fits);
  if (found == boxes.rend()) return std::nullopt;
  const BoxCopy result = *found;
  boxes.erase(std::next(found).base());
  return result;
}

class DevicePreparedCopies : public PreparedCopies {
 public:
  DevicePreparedCopies(const Kernel& kernel, cudaStream_t stream, const PackTable& table)
      : kernel_(kernel),
        stream_(stream),
        copies_(to_device(table.copies, stream)),
        first_pieces_(to_device(table.first_pieces, stream)),
        arguments_{{},
                   static_cast<const DeviceCopy*>(copies_.data()),
                   static_cast<const unsigned*>(first_pieces_.data()),
                   static_cast<int>(table.copies.size()),
                   table.pieces} {}

  void copy(Field& field, std::byte* buffer) const override {
    if (arguments_.pieces == 0) return;
    PackArguments arguments = arguments_;
    arguments.base[static_cast<int>(AddressBase::field)] =
        reinterpret_cast<unsigned char*>(field.bytes_at(field.owned().begin));
    arguments.base[static_cast<int>(AddressBase::buffer)] = reinterpret_cast<unsigned char*>(buffer);
    kernel_.launch(pack_blocks(arguments.pieces), pack_threads, 0, stream_, arguments);
  }

 private:
  const Kernel& kernel_;
  cudaStream_t stream_;
  DeviceBuffer copies_, first_pieces_;
  PackArguments arguments_;
};

}  // namespace

PackTable pack_table(const std::vector<BoxCopy>& boxes, const Field& field, std::int64_t max_points) {
  const auto element = static_cast<std::int64_t>(storage_bytes(field.precision()));
  std::vector<BoxCopy> left = in_parts(boxes, field, element, max_points);
  // Ghost columns come last; by then the boxes mirrored about them have taken them.
  std::stable_partition(left.begin(), left.end(), is_ghost);
  PackTable table;
  while (!left.empty()) {
    const BoxCopy box = left.back();
    left.pop_back();
    const auto ghost = extract_last(left, [&](const BoxCopy& other) { return mirrored_about(box, other); });
    DeviceCopy copy = device_copy(ghost ? with_ghost(box, *ghost) : RowsAndGhost{box}, field, element);
    if (const auto other =
            extract_last(left, [&](const BoxCopy& candidate) { return can_join(box, candidate); })) {
      const DeviceCopy second = device_copy({*other}, field, element);
      if (second.item_bytes == copy.item_bytes) {
        const long long bytes = static_cast<long long>(copy.second) * copy.item_bytes;
        copy.from_jump = second.from.begin - copy.from.begin - bytes;
        copy.to_jump = second.to.begin - copy.to.begin - bytes;
        copy.items_per_row += second.items_per_row;
      } else {
        left.push_back(*other);
      }
    }
    copy.items = static_cast<unsigned>(box.extent[z_axis]) * copy.rows * copy.items_per_row;
    table.copies.push_back(copy);
    table.first_pieces.push_back(table.pieces);
    table.pieces += ceil_div(copy.items, pack_threads);
  }
  return table;
}

unsigned pack_blocks(unsigned pieces) { return std::min(pieces, max_blocks); }

DevicePacker::DevicePacker(cudaStream_t stream, const KernelCompiler& compiler)
    : stream_(stream),
      kernel_(std::make_shared<const Kernel>(compiler.begin("kernels/cuda/transfer/pack.cuh", ""),
                                             "copy_boxes")) {}

std::unique_ptr<PreparedCopies> DevicePacker::prepare(std::vector<BoxCopy> copies, const Field& like) {
  return std::make_unique<DevicePreparedCopies>(*kernel_, stream_, pack_table(copies, like));
}

}  // namespace spsolve::cuda
