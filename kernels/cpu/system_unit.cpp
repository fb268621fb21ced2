// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/system_unit.hpp"

#include <map>
#include <span>
#include <stdexcept>
#include <tuple>

#include "kernels/cpu/correlate_row.hpp"
#include "kernels/cpu/row_ghosts.hpp"
#include "kernels/operator/apply.hpp"
#include "kernels/operator/interpret.hpp"

namespace spsolve {

namespace {

using Kind = CanonicalNode::Kind;

/// Points of a row that are computed at a time: rows of intermediate values stay in cache.
constexpr std::int64_t points_at_once = 2048;

/// A node at the row (z, y) displaced by {dz, dy}, for the columns [begin, end) around each point.
struct RowOfNode {
  int node;
  std::int64_t dz, dy;
  Range columns;
};

/// The rows that an equation reads and computes, operands before what is made of them.
class RowPlan {
 public:
  RowPlan(const Canonical& canonical, const Reading& root) : canonical_(canonical) {
    need(root.node, root.offset, {0, 1});
    // Operands have smaller numbers than what is made of them.
    for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) {
      const auto [node, dz, dy] = row->first;
      const Index3 at{dz, dy, 0};
      const Range columns = row->second;
      const CanonicalNode& of = canonical.nodes[node];
      for (const Reading& operand : of.operands) need(operand.node, at + operand.offset, columns);
      if (of.start) need(of.start->node, at + of.start->offset, columns);
      for (const Link& link : of.links)
        for (const Tap& tap : link.stencil.taps()) need(link.node, at + tap.offset, columns);
    }
    for (const auto& [key, columns] : rows_) {
      index_[key] = static_cast<int>(order_.size());
      order_.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), columns});
    }
  }

  const std::vector<RowOfNode>& rows() const { return order_; }
  /// The number of the row that holds a reading at the row displaced by {dz, dy}.
  int row_of(int node, std::int64_t dz, std::int64_t dy) const { return index_.at({node, dz, dy}); }

 private:
  using Key = std::tuple<int, std::int64_t, std::int64_t>;

  void need(int node, const Index3& offset, Range columns) {
    columns.begin += offset[x_axis];
    columns.end += offset[x_axis];
    const auto [row, is_new] = rows_.try_emplace({node, offset[z_axis], offset[y_axis]}, columns);
    if (is_new) return;
    row->second.begin = std::min(row->second.begin, columns.begin);
    row->second.end = std::max(row->second.end, columns.end);
  }

  const Canonical& canonical_;
  std::map<Key, Range> rows_;
  std::map<Key, int> index_;
  std::vector<RowOfNode> order_;
};

/// The values of a row of T, at x: data[x], or one value for all x where data is null.
template <class T>
struct Values {
  const T* data = nullptr;
  T single{};

  T at(std::int64_t x) const { return data ? data[x] : single; }
};

/// out[i] = operation of the operands at x + i, for the operations that vectorise.
template <class T>
void apply_row(Operation operation, std::span<const Values<T>> operands, std::int64_t x, std::int64_t points,
               T* out) {
  const auto binary = [&](auto&& function) {
    const Values<T>&a = operands[0], &b = operands[1];
    if (a.data && b.data)
      for (std::int64_t i = 0; i < points; ++i) out[i] = function(a.data[x + i], b.data[x + i]);
    else if (a.data)
      for (std::int64_t i = 0; i < points; ++i) out[i] = function(a.data[x + i], b.single);
    else if (b.data)
      for (std::int64_t i = 0; i < points; ++i) out[i] = function(a.single, b.data[x + i]);
    else
      for (std::int64_t i = 0; i < points; ++i) out[i] = function(a.single, b.single);
  };
  switch (operation) {
    case Operation::add:
      return binary([](T a, T b) { return a + b; });
    case Operation::subtract:
      return binary([](T a, T b) { return a - b; });
    case Operation::multiply:
      return binary([](T a, T b) { return a * b; });
    case Operation::divide:
      return binary([](T a, T b) { return a / b; });
    default:
      break;
  }
  std::vector<T> values(operands.size());
  for (std::int64_t i = 0; i < points; ++i) {
    for (std::size_t k = 0; k < operands.size(); ++k) values[k] = operands[k].at(x + i);
    out[i] = apply<T>(operation, values);
  }
}

