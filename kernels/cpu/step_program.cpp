// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/step_program.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "kernels/cpu/make_tap_schedule.hpp"

namespace spsolve {

namespace {

/// Calls `visit` for the operands of a node, displaced with it; taps are operands too.
template <class Visit>
void for_each_operand(const CanonicalNode& node, const Index3& at, Visit&& visit) {
  for (const Reading& operand : node.operands) visit(Reading{operand.node, at + operand.offset});
  if (node.start) visit(Reading{node.start->node, at + node.start->offset});
  for (const ChainLink& link : node.links)
    for (const Tap& tap : link.stencil.taps()) visit(Reading{link.node, at + tap.offset});
}

bool is_computed(const CanonicalNode& node) {
  return node.kind == NodeKind::chain || node.kind == NodeKind::operation;
}

/// Returns the number of loads that it takes to compute each node from fields, up to a million.
std::vector<std::int64_t> costs_of(const Canonical& canonical) {
  std::vector<std::int64_t> costs;
  for (const CanonicalNode& node : canonical.nodes) {
    std::int64_t cost = 1;
    for_each_operand(node, {}, [&](const Reading& operand) {
      cost = std::min<std::int64_t>(cost + costs[operand.node], 1'000'000);
    });
    costs.push_back(cost);
  }
  return costs;
}

/// Finds which nodes at which rows {z, y} get rows of intermediate values, and their columns.
class IntermediateRows {
 public:
  using Row = std::tuple<int, std::int64_t, std::int64_t>;

  IntermediateRows(const Canonical& canonical, int first, int last) {
    // Readers have larger numbers than the nodes that they read.
    // Columns are those of the stage that reads.
    std::vector<std::map<Index3, Range>> uses(canonical.nodes.size());
    const auto use = [&](const Reading& key, const Range& columns) {
      const auto [found, is_new] = uses[key.node].try_emplace(key.offset, columns);
      if (!is_new) found->second = hull(found->second, columns);
    };
    for (int s = first; s < last; ++s)
      use({canonical.equations[s].node, canonical.equations[s].offset}, {0, 1});
    const std::vector<std::int64_t> costs = costs_of(canonical);
    for (int node = static_cast<int>(canonical.nodes.size()) - 1; node >= 0; --node) {
      if (!is_computed(canonical.nodes[node])) continue;
      std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::pair<std::int64_t, Range>>> by_row;
      for (const auto& [at, columns] : uses[node])
        by_row[{at[z_axis], at[y_axis]}].emplace_back(at[x_axis], columns);
      for (const auto& [row, reads] : by_row) {
        constexpr std::int64_t loads_worth_a_row = 8;
        const auto again = static_cast<std::int64_t>(reads.size()) - 1;
        const bool gets_row = costs[node] * again >= loads_worth_a_row;
        Range all{reads[0].first + reads[0].second.begin, reads[0].first + reads[0].second.end};
        for (const auto& [x, columns] : reads) all = hull(all, {x + columns.begin, x + columns.end});
        if (gets_row) rows_[{node, row.first, row.second}] = all;
        for (const auto& [x, columns] : reads) {
          const Range used = gets_row ? all : columns;
          for_each_operand(canonical.nodes[node], {row.first, row.second, gets_row ? 0 : x},
                           [&](const Reading& operand) { use(operand, used); });
          if (gets_row) break;
        }
      }
    }
  }

  /// Returns the rows with their columns, operands before the nodes computed from them.
  const std::map<Row, Range>& rows() const { return rows_; }

 private:
  static Range hull(const Range& a, const Range& b) {
    return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
  }

  std::map<Row, Range> rows_;
};

/// Writes the instructions of one stage.
class StageWriter {
 public:
  StageWriter(const Canonical& canonical, const std::map<IntermediateRows::Row, int>& rows, bool converts)
      : canonical_(canonical), rows_(rows), converts_(converts) {}

  /// Writes the stage that fills a row of intermediate values.
  ProgramStage row(const Reading& key, int number, const Range& columns) {
    filled_ = key;
    count(key);
    accumulate(key);
    append(BlockAction::save, {{.kind = OperandKind::row, .index = number}});
    stage_.row = number;
    stage_.columns = columns;
    return std::move(stage_);
  }

