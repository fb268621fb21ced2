// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/system/system_group.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <ranges>
#include <set>
#include <span>
#include <utility>

#include "kernels/cuda/launch/arguments.hpp"
#include "kernels/cuda/system/system_arguments.hpp"
#include "kernels/error.hpp"
#include "kernels/operator/repeating_form.hpp"

namespace spsolve::cuda {
namespace {

constexpr std::size_t max_lines = 20000;  // lines of one function; NVRTC takes about a minute for this many

/// Returns a number as an expression of type Compute that keeps every bit.
std::string literal(double value) {
  if (std::isnan(value)) return "operations::not_a_number(Compute(0))";
  if (std::isinf(value)) return std::string(value < 0 ? "-" : "") + "operations::infinity(Compute(0))";
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "Compute(%a)", value);
  return text.data();
}

/// Returns the name of an operation as a function in operations.cuh; null for operators of C++.
const char* function_name(Operation operation) {
  switch (operation) {
    case Operation::power:
    case Operation::pow:
      return "power";
    case Operation::less:
      return "less";
    case Operation::less_equal:
      return "less_equal";
    case Operation::greater:
      return "greater";
    case Operation::greater_equal:
      return "greater_equal";
    case Operation::equal:
      return "equal";
    case Operation::not_equal:
      return "not_equal";
    case Operation::both:
      return "both";
    case Operation::either:
      return "either";
    case Operation::select:
      return "select";
    case Operation::absolute:
      return "absolute";
    case Operation::average:
      return "average";
    case Operation::maximum:
      return "maximum";
    case Operation::minimum:
      return "minimum";
    default:
      return is_function(operation) ? info_of(operation).name.data() : nullptr;
  }
}

class GroupText {
 public:
  /// With `splits`, a function of its own begins sums where this is possible (SplitGroup).
  GroupText(const Canonical& canonical, const std::vector<Domain>& fields, int first, int last,
            const std::array<int, 3>& axes, bool splits = false)
      : canonical_(canonical), fields_(fields), axes_(axes), splits_(splits), group_{first, last} {}

  SystemGroup written() {
    for (int s = group_.first; s < group_.last; ++s) write_statement(s);
    for (GroupInput& input : group_.inputs) std::ranges::sort(input.offsets);
    group_.text = function_head("advance_point", "next", group_.statements()) + lines_ + "}\n";
    group_.operations = operations_;
    return group_;
  }

  /// Returns the function that keeps values of `whole`, the group as a whole, with or without sums, unless
  /// the march would have to hold more values with it. With `takes`, values come from other threads, too.
  std::optional<KeptGroup> kept(const GroupText& whole, bool sums, bool takes) {
    computed_ = &whole.values_;
    keeps_sums_ = sums;
    takes_ = takes;
    group_.inputs = whole.group_.inputs;
    for (int s = group_.first; s < group_.last; ++s) write_statement(s);
    // Values are kept at the end of the function, because it reads those of the plane before until then.
    std::string keep;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const Index3 offset = kept_[i].offset + one_along(plane_axis);
      const std::string value = kept_[i].taps > 0 ? chain_of(kept_[i].number, offset, kept_[i].taps)
                                                  : value_of(kept_[i].number, offset);
      keep += "  at.template keep<" + std::to_string(i) + ">(" + value + ");\n";
    }
    if (kept_.empty() || static_cast<int>(kept_.size()) > planes_saved(whole) || is_too_long()) return {};
    KeptGroup result;
    result.values = static_cast<int>(kept_.size());
    result.operations = operations_;
    result.taken = static_cast<int>(taken_.size());
    result.reads = split_.finish_reads;
    result.reads_beyond_walls = keeps_beyond_walls_;
    result.planes = planes_kept();
    result.text =
        function_head(takes ? "advance_taken_point" : "advance_kept_point", "next", group_.statements()) +
        lines_of_kept() + lines_ + keep + "}\n";
    if (takes) result.text = text_of_taken() + result.text;
    if (!holds_reads_of_blocks(result.reads)) return {};
    return result;
  }

  /// Returns true if the function has more lines than a kernel takes. Its text is then incomplete.
  bool is_too_long() const { return line_count_ > max_lines; }