/// One launch on one region: everything that its rows share.
template <class Storage>
class SystemLaunch {
  using T = Compute<Storage>;

 public:
  SystemLaunch(const Canonical& canonical, const SystemFacts& facts, const std::vector<Domain>& fields,
               double dt, std::span<const Field* const> coefficients, const ConstState& in, const State& out)
      : canonical_(canonical),
        facts_(facts),
        reach_(halo_radius(facts, fields.front())[x_axis]),
        fields_(fields),
        coefficients_(coefficients),
        in_(in),
        out_(out),
        scalars_(scalars(canonical, dt, in.step())),
        previous_(fields.size()) {
    for (const Reading& equation : canonical.equations) plans_.emplace_back(canonical, equation);
    for (const Domain& field : fields) {
      values_.push_back(ghost_values<T, Storage>(field));
      stored_.push_back(ghost_values<Storage, Storage>(field));
    }
    std::size_t next = fields.size();
    for (std::size_t field = 0; field < fields.size(); ++field)
      if (!facts.reach_previous[field].empty()) previous_[field] = next++;
  }

  void run(const Box& region) const {
    const std::vector<Box> boxes = statement_boxes(facts_, fields_.front(), region);
    for (const auto& [first, last] : facts_.groups) {
      Box all;
      for (int s = first; s < last; ++s) all = hull_of(all, boxes[s]);
#pragma omp parallel
      {
        Scratch scratch;
#pragma omp for schedule(static)
        for (std::int64_t row = 0; row < row_count(all); ++row) {
          const Index3 p = row_begin(all, row);
          for (int s = first; s < last; ++s) {
            const Box& box = boxes[s];
            if (p[z_axis] >= box.begin[z_axis] && p[z_axis] < box.end[z_axis] &&
                p[y_axis] >= box.begin[y_axis] && p[y_axis] < box.end[y_axis])
              compute_row(s, p[z_axis], p[y_axis], {box.begin[x_axis], box.end[x_axis]}, scratch);
          }
        }
      }
    }
  }

 private:
  struct Scratch {
    std::vector<std::vector<T>> rows;  // by number in the plan
    std::vector<Values<T>> values, operands;
    std::vector<const T*> taps;
    std::vector<T> weights, start, results;
    std::vector<T> constant;
  };

  static std::vector<T> scalars(const Canonical& canonical, double dt, std::int64_t step) {
    Surroundings time;
    time.dt = dt;
    time.fields = {Domain{}};
    const LeafValue leaf = given_values(time, step);
    std::vector<T> values;
    for (const TermId scalar : canonical.scalars)
      values.push_back(static_cast<T>(interpret(canonical.terms, scalar, box_of({1, 1, 1}), leaf).front()));
    return values;
  }

  void compute_row(int statement, std::int64_t z, std::int64_t y, Range all, Scratch& scratch) const {
    const int field = canonical_.fields[statement];
    Storage* const row = out_[static_cast<std::size_t>(field)].template at<Storage>({z, y, 0});
    for (std::int64_t begin = all.begin; begin < all.end; begin += points_at_once) {
      const Range part{begin, std::min(begin + points_at_once, all.end)};
      const Values<T> result = evaluate(statement, z, y, part, scratch);
      const std::int64_t shift = canonical_.equations[statement].offset[x_axis];
      for (std::int64_t x = part.begin; x < part.end; ++x) row[x] = stored(result.at(x + shift));
    }
    const Domain& domain = fields_[field];
    const Box memory = out_[static_cast<std::size_t>(field)].allocated();
    fill_known_row_ghosts(row, domain, reach_, all, {memory.begin[x_axis], memory.end[x_axis]},
                          stored_[field][x_axis]);
  }

  static Storage stored(T value) {
    if constexpr (std::is_same_v<T, Storage>)
      return value;
    else
      return Storage(value);
  }