  /// Writes the stage that computes statements.
  ProgramStage statements(int first, int last) {
    for (int s = first; s < last; ++s) {
      const Reading& equation = canonical_.equations[s];
      count({equation.node, equation.offset});
    }
    for (int s = first; s < last; ++s) {
      const Reading& key = canonical_.equations[s];
      accumulate(key);
      const int field = canonical_.fields[s];
      const Reading next = next_of(field);
      const bool read_again = next.node >= 0 && references_.contains(next);
      append(BlockAction::output, {{.kind = OperandKind::output, .index = field}});
      // Conversion to storage rounds, so later statements read the stored value.
      stage_.instructions.back().bypasses_caches = !read_again || !converts_;
      if (read_again && !converts_) keep(next);
      release(key);
    }
    return std::move(stage_);
  }

  int slots() const { return slots_; }

 private:
  const CanonicalNode& node_of(const Reading& key) const { return canonical_.nodes[key.node]; }

  /// Returns the node of `field.next`, or -1 if no equation reads it.
  Reading next_of(int field) const {
    for (std::size_t i = 0; i < canonical_.nodes.size(); ++i)
      if (const CanonicalNode& node = canonical_.nodes[i];
          node.kind == NodeKind::field && node.level == Level::next && node.index == field)
        return {static_cast<int>(i), {}};
    return {-1, {}};
  }

  bool has_row(const Reading& key) const {
    return key != filled_ && rows_.contains({key.node, key.offset[z_axis], key.offset[y_axis]});
  }

  /// Counts how often each part is read.
  void count(const Reading& key) {
    if (++references_[key] > 1 || has_row(key)) return;
    for_each_operand(node_of(key), key.offset, [&](const Reading& operand) { count(operand); });
  }

  /// Returns an operand that instructions can read without computing it first.
  bool in_memory(const Reading& key) const {
    if (kept_.contains(key) || has_row(key)) return true;
    const CanonicalNode& node = node_of(key);
    return !is_computed(node) && (node.kind != NodeKind::field || !converts_);
  }

  ProgramOperand operand_of(const Reading& key) const {
    if (const auto kept = kept_.find(key); kept != kept_.end())
      return {.kind = OperandKind::slot, .index = kept->second};
    if (has_row(key))
      return {.kind = OperandKind::row,
              .index = rows_.at({key.node, key.offset[z_axis], key.offset[y_axis]}),
              .offset = {0, 0, key.offset[x_axis]}};
    const CanonicalNode& node = node_of(key);
    switch (node.kind) {
      case NodeKind::number:
        return {.kind = OperandKind::number, .number = node.number};
      case NodeKind::scalar:
        return {.kind = OperandKind::scalar, .index = node.index};
      case NodeKind::coefficient:
        return {.kind = OperandKind::coefficient, .index = node.index, .offset = key.offset};
      default:
        return {.kind = OperandKind::field, .index = node.index, .level = node.level, .offset = key.offset};
    }
  }

  void append(BlockAction action, const std::vector<ProgramOperand>& operands,
              Operation operation = Operation::add) {
    stage_.instructions.push_back({.action = action,
                                   .operation = operation,
                                   .first = static_cast<int>(stage_.operands.size()),
                                   .count = static_cast<int>(operands.size())});
    stage_.operands.insert(stage_.operands.end(), operands.begin(), operands.end());
  }

  int take_slot() {
    if (free_.empty()) free_.push_back(slots_++);
    const int slot = free_.back();
    free_.pop_back();
    return slot;
  }

  /// Keeps the accumulator, which is the value of `key`, in a slot.
  void keep(const Reading& key) {
    const int slot = take_slot();
    append(BlockAction::save, {{.kind = OperandKind::slot, .index = slot}});
    kept_[key] = slot;
  }

  /// Counts one reader as done.
  void release(const Reading& key) {
    if (--references_[key] > 0) return;
    if (const auto kept = kept_.find(key); kept != kept_.end()) {
      free_.push_back(kept->second);
      kept_.erase(kept);
    }
  }

  /// Computes an operand that is not in memory yet. The accumulator is lost.
  void make_operand(const Reading& key) {
    if (in_memory(key)) return;
    accumulate(key);
    if (!kept_.contains(key)) keep(key);
  }

  /// Writes instructions that leave a value in the accumulator.
  void accumulate(const Reading& key) {
    if (in_memory(key)) return append(BlockAction::load, {operand_of(key)});
    const CanonicalNode& node = node_of(key);
    if (node.kind == NodeKind::field)
      append(BlockAction::load_stored, {operand_of(key)});
    else if (node.kind == NodeKind::chain)
      chain(key);
    else
      operation(key);
    if (references_[key] > 1 && !kept_.contains(key)) keep(key);
  }