  /// Returns the group in two parts, if it has them.
  std::optional<SplitGroup> split() {
    const SystemGroup group = written();
    const bool is_split = split_.sums > 0 && std::ranges::all_of(split_.finish_reads, [&](const auto& read) {
                            return group.inputs[static_cast<std::size_t>(read.input)].is_coefficient ||
                                   (read.offset[1] == 0 && read.offset[2] == 0);
                          });
    if (!is_split) return {};
    split_.text =
        "template <class Points>\n__device__ __forceinline__ void begin_points(Points& at) {\n" +
        begin_lines_ +
        "}\ntemplate <class Points>\n__device__ __forceinline__ void continue_points(Points& at) {\n" +
        continue_lines_ + "}\n" + group.text;
    return std::move(split_);
  }

 private:
  /// Is a value that is kept: a node at a displaced point, or the first `taps` terms of a chain.
  struct Kept {
    int number;
    Index3 offset;
    std::size_t taps = 0;

    friend bool operator==(const Kept&, const Kept&) = default;
  };

  void write_statement(int s) {
    const Reading& equation = canonical_.equations[s];
    const std::string& name = canonical_.field_names[canonical_.fields[s]];
    const std::string value = value_of(equation.node, equation.offset);
    line("next[" + std::to_string(s - group_.first) + "] = " + value + ";  // " + name + ".next");
    // Later statements read the field rounded to storage.
    line("[[maybe_unused]] const Compute " + name + "_next = operations::as_stored<Stored>(next[" +
         std::to_string(s - group_.first) + "]);");
    advanced_[canonical_.fields[s]] = {s, name + "_next"};
  }

  /// Returns the head of a function of points that sets the elements of an array.
  static std::string function_head(const char* name, const char* array, int elements) {
    return std::string("template <class Point>\n__device__ __forceinline__ void ") + name +
           "(const Point& at, Compute (&" + array + ")[" + std::to_string(elements) + "]) {\n";
  }

  /// Returns a displacement of one point along a kernel axis.
  Index3 one_along(int axis) const {
    Index3 offset{};
    offset[axes_[axis]] = 1;
    return offset;
  }
  static std::string kept_name(std::size_t i) { return "kept_" + std::to_string(i); }
  /// Returns the name of a value of the last plane, and notes that it has to be kept.
  std::string keep(const Kept& value) {
    keeps_beyond_walls_ = keeps_beyond_walls_ || !walls_decide_;
    const auto known = std::ranges::find(kept_, value);
    if (known != kept_.end()) return kept_name(static_cast<std::size_t>(known - kept_.begin()));
    kept_.push_back(value);
    return kept_name(kept_.size() - 1);
  }
  /// Returns the largest number of planes for which a value is kept.
  int planes_kept() const {
    int planes = 0;
    for (const Kept& value : kept_) {
      int of_value = 0;
      for (Kept later = value; std::ranges::find(kept_, later) != kept_.end(); ++of_value)
        later.offset = later.offset + one_along(plane_axis);
      planes = std::max(planes, of_value);
    }
    return planes;
  }
  /// Returns lines that give the kept values their names.
  std::string lines_of_kept() const {
    std::string lines;
    for (std::size_t i = 0; i < kept_.size(); ++i)
      lines += "  [[maybe_unused]] const Compute " + kept_name(i) + " = at.template kept<" +
               std::to_string(i) + ">();\n";
    return lines;
  }