  /// The value of a statement on a part of a row; addressed by x.
  Values<T> evaluate(int statement, std::int64_t z, std::int64_t y, Range part, Scratch& scratch) const {
    const RowPlan& plan = plans_[statement];
    scratch.rows.resize(std::max(scratch.rows.size(), plan.rows().size()));
    scratch.values.resize(std::max(scratch.values.size(), plan.rows().size()));
    for (std::size_t i = 0; i < plan.rows().size(); ++i) {
      const RowOfNode& row = plan.rows()[i];
      const Range columns{part.begin + row.columns.begin, part.end - 1 + row.columns.end};
      scratch.values[i] = row_values(plan, row, z + row.dz, y + row.dy, columns, scratch.rows[i], scratch);
    }
    const Reading& root = canonical_.equations[statement];
    return scratch.values[plan.row_of(root.node, root.offset[z_axis], root.offset[y_axis])];
  }

  Values<T> row_values(const RowPlan& plan, const RowOfNode& row, std::int64_t z, std::int64_t y,
                       Range columns, std::vector<T>& memory, Scratch& scratch) const {
    const CanonicalNode& node = canonical_.nodes[row.node];
    const std::int64_t points = columns.end - columns.begin;
    switch (node.kind) {
      case Kind::number:
        return {nullptr, static_cast<T>(node.number)};
      case Kind::scalar:
        return {nullptr, scalars_[node.index]};
      case Kind::coefficient:
        return {coefficients_[node.index]->template at<T>({z, y, 0}), {}};
      case Kind::field:
        return field_row(node, z, y, columns, memory);
      case Kind::operation: {
        scratch.operands.clear();
        memory.resize(static_cast<std::size_t>(points));
        // Operands are displaced along x as well: each is addressed so that it reads at the same x.
        for (const Reading& operand : node.operands) {
          Values<T> values = scratch.values[plan.row_of(operand.node, row.dz + operand.offset[z_axis],
                                                        row.dy + operand.offset[y_axis])];
          if (values.data) values.data += operand.offset[x_axis];
          scratch.operands.push_back(values);
        }
        apply_row<T>(node.operation, scratch.operands, columns.begin, points, memory.data());
        return {memory.data() - columns.begin, {}};
      }
      case Kind::chain:
        break;
    }
    return chain_row(plan, row, node, columns, memory, scratch);
  }

  Values<T> chain_row(const RowPlan& plan, const RowOfNode& row, const CanonicalNode& node, Range columns,
                      std::vector<T>& memory, Scratch& scratch) const {
    const std::int64_t points = columns.end - columns.begin;
    memory.resize(static_cast<std::size_t>(points));
    const auto read = [&](int of, const Index3& offset) {
      Values<T> values = scratch.values[plan.row_of(of, row.dz + offset[z_axis], row.dy + offset[y_axis])];
      if (values.data) values.data += offset[x_axis] + columns.begin;
      return values;
    };
    const T* start = nullptr;
    if (node.start) {
      const Values<T> values = read(node.start->node, node.start->offset);
      if (!values.data) scratch.start.assign(static_cast<std::size_t>(points), values.single);
      start = values.data ? values.data : scratch.start.data();
    }
    scratch.taps.clear();
    scratch.weights.clear();
    for (const Link& link : node.links)
      for (const Tap& tap : link.stencil.taps()) {
        scratch.taps.push_back(read(link.node, tap.offset).data);
        scratch.weights.push_back(static_cast<T>(tap.weight));
      }
    correlate_row_widest(Row<T, T>{memory.data(), points, scratch.taps.data(), scratch.weights.data(),
                                   static_cast<int>(scratch.taps.size()), start});
    return {memory.data() - columns.begin, {}};
  }