  /// Returns true if the taps of a link are a 3D star of a field as it lies in memory in compute precision.
  bool is_star(const ChainLink& link, const Index3& at) const {
    const CanonicalNode& node = node_of({link.node, at});
    if (converts_ || node.kind != NodeKind::field || node.level == Level::next) return false;
    std::vector<Index3> offsets;
    for (const Tap& tap : link.stencil.taps()) offsets.push_back(tap.offset);
    return star_radius(offsets) > 0;
  }

  void chain(const Reading& key) {
    const CanonicalNode& node = node_of(key);
    // Fields are read as they are stored; all other operands are computed first.
    const auto is_stored = [&](const Reading& tap) {
      return converts_ && node_of(tap).kind == NodeKind::field && !kept_.contains(tap);
    };
    const auto for_each_tap = [&](auto&& visit) {
      for (const ChainLink& link : node.links)
        for (const Tap& tap : link.stencil.taps())
          visit(Reading{link.node, key.offset + tap.offset}, tap.weight);
    };
    for_each_tap([&](const Reading& tap, double) {
      if (!is_stored(tap)) make_operand(tap);
    });
    if (node.start)
      append(BlockAction::load, {operand_of({node.start->node, key.offset + node.start->offset})});
    else
      append(BlockAction::zero, {});
    for (const ChainLink& link : node.links) {
      const bool star = is_star(link, key.offset);
      bool begins = true;
      for (const Tap& tap : link.stencil.taps()) {
        const Reading at{link.node, key.offset + tap.offset};
        const BlockAction action = star            ? BlockAction::star
                                   : is_stored(at) ? BlockAction::taps_stored
                                                   : BlockAction::taps;
        ProgramOperand operand = operand_of(at);
        operand.weight = tap.weight;
        if (stage_.instructions.back().action != action || (star && begins)) {
          append(action, {operand});
        } else {
          stage_.operands.push_back(operand);
          ++stage_.instructions.back().count;
        }
        begins = false;
      }
    }
    for_each_operand(node, key.offset, [&](const Reading& operand) { release(operand); });
  }

  void operation(const Reading& key) {
    const CanonicalNode& node = node_of(key);
    std::vector<Reading> operands;
    for_each_operand(node, key.offset, [&](const Reading& operand) { operands.push_back(operand); });
    if (!simple_operation(node.operation, operands)) call(node.operation, operands);
    for (const Reading& operand : operands) release(operand);
  }

  /// Writes accumulator = action(a, b), or reversed(b, a) if only b has to be computed.
  bool binary(BlockAction action, BlockAction reversed, const std::vector<Reading>& operands) {
    const Reading &a = operands[0], &b = operands[1];
    if (in_memory(a) && !in_memory(b)) {
      accumulate(b);
      append(reversed, {operand_of(a)});
    } else {
      make_operand(b);
      accumulate(a);
      append(action, {operand_of(b)});
    }
    return true;
  }

  bool unary(BlockAction action, const Reading& operand) {
    accumulate(operand);
    append(action, {});
    return true;
  }

  /// Writes accumulator = the first operand, then the action with each of the others in turn.
  bool fold(BlockAction action, const std::vector<Reading>& operands) {
    for (std::size_t k = 1; k < operands.size(); ++k) make_operand(operands[k]);
    accumulate(operands[0]);
    for (std::size_t k = 1; k < operands.size(); ++k) append(action, {operand_of(operands[k])});
    return true;
  }