  /// Writes lines that take a value from the thread that has the point one column before, or compute it if
  /// that is the same thread. Returns the name of the value.
  std::string write_taken(int number, const Index3& offset) {
    const std::string name = name_of("taken_", number, offset);
    const Scope outside = begin_scope();
    const std::string value = value_of(number, offset), computed = end_scope(outside);
    line("Compute " + name + ";");
    line("if constexpr (Point::takes) {");
    line("  " + name + " = at.template taken<" + std::to_string(taken_.size()) + ">();");
    lines_ += "  } else {\n" + computed + "    " + name + " = " + value + ";\n  }\n";
    taken_.push_back(number);
    return name;
  }
  /// Returns the function of the values that other threads take.
  std::string text_of_taken() {
    const Scope outside = begin_scope();
    values_.clear();
    for (std::size_t i = 0; i < taken_.size(); ++i)
      line("values[" + std::to_string(i) + "] = " + value_of(taken_[i], Index3{}) + ";");
    return function_head("taken_values", "values", static_cast<int>(taken_.size())) + lines_of_kept() +
           end_scope(outside) + "}\n";
  }
  /// Holds what lines outside of a block know. Values that the block computes have no name after it, and its
  /// reads are not noted.
  struct Scope {
    std::string lines;
    std::map<Reading, std::string> values;
    std::vector<GroupRead> reads;
    const std::map<Reading, std::string>* computed;
    bool takes;
    int operations;
  };
  Scope begin_scope() {
    return {std::exchange(lines_, {}),    values_,    split_.finish_reads, std::exchange(computed_, nullptr),
            std::exchange(takes_, false), operations_};
  }
  /// Returns the lines of the block.
  std::string end_scope(const Scope& outside) {
    values_ = outside.values;
    reads_of_blocks_.insert(reads_of_blocks_.end(), split_.finish_reads.begin() + std::ssize(outside.reads),
                            split_.finish_reads.end());
    split_.finish_reads = outside.reads;
    computed_ = outside.computed;
    takes_ = outside.takes;
    operations_ = outside.operations;
    return std::exchange(lines_, outside.lines);
  }

  /// Returns true if the rows that blocks read at a thread's own points are among those of `reads`.
  bool holds_reads_of_blocks(const std::vector<GroupRead>& reads) const {
    return std::ranges::all_of(reads_of_blocks_, [&](const GroupRead& of_block) {
      return std::ranges::any_of(reads, [&](const GroupRead& read) {
        return read.input == of_block.input && read.offset[plane_axis] == of_block.offset[plane_axis] &&
               read.offset[row_axis] == of_block.offset[row_axis];
      });
    });
  }

  /// Returns how many planes of fields fewer this text holds than `whole`. Fields that are read as
  /// `.previous` are held anyway.
  int planes_saved(const GroupText& whole) const {
    int saved = 0;
    for (std::size_t i = 0; i < group_.inputs.size(); ++i) {
      const GroupInput& input = group_.inputs[i];
      const bool is_read_before = std::ranges::any_of(group_.inputs, [&](const GroupInput& other) {
        return !other.is_coefficient && other.index == input.index && other.level == Level::previous;
      });
      if (input.is_coefficient || is_read_before) continue;
      const auto oldest = [&](const std::vector<GroupRead>& reads) {
        int low = 0;
        for (const GroupRead& read : reads)
          if (read.input == static_cast<int>(i)) low = std::min(low, read.offset[plane_axis]);
        return low;
      };
      saved += oldest(split_.finish_reads) - oldest(whole.split_.finish_reads);
    }
    return saved;
  }

  void line(const std::string& text) {
    ++line_count_;
    if (!is_too_long()) (begins_ ? begin_lines_ : lines_).append("  ").append(text).append("\n");
  }

  /// Returns an expression for the value of a node at a displaced point; what is computed has a line of its
  /// own.
  std::string value_of(int number, const Index3& offset) {
    if (is_too_long()) return "0";
    const CanonicalNode& node = canonical_.nodes[number];
    switch (node.kind) {
      case NodeKind::number:
        return literal(node.number);
      case NodeKind::scalar:
        return "at.template scalar<" + std::to_string(node.index) + ">()";
      case NodeKind::coefficient:
        return read(true, node.index, Level::now, offset);
      case NodeKind::field:
        if (node.level == Level::next && advanced_.count(node.index)) return next_of(node.index, offset);
        return read(false, node.index, node.level, offset);
      case NodeKind::chain:
      case NodeKind::operation:
        break;
    }
    const bool is_kept = computed_ && computed_->contains({number, offset + one_along(plane_axis)});
    const auto known = values_.find({number, offset});
    if (known != values_.end()) {
      keeps_beyond_walls_ = keeps_beyond_walls_ || (is_kept && !walls_decide_);
      return known->second;
    }
    if (is_kept) return values_[{number, offset}] = keep({number, offset});
    if (takes_ && offset + one_along(column_axis) == Index3{} && computed_->contains({number, Index3{}}) &&
        !computed_->contains({number, one_along(plane_axis)}))
      return values_[{number, offset}] = write_taken(number, offset);
    const std::string name = node.kind == NodeKind::chain ? chain(number, offset) : operation(number, offset);
    return values_[{number, offset}] = name;
  }