  /// A row of a field at any (z, y). Beyond walls the last axis of x, y, z decides first.
  Values<T> field_row(const CanonicalNode& node, std::int64_t z, std::int64_t y, Range columns,
                      std::vector<T>& memory) const {
    const Domain& domain = fields_[node.index];
    Index3 p{z, y, 0};
    for (const int axis : {z_axis, y_axis}) {
      const std::int64_t n = domain.shape[axis];
      if ((p[axis] >= 0 && p[axis] < n) || domain.periodic(axis)) continue;
      const Side side = p[axis] < 0 ? low : high;
      if (domain.faces[axis][side].kind == BoundaryKind::dirichlet) {
        memory.assign(static_cast<std::size_t>(columns.end - columns.begin), values_[node.index][axis][side]);
        return {memory.data() - columns.begin, {}};
      }
      p[axis] = reflect(p[axis], n);
    }
    const auto index = static_cast<std::size_t>(node.index);
    const Field& field = node.level == Level::next       ? out_[index]
                         : node.level == Level::previous ? in_[previous_[index]]
                                                         : in_[index];
    const Storage* const row = field.template at<Storage>(p);
    if constexpr (std::is_same_v<T, Storage>) {
      return {row, {}};
    } else {
      memory.resize(static_cast<std::size_t>(columns.end - columns.begin));
      for (std::int64_t x = columns.begin; x < columns.end; ++x)
        memory[x - columns.begin] = static_cast<T>(row[x]);
      return {memory.data() - columns.begin, {}};
    }
  }

  const Canonical& canonical_;
  const SystemFacts& facts_;
  std::int64_t reach_;  // of ghosts along x
  const std::vector<Domain>& fields_;
  std::span<const Field* const> coefficients_;
  const ConstState& in_;
  const State& out_;
  std::vector<T> scalars_;
  std::vector<std::size_t> previous_;  // where in the state the previous values of a field are
  std::vector<RowPlan> plans_;         // by statement
  std::vector<std::array<std::array<T, 2>, 3>> values_;  // of ghosts [field][axis][side]
  std::vector<std::array<std::array<Storage, 2>, 3>> stored_;
};

}  // namespace

SystemUnit::SystemUnit(const Canonical& canonical, std::vector<Domain> fields, double dt, Precision precision,
                       std::vector<const Field*> coefficients)
    : canonical_(canonical),
      facts_(facts_of(canonical)),
      fields_(std::move(fields)),
      dt_(dt),
      precision_(precision),
      coefficients_(std::move(coefficients)) {
  if (precision == Precision::tf32)
    throw std::invalid_argument("systems of equations are not computed in tf32");
}

void SystemUnit::fill_ghosts(const State& state, const Box& valid) const {
  if (fields_.front().periodic(x_axis) || valid.empty()) return;
  std::vector<int> field_of;  // of every array of the state
  for (std::size_t field = 0; field < fields_.size(); ++field) field_of.push_back(static_cast<int>(field));
  for (std::size_t field = 0; field < fields_.size(); ++field)
    if (!facts_.reach_previous[field].empty()) field_of.push_back(static_cast<int>(field));
  with_storage(precision_, [&]<class Storage>() {
    for (std::size_t i = 0; i < state.size(); ++i) {
      Field& field = state[i];
      const Domain& domain = fields_[field_of[i]];
      const auto constant = ghost_values<Storage, Storage>(domain)[x_axis];
      const Range memory{field.allocated().begin[x_axis], field.allocated().end[x_axis]};
#pragma omp parallel for schedule(static)
      for (std::int64_t row = 0; row < row_count(valid); ++row) {
        const Index3 p = row_begin(valid, row);
        fill_row_ghosts(field.at<Storage>({p[z_axis], p[y_axis], 0}), domain,
                        halo_radius(facts_, fields_.front())[x_axis], memory, memory, constant);
      }
    }
  });
}

void SystemUnit::advance(const ConstState& in, const State& out, const Box& region, int steps) const {
  if (steps != 1) throw std::invalid_argument("systems of equations are advanced one step at a time");
  if (region.empty()) return;
  with_storage(precision_, [&]<class Storage>() {
    if constexpr (!std::is_same_v<Storage, Tf32>)
      SystemLaunch<Storage>(canonical_, facts_, fields_, dt_, coefficients_, in, out).run(region);
  });
}

}  // namespace spsolve