  bool simple_operation(Operation of, const std::vector<Reading>& operands) {
    switch (of) {
      case Operation::add:
        return binary(BlockAction::add, BlockAction::add, operands);
      case Operation::subtract:
        return binary(BlockAction::subtract, BlockAction::subtract_from, operands);
      case Operation::multiply:
        return binary(BlockAction::multiply, BlockAction::multiply, operands);
      case Operation::divide:
        return binary(BlockAction::divide, BlockAction::divide_into, operands);
      case Operation::less:
        return binary(BlockAction::less, BlockAction::greater, operands);
      case Operation::less_equal:
        return binary(BlockAction::less_equal, BlockAction::greater_equal, operands);
      case Operation::greater:
        return binary(BlockAction::greater, BlockAction::less, operands);
      case Operation::greater_equal:
        return binary(BlockAction::greater_equal, BlockAction::less_equal, operands);
      case Operation::equal:
        return binary(BlockAction::equal, BlockAction::equal, operands);
      case Operation::not_equal:
        return binary(BlockAction::not_equal, BlockAction::not_equal, operands);
      case Operation::both:
        return binary(BlockAction::both, BlockAction::both, operands);
      case Operation::either:
        return binary(BlockAction::either, BlockAction::either, operands);
      case Operation::negate:
        return unary(BlockAction::negate, operands[0]);
      case Operation::absolute:
        return unary(BlockAction::absolute, operands[0]);
      case Operation::sqrt:
        return unary(BlockAction::square_root, operands[0]);
      case Operation::maximum:
        return fold(BlockAction::maximum, operands);
      case Operation::minimum:
        return fold(BlockAction::minimum, operands);
      case Operation::select:
        make_operand(operands[1]);
        make_operand(operands[2]);
        accumulate(operands[0]);
        append(BlockAction::select, {operand_of(operands[1]), operand_of(operands[2])});
        return true;
      default:
        return false;
    }
  }

  void call(Operation of, const std::vector<Reading>& operands) {
    std::vector<ProgramOperand> memory;
    for (const Reading& operand : operands) make_operand(operand);
    for (const Reading& operand : operands) memory.push_back(operand_of(operand));
    const int slot = take_slot();
    memory.push_back({.kind = OperandKind::slot, .index = slot});
    append(BlockAction::call, memory, of);
    append(BlockAction::load, {memory.back()});
    free_.push_back(slot);
  }

  const Canonical& canonical_;
  const std::map<IntermediateRows::Row, int>& rows_;
  bool converts_;
  ProgramStage stage_;
  std::optional<Reading> filled_;      // the row that the stage fills
  std::map<Reading, int> references_;  // readers that are left
  std::map<Reading, int> kept_;        // slots
  std::vector<int> free_;
  int slots_ = 0;
};

/// Lets a stage fetch ahead, from every array that it reads, the leading row of the leading plane, which no
/// earlier row has read. Fetching the other rows too, which are in the second-level cache, was slower. The
/// fetches are spread over the instructions.
void add_fetches(ProgramStage& stage) {
  std::map<std::tuple<OperandKind, int, Level>, int> leading;  // operands
  const auto row = [&](int k) {
    return std::pair(stage.operands[k].offset[z_axis], stage.operands[k].offset[y_axis]);
  };
  for (int k = 0; k < static_cast<int>(stage.operands.size()); ++k) {
    const ProgramOperand& operand = stage.operands[k];
    if (operand.kind != OperandKind::field && operand.kind != OperandKind::coefficient) continue;
    int& last = leading.try_emplace({operand.kind, operand.index, operand.level}, k).first->second;
    if (row(k) > row(last)) last = k;
  }
  std::vector<BlockInstruction> fetches, all;
  for (const auto& [array, operand] : leading)
    fetches.push_back({.action = std::get<OperandKind>(array) == OperandKind::field
                                     ? BlockAction::fetch_stored
                                     : BlockAction::fetch,
                       .first = operand});
  for (std::size_t i = 0, done = 0; i < stage.instructions.size(); ++i) {
    for (; done < fetches.size() * (i + 1) / stage.instructions.size(); ++done) all.push_back(fetches[done]);
    all.push_back(stage.instructions[i]);
  }
  stage.instructions = std::move(all);
}

}  // namespace

StepProgram step_program(const Canonical& canonical, int first, int last, bool converts) {
  StepProgram program;
  std::map<IntermediateRows::Row, int> numbers;
  const IntermediateRows intermediate(canonical, first, last);
  for (const auto& [row, columns] : intermediate.rows()) {
    const auto [node, z, y] = row;
    const int number = static_cast<int>(program.rows.size());
    numbers[row] = number;
    program.rows.push_back(columns);
    StageWriter writer(canonical, numbers, converts);
    program.stages.push_back(writer.row({node, {z, y, 0}}, number, columns));
    program.slots = std::max(program.slots, writer.slots());
  }
  StageWriter writer(canonical, numbers, converts);
  program.stages.push_back(writer.statements(first, last));
  program.slots = std::max(program.slots, writer.slots());
  for (ProgramStage& stage : program.stages) add_fetches(stage);
  return program;
}

}  // namespace spsolve