  /// Returns the value that a statement of the group gives a field at a displaced point, as it is stored.
  /// Beyond the walls of the kernel axes from `axis` on it is the ghost value of the field; the slowest axis
  /// decides.
  std::string next_of(int field, const Index3& offset, int axis = 0) {
    const auto [statement, name] = advanced_.at(field);
    if (offset == Index3{}) return name;
    for (; axis < axis_count; ++axis) {
      const std::int64_t along = offset[axes_[axis]];
      const Face& face = fields_[field].faces[axes_[axis]][along < 0 ? low : high];
      const bool reflects = face.kind == BoundaryKind::neumann;
      if (along == 0 || !(reflects || face.kind == BoundaryKind::dirichlet)) continue;
      const std::string inside = next_of(field, offset, axis + 1);
      Index3 reflected = offset;
      reflected[axes_[axis]] = 0;
      const std::string beyond = reflects ? next_of(field, reflected, axis + 1)
                                          : "operations::as_stored<Stored>(" + literal(face.value) + ")";
      return "(at.template is_beyond<" + std::to_string(axis) + ", " + std::to_string(along) + ">() ? " +
             beyond + " : " + inside + ")";
    }
    const Reading& equation = canonical_.equations[statement];
    const bool outside = std::exchange(walls_decide_, walls_decide_ || offset[axes_[plane_axis]] < 0);
    const std::string value = value_of(equation.node, offset + equation.offset);
    walls_decide_ = outside;
    return "operations::as_stored<Stored>(" + value + ")";
  }

  std::string chain(int number, const Index3& offset) {
    const CanonicalNode& node = canonical_.nodes[number];
    const std::string name = name_of("chain_", number, offset);
    const std::size_t kept = keeps_sums_ && offset == Index3{} ? taps_to_keep(node) : 0,
                      begun = splits_ && offset == Index3{} ? taps_to_begin_with(node) : 0;
    if (begun > 0) return begin(node, name, begun);
    add_taps(node, name, offset, kept > 0 ? keep({number, offset, kept}) : start_of(node, offset), kept);
    return name;
  }
  /// Returns the sum of the first taps of a chain.
  std::string chain_of(int number, const Index3& offset, std::size_t taps) {
    const std::string name = name_of("begun_", number, offset);
    const CanonicalNode& node = canonical_.nodes[number];
    add_taps(node, name, offset, start_of(node, offset), 0, taps);
    return name;
  }
  /// Returns the value that a chain starts from, or an empty text if it starts from its first product.
  std::string start_of(const CanonicalNode& node, const Index3& offset) {
    return node.start ? value_of(node.start->node, offset + node.start->offset) : "";
  }
  /// Adds taps [first, last) of a chain to the sum so far, and names the result.
  void add_taps(const CanonicalNode& node, const std::string& name, const Index3& offset,
                const std::string& before, std::size_t first,
                std::size_t last = std::numeric_limits<std::size_t>::max()) {
    std::string sum = before;
    std::size_t added = 0;
    for (const ChainLink& link : node.links)
      for (const Tap& tap : link.stencil.taps()) {
        const std::size_t place = added++;
        if (place < first || place >= last) continue;
        const std::string value = value_of(link.node, offset + tap.offset);
        operations_ += !sum.empty() || std::abs(tap.weight) != 1.0;
        line((sum == name ? "" : "Compute ") + name + " = " +
             (sum.empty() ? product(tap.weight, value)
                          : "fused(" + literal(tap.weight) + ", " + value + ", " + sum + ")") +
             ";");
        sum = name;
      }
    if (sum != name) line("Compute " + name + " = " + sum + ";");
  }
  /// Returns the product of a weight and a value. Weights of 1 and -1 take no operation.
  static std::string product(double weight, const std::string& value) {
    if (weight == 1.0) return value;
    if (weight == -1.0) return "-(" + value + ")";
    return literal(weight) + " * " + value;
  }

  /// Returns how many taps of a chain read fields and coefficients in planes before that of the point, before
  /// anything else is added.
  std::size_t taps_to_keep(const CanonicalNode& node) const {
    std::size_t taps = 0;
    if (node.start && canonical_.nodes[node.start->node].kind != NodeKind::number) return 0;
    for (const ChainLink& link : node.links) {
      const CanonicalNode& read = canonical_.nodes[link.node];
      const bool is_read =
          read.kind == NodeKind::coefficient || (read.kind == NodeKind::field && read.level == Level::now);
      for (const Tap& tap : link.stencil.taps()) {
        if (!is_read || tap.offset[axes_[plane_axis]] >= 0) return taps;
        ++taps;
      }
    }
    return taps;
  }

  /// Writes the first taps of a chain to begin_points() and the others to continue_points(). Returns an
  /// expression for their sum.
  std::string begin(const CanonicalNode& node, const std::string& name, std::size_t taps) {
    const ChainLink& link = node.links.front();
    const std::span all(link.stencil.taps());
    begins_ = true;
    operations_ += static_cast<int>(all.size());
    line("typename Points::PointSums " + name + ";");
    line("at.start(" + name + ");");
    for (const Tap& tap : all.first(taps))
      line("at.template add<" + place_of(false, canonical_.nodes[link.node].index, Level::now, tap.offset) +
           ">(" + name + ", " + literal(tap.weight) + ");");
    line("at.template hold<" + std::to_string(split_.sums) + ">(" + name + ");");
    // The farthest planes come first: they complete a sum, whose register the next sum takes.
    const std::string number = std::to_string(split_.sums++);
    for (const Tap& tap : std::views::reverse(all.subspan(taps)))
      continue_lines_ += "  at.template add<" + number + ", " +
                         place_of(false, canonical_.nodes[link.node].index, Level::now, tap.offset) + ">(" +
                         literal(tap.weight) + ");\n";
    begins_ = false;
    return "at.template begun<" + number + ">()";
  }

  /// Returns how many taps of a chain are added before the planes after that of the point are read; 0 if the
  /// chain cannot be split there. The first part of the sum reads one field in the plane of the point and
  /// before it. The rest reads the field at the column of the point, in one plane after the other.
  std::size_t taps_to_begin_with(const CanonicalNode& node) const {
    if (node.start || node.links.size() != 1) return 0;
    const CanonicalNode& field = canonical_.nodes[node.links.front().node];
    if (field.kind != NodeKind::field || field.level != Level::now) return 0;
    const auto& taps = node.links.front().stencil.taps();
    const auto plane_of = [&](const Tap& tap) { return tap.offset[axes_[plane_axis]]; };
    const auto is_after = [&](const Tap& tap) { return plane_of(tap) > 0; };
    const auto first = std::ranges::find_if(taps, is_after);
    const bool is_column = std::all_of(first, taps.end(), [&](const Tap& tap) {
      return is_after(tap) && tap.offset[axes_[row_axis]] == 0 && tap.offset[axes_[column_axis]] == 0;
    });
    return is_column && first != taps.end() && std::ranges::is_sorted(first, taps.end(), {}, plane_of)
               ? static_cast<std::size_t>(first - taps.begin())
               : 0;
  }

  std::string operation(int number, const Index3& offset) {
    const CanonicalNode& node = canonical_.nodes[number];
    std::vector<std::string> operands;
    for (const Reading& operand : node.operands)
      operands.push_back(value_of(operand.node, offset + operand.offset));
    std::string value;
    if (const char* const function = function_name(node.operation)) {
      value = std::string("operations::") + function + "(";
      for (std::size_t i = 0; i < operands.size(); ++i) value += (i ? ", " : "") + operands[i];
      value += ")";
    } else if (node.operation == Operation::negate) {
      value = "-(" + operands[0] + ")";
    } else {
      value = operands[0] + " " + std::string(info_of(node.operation).name) + " " + operands[1];
    }
    const std::string name = name_of("value_", number, offset);
    ++operations_;
    line("const Compute " + name + " = " + value + ";");
    return name;
  }

  /// Returns the name of a value: "chain_3", displaced "chain_3_at_0_m1_2".
  static std::string name_of(const char* kind, int number, const Index3& offset) {
    std::string name = kind + std::to_string(number);
    if (offset == Index3{}) return name;
    name += "_at";
    for (const std::int64_t along : offset)
      name += (along < 0 ? "_m" : "_") + std::to_string(along < 0 ? -along : along);
    return name;
  }

  std::string read(bool is_coefficient, int index, Level level, const Index3& offset) {
    return "at.template read<" + place_of(is_coefficient, index, level, offset) + ">()";
  }

  /// Returns the name of an input and a displacement along kernel axes, as arguments of a template, and notes
  /// that they are read.
  std::string place_of(bool is_coefficient, int index, Level level, const Index3& offset) {
    const auto same = [&](const GroupInput& input) {
      return input.is_coefficient == is_coefficient && input.index == index && input.level == level;
    };
    auto input = std::ranges::find_if(group_.inputs, same);
    if (input == group_.inputs.end()) {
      constexpr std::array suffix{"_previous", "_now", "_next"};
      static_assert(static_cast<int>(Level::previous) == 0 && static_cast<int>(Level::next) == 2);
      const std::string name = is_coefficient
                                   ? "coefficient_" + std::to_string(index + 1)
                                   : canonical_.field_names[index] + suffix[static_cast<std::size_t>(level)];
      group_.inputs.push_back({is_coefficient, index, level, name});
      input = std::prev(group_.inputs.end());
    }
    const std::array<int, 3> along{static_cast<int>(offset[axes_[0]]), static_cast<int>(offset[axes_[1]]),
                                   static_cast<int>(offset[axes_[2]])};
    if (std::ranges::find(input->offsets, along) == input->offsets.end()) input->offsets.push_back(along);
    (begins_ ? split_.sum_reads : split_.finish_reads)
        .push_back({static_cast<int>(input - group_.inputs.begin()), along});
    return "array::" + input->name + ", " + std::to_string(along[0]) + ", " + std::to_string(along[1]) +
           ", " + std::to_string(along[2]);
  }

  const Canonical& canonical_;
  const std::vector<Domain>& fields_;
  std::array<int, 3> axes_;
  bool splits_;
  bool begins_ = false;  // lines are those of begin_point()
  SplitGroup split_;
  SystemGroup group_;
  std::map<Reading, std::string> values_;
  /// Holds the values that the whole function computes, if this text keeps some of them.
  const std::map<Reading, std::string>* computed_ = nullptr;
  bool keeps_sums_ = false, takes_ = false;
  bool walls_decide_ = false;  // `.next` of an earlier plane is being written
  bool keeps_beyond_walls_ = false;
  std::vector<Kept> kept_;
  std::vector<int> taken_;  // nodes
  std::vector<GroupRead> reads_of_blocks_;
  /// Holds by field the statement of the group that has advanced it, and the name of its value.
  std::map<int, std::pair<int, std::string>> advanced_;
  std::string lines_, begin_lines_, continue_lines_;
  std::size_t line_count_ = 0;
  int operations_ = 0;  // operations of the lines
};

/// Returns how many rows of inputs are read at columns before that of the point.
int rows_read_before(const std::vector<GroupRead>& reads) {
  std::set<std::array<int, 3>> rows;
  for (const GroupRead& read : reads)
    if (read.offset[column_axis] < 0)
      rows.insert({read.input, read.offset[plane_axis], read.offset[row_axis]});
  return static_cast<int>(rows.size());
}

/// Returns the reason if a group reads and writes more arrays, or the system has more scalars, than the
/// arguments of a kernel hold.
std::optional<NoKernel> no_room_for_arguments(const Canonical& canonical, const SystemGroup& group) {
  const auto arrays = static_cast<int>(group.inputs.size()) + group.statements();
  if (arrays > max_system_arrays) {
    const std::string advice = advice_on_displaced_formulas(canonical, arrays - max_system_arrays);
    return NoKernel{"statements read and write " + std::to_string(arrays) +
                    " arrays at once, and a kernel for GPUs takes " + std::to_string(max_system_arrays) +
                    (advice.empty() ? "" : "; to save arrays: " + advice)};
  }
  if (static_cast<int>(canonical.scalars.size()) > max_system_scalars)
    return NoKernel{std::to_string(canonical.scalars.size()) +
                    " values depend on t and step, and a kernel for GPUs takes " +
                    std::to_string(max_system_scalars)};
  return {};
}

}  // namespace

std::array<int, 3> reach_of(const GroupInput& input) {
  std::array<int, 3> reach{};
  for (const auto& offset : input.offsets)
    for (std::size_t axis = 0; axis < reach.size(); ++axis)
      reach[axis] = std::max(reach[axis], std::abs(offset[axis]));
  return reach;
}

OrNoKernel<SystemGroup> group_of(const Canonical& canonical, const std::vector<Domain>& fields, int first,
                                 int last, const std::array<int, 3>& axes) {
  GroupText whole(canonical, fields, first, last, axes);
  SystemGroup group = whole.written();
  if (whole.is_too_long())
    return NoKernel{"the statements from that of " + canonical.field_names[canonical.fields[first]] +
                    " to that of " + canonical.field_names[canonical.fields[last - 1]] + " have more than " +
                    std::to_string(max_lines) + " operations and weights, more than a kernel for GPUs takes"};
  if (auto none = no_room_for_arguments(canonical, group)) return *std::move(none);
  for (const bool sums : {true, false}) {
    if (group.kept) break;
    group.kept = GroupText(canonical, fields, first, last, axes).kept(whole, sums, false);
    if (!group.kept) continue;
    group.taken = GroupText(canonical, fields, first, last, axes).kept(whole, sums, true);
    // Every row that is read one column before the points of a thread takes a shuffle, and so does every
    // value that is taken.
    if (group.taken && (group.taken->taken == 0 || rows_read_before(group.taken->reads) + group.taken->taken >
                                                       rows_read_before(group.kept->reads)))
      group.taken.reset();
  }
  group.split = GroupText(canonical, fields, first, last, axes, true).split();
  return group;
}

void refuse_step(const NoKernel& none) {
  throw Error(InputKey{"equations", "step"}, ": " + none.why + "; compute.device = \"cpu\" does it");
}

Box region_of_united_groups(const SystemFacts& facts, const std::vector<Domain>& fields, const Box& region) {
  // These say how far each statement reads `.next`, through the statements that it reads too.
  std::vector<Index3> before(facts.reach_now.size()), after(facts.reach_now.size());  // by field
  Index3 max_before{}, max_after{};
  for (const EquationFacts& equation : facts.equations)
    for (const auto& [read, offsets] : equation.reach) {
      if (read.level != Level::next) continue;
      const auto from = static_cast<std::size_t>(read.field), to = static_cast<std::size_t>(equation.field);
      for (int axis = 0; axis < axis_count; ++axis) {
        before[to][axis] = std::max(before[to][axis], before[from][axis] - offsets.begin[axis]);
        after[to][axis] = std::max(after[to][axis], after[from][axis] + offsets.end[axis] - 1);
        max_before[axis] = std::max(max_before[axis], before[to][axis]);
        max_after[axis] = std::max(max_after[axis], after[to][axis]);
      }
    }
  Box inner = region;
  for (int axis = 0; axis < axis_count; ++axis) {
    const auto shows = [&](Side side, std::int64_t most) {
      return std::ranges::all_of(fields, [&](const Domain& field) {
        const BoundaryKind kind = field.faces[axis][side].kind;
        return kind == BoundaryKind::periodic || kind == BoundaryKind::dirichlet ||
               (kind == BoundaryKind::neumann && most <= 1);
      });
    };
    if (!shows(low, max_before[axis])) inner.begin[axis] = std::max(inner.begin[axis], max_before[axis]);
    if (!shows(high, max_after[axis]))
      inner.end[axis] = std::min(inner.end[axis], fields.front().shape[axis] - max_after[axis]);
  }
  return inner.empty() ? Box{} : inner;
}

}  // namespace spsolve::cuda
