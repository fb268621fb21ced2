// SPDX-License-Identifier: Apache-2.0
// These tests run the kernels of the example systems in an emulation of CUDA's blocks and compare them, bit
// by bit, with the canonical form evaluated by plain loops.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <set>

#include "emulated_system.hpp"
#include "kernels/cpu/fill_walls.hpp"
#include "kernels/cpu/system_unit.hpp"
#include "kernels/cuda/launch/kernel_axes.hpp"
#include "kernels/cuda/launch/view.hpp"
#include "kernels/cuda/system/tile_points.hpp"
#include "kernels/operator/interpret_coefficient.hpp"
#include "kernels/operator/scalar_values.hpp"
#include "kernels/operator/statement_boxes.hpp"
#include "kernels/rounding.hpp"
#include "system_case.hpp"
#include "tests/kernels/operator/given_rows.hpp"
#include "tests/support/evaluate_canonical.hpp"
#include "tile_map.hpp"

alignas(1024) unsigned char memory[1 << 18];  // the shared memory of all kernels

namespace spsolve::cuda {
namespace {

using Case = std::tuple<int, Precision, int>;  // number of the example, precision, compute capability

std::vector<Case> cases() {
  std::set<Case> all;
  for (const auto& [key, kernels] : emulated_systems())
    all.emplace(std::get<0>(key), std::get<1>(key), std::get<2>(key));
  return {all.begin(), all.end()};
}

void set(Field& field, const Index3& p, double value) {
  with_storage(field.precision(),
               [&]<class Storage>() { *field.at<Storage>(p) = to_storage<Storage>(value); });
}
double get(const Field& field, const Index3& p) {
  return with_storage(field.precision(),
                      [&]<class Storage>() { return stored_value(*field.at<Storage>(p)); });
}

/// Holds arrays in host memory, as a Block holds them on one rank for launches of `steps` steps. Rows are
/// aligned at column `aligned`, as those of a block that begins there.
class HostState {
 public:
  explicit HostState(const SystemCase& what, int steps = 1, std::int64_t aligned = 0)
      : what_(what), aligned_(aligned) {
    const StepContext& around = what.problem.context;
    const Domain& domain = around.fields.front();
    const Index3 halo = steps * halo_radius(what.facts, domain);
    for (std::size_t field = 0; field < around.fields.size(); ++field) {
      now.push_back(filled(field, what.problem.state.now[field], halo));
      previous.push_back(filled(field, what.problem.state.previous[field], halo));
      for (auto* const written : {&next, &before_next}) {
        written->push_back(
            std::make_unique<Field>(domain.box(), halo, what.precision, host_memory(), aligned));
        // A kernel must not read values that it does not write.
        for_each_point(written->back()->allocated(), [&](const Index3& p) { set(*written->back(), p, NAN); });
      }
    }
    const LeafRow given = testing::given_rows(around, what.problem.state.step);
    for (std::size_t i = 0; i < what.canonical.coefficients.size(); ++i) {
      const Box& offsets = what.facts.coefficient_reach[i];
      const Box all = grow(domain.box(), halo);
      const Box box{all.begin + offsets.begin, all.end + offsets.end - Index3{1, 1, 1}};
      coefficients.push_back(
          std::make_unique<Field>(box, Index3{}, sum_precision(what.precision), host_memory(), aligned));
      interpret_coefficient(
          what.canonical, i, domain, box, given, [&](const Index3& first, std::span<const double> values) {
            for (std::size_t x = 0; x < values.size(); ++x)
              set(*coefficients.back(), first + Index3{0, 0, static_cast<std::int64_t>(x)}, values[x]);
          });
    }
  }

  /// Sets points of the inputs of a group to 0.
  void clear(const SystemGroup& group, const std::vector<Box>& boxes) const {
    for (std::size_t i = 0; i < boxes.size(); ++i)
      for_each_point(boxes[i], [&](const Index3& p) { set(array_of(group.inputs[i]), p, 0); });
  }

  GroupFields fields_of(const SystemGroup& group) const {
    GroupFields fields;
    for (const GroupInput& input : group.inputs) fields.inputs.push_back(&array_of(input));
    for (int s = group.first; s < group.last; ++s)
      fields.outputs.push_back(next[static_cast<std::size_t>(what_.canonical.fields[s])].get());
    return fields;
  }

  std::vector<std::unique_ptr<Field>> now, previous, next, before_next, coefficients;

 private:
  Field& array_of(const GroupInput& input) const {
    const auto& arrays = input.is_coefficient             ? coefficients
                         : input.level == Level::now      ? now
                         : input.level == Level::previous ? previous
                                                          : next;
    return *arrays[static_cast<std::size_t>(input.index)];
  }
  /// Periodic axes have copies in the halo; memory beyond walls holds NaN.
  std::unique_ptr<Field> filled(std::size_t index, const std::vector<double>& values,
                                const Index3& halo) const {
    const Domain& domain = what_.problem.context.fields[index];
    auto field = std::make_unique<Field>(domain.box(), halo, what_.precision, host_memory(), aligned_);
    for_each_point(field->allocated(), [&](const Index3& p) {
      Index3 at = p;
      bool beyond_wall = false;
      for (int axis = 0; axis < axis_count; ++axis) {
        at[axis] = wrap(p[axis], domain.shape[axis]);
        beyond_wall = beyond_wall || (!domain.periodic(axis) && at[axis] != p[axis]);
      }
      set(*field, p, beyond_wall ? NAN : values[static_cast<std::size_t>(index_of(at, domain.shape))]);
    });
    fill_walls(*field, domain, what_.filled, static_cast<int>(index), domain.box(), what_.problem.state.step);
    return field;
  }

  const SystemCase& what_;
  std::int64_t aligned_;
};

std::vector<double> rounded(const std::vector<double>& values, Precision precision) {
  std::vector<double> result;
  for (const double value : values)
    with_storage(precision,
                 [&]<class Storage>() { result.push_back(stored_value(to_storage<Storage>(value))); });
  return result;
}

using Fields = std::vector<std::vector<double>>;
/// Is called after every step with the number of the step that is reached, and may change the fields.
using AfterStep = std::function<void(std::int64_t step, Fields& fields)>;

/// Returns the fields after `steps` steps of the CPU unit, which fills ghost points before every step.
Fields expected_by_cpu(const SystemCase& what, int steps, const AfterStep& after_step) {
  HostState host(what);
  const std::vector<Domain>& domains = what.problem.context.fields;
  const Box box = domains.front().box();
  std::vector<const Field*> coefficients;
  for (const auto& coefficient : host.coefficients) coefficients.push_back(coefficient.get());
  const CpuSystemUnit unit(what.canonical, domains, what.problem.context.dt, what.precision, coefficients,
                           what.filled);
  Fields result(domains.size());
  for (int step = 0; step < steps; ++step) {
    std::vector<Field*> in, out;
    for (const auto& field : host.now) in.push_back(field.get());
    for (const auto& field : host.next) out.push_back(field.get());
    for (std::size_t field = 0; field < domains.size(); ++field)
      if (!what.facts.reach_previous[field].empty()) in.push_back(host.previous[field].get());
    const State state(in, what.problem.state.step + step);
    unit.fill_ghosts(state, box);
    unit.advance(state, State(out), box, 1);
    for (std::size_t field = 0; field < domains.size(); ++field) {
      result[field].clear();
      for_each_point(box, [&](const Index3& p) { result[field].push_back(get(*out[field], p)); });
    }
    if (after_step) after_step(state.step() + 1, result);
    for (std::size_t field = 0; field < domains.size(); ++field) {
      std::size_t next = 0;
      for_each_point(box, [&](const Index3& p) { set(*out[field], p, result[field][next++]); });
    }
    std::swap(host.previous, host.now);
    std::swap(host.now, host.next);
  }
  return result;
}

/// Returns the fields after `steps` steps by plain loops, rounded as fields store them.
template <class T>
Fields expected(const SystemCase& what, int steps = 1, const AfterStep& after_step = {}) {
  if (!what.filled.empty()) return expected_by_cpu(what, steps, after_step);
  StepContext around = what.problem.context;
  for (Domain& domain : around.fields)
    for (auto& faces : domain.faces)
      for (Face& face : faces) face.value = rounded({face.value}, what.precision).front();
  SystemState<T> state{{}, {}, what.problem.state.step};
  for (std::size_t field = 0; field < around.fields.size(); ++field) {
    const auto now = rounded(what.problem.state.now[field], what.precision),
               previous = rounded(what.problem.state.previous[field], what.precision);
    state.now.emplace_back(now.begin(), now.end());
    state.previous.emplace_back(previous.begin(), previous.end());
  }
  Fields result;
  for (int step = 0; step < steps; ++step) {
    state = canonical_step(what.canonical, around, state);
    result.clear();
    for (auto& field : state.now) result.push_back(rounded({field.begin(), field.end()}, what.precision));
    if (after_step) after_step(state.step, result);
    for (std::size_t field = 0; field < result.size(); ++field)
      state.now[field].assign(result[field].begin(), result[field].end());
  }
  return result;
}

/// Holds points of a case to which random amounts are added in every step, and others that are recorded.
class CasePoints {
 public:
  CasePoints(const SystemCase& what, int steps) : domain_(what.problem.context.fields.front()) {
    std::mt19937 random(5);
    const Index3 last = domain_.shape - Index3{1, 1, 1};
    const Box around = grow(domain_.box(), (steps - 1) * halo_radius(what.facts, domain_));
    table.recorded = {{1, 5, {}}, {2, 3, {}}};
    for (std::size_t field = 0; field < what.problem.context.fields.size(); ++field) {
      std::set<Index3> places{{0, 0, 0}, last, {last[0], 0, last[2] / 2}};
      while (places.size() < std::min<std::size_t>(9, static_cast<std::size_t>(volume(domain_.shape))))
        places.insert(point_of(static_cast<std::int64_t>(random()) % volume(domain_.shape), domain_.shape));
      for (const Index3& p : places) {
        for (const Index3& image : periodic_copies_of(p, domain_, around))
          table.added.push_back({{field, image}, table.columns});
        added_.push_back({field, p});
        ++table.columns;
        table.recorded[table.columns % 2].points.push_back({field, p});  // some with amounts
        Index3 beside = p;
        beside[x_axis] = wrap(p[x_axis] + 1, domain_.shape[x_axis]);
        table.recorded[0].points.push_back({field, beside});
      }
    }
    std::uniform_real_distribution<double> amount(-1, 1);
    for (std::size_t i = 0; i < static_cast<std::size_t>(steps) * table.columns; ++i)
      amounts.push_back(rounded({amount(random)}, sum_precision(what.precision)).front());
    for (const RecordedPoints& group : table.recorded)
      values.emplace_back(static_cast<std::size_t>(group.rows) * group.points.size(), NAN);
  }

  /// Adds the amounts after a step of plain loops and records points; `first` is the step of the first
  /// amounts.
  AfterStep after_step(const SystemCase& what, std::int64_t first) {
    return [this, &what, first](std::int64_t step, Fields& fields) {
      for (std::size_t i = 0; i < added_.size(); ++i) {
        const double amount = amounts[static_cast<std::size_t>(step - 1 - first) * table.columns + i];
        double& value = at(fields, added_[i]);
        const double sum = what.precision == Precision::fp64
                               ? value + amount
                               : static_cast<double>(static_cast<float>(value) + static_cast<float>(amount));
        value = rounded({sum}, what.precision).front();
      }
      for (std::size_t number = 0; number < table.recorded.size(); ++number) {
        const RecordedPoints& group = table.recorded[number];
        if (step % group.every != 0) continue;
        const std::size_t row = static_cast<std::size_t>(step / group.every % group.rows);
        for (std::size_t i = 0; i < group.points.size(); ++i)
          values[number][row * group.points.size() + i] = at(fields, group.points[i]);
      }
    };
  }

  PointTable table;
  std::vector<double> amounts;              // step after step
  std::vector<std::vector<double>> values;  // recorded rows, by group; NaN where none was recorded

 private:
  double& at(Fields& fields, const FieldPoint& point) const {
    return fields[point.field][static_cast<std::size_t>(index_of(point.p, domain_.shape))];
  }

  Domain domain_;
  std::vector<FieldPoint> added_;  // by column
};

/// Holds the arrays through which launches of a case work on points, in the type of amounts and recorded
/// values.
template <class T>
class PointMemory {
 public:
  explicit PointMemory(const CasePoints& points) : amounts_(points.amounts.begin(), points.amounts.end()) {
    for (std::size_t number = 0; number < points.values.size(); ++number) {
      const RecordedPoints& group = points.table.recorded[number];
      values_.emplace_back(points.values[number].size(), std::numeric_limits<T>::quiet_NaN());
      groups_.push_back({static_cast<unsigned>(group.every), static_cast<unsigned>(group.rows),
                         static_cast<long long>(group.points.size()), values_.back().data()});
    }
  }

  /// Makes a launch work on the points.
  void set(HostArguments& a, const CasePoints& points, const SystemCase& what, const FusedTile& fused) {
    list_ = tile_points(points.table, a, fused, grid_axes(what.problem.context.fields.front()),
                        what.canonical.fields);
    a.points = {list_.first_iteration.data(),
                list_.iterations.data(),
                list_.first.data(),
                list_.events.data(),
                list_.columns.data(),
                amounts_.data(),
                static_cast<long long>(points.table.columns),
                groups_.data(),
                {},
                static_cast<unsigned>(what.problem.state.step)};
    std::copy(groups_.begin(), groups_.end(), a.points.first_groups);
  }
  void expect(const CasePoints& points, const std::string& name) const {
    for (std::size_t number = 0; number < values_.size(); ++number)
      for (std::size_t i = 0; i < values_[number].size(); ++i) {
        const double found = static_cast<double>(values_[number][i]), value = points.values[number][i];
        if (!(std::isnan(value) && std::isnan(found))) {
          ASSERT_EQ(found, value) << name << ", group " << number << ", value " << i;
        }
      }
  }

 private:
  std::vector<T> amounts_;
  std::vector<std::vector<T>> values_;
  std::vector<RecordedGroup> groups_;
  TilePointList list_;
};

/// Divides a march into slabs of three planes. The last piece of the last one is cut into single planes.
MarchShares small_shares(const Region& region, int tiles) {
  MarchShares shares{};
  shares.planes = 3;
  shares.tiles = tiles;
  const auto planes = static_cast<int>(region.extent(plane_axis)), slabs = ceil_div(planes, shares.planes);
  shares.pieces = tiles * slabs;
  shares.whole = shares.pieces - 1;
  shares.length = 1;
  shares.stretches = planes - (slabs - 1) * shares.planes;
  return shares;
}

class EmulatedSystems : public ::testing::TestWithParam<Case> {
 protected:
  void TearDown() override { warps_run_ahead = false; }

  enum class Groups { each, united };
  /// Is a column at which rows are aligned so that copies cannot begin at the wall x = 0.
  static constexpr std::int64_t unaligned_wall = 3;

  /// Compares a step on the grid, in two regions one after the other as Block computes them. With all groups
  /// as one, points beside walls are left out.
  void expect_step(const SystemCase& what, bool march, Groups groups = Groups::each) {
    const auto [number, precision, capability] = GetParam();
    HostState state(what, 1, groups == Groups::united ? unaligned_wall : 0);
    const Domain& domain = what.problem.context.fields.front();
    const std::vector<double> scalars =
        scalar_values(what.canonical, what.problem.context.dt, what.problem.state.step);
    Box first = domain.box(), second = first;
    const int slow = domain.dimensions == 1 ? x_axis : domain.dimensions == 2 ? y_axis : z_axis;
    first.end[slow] = second.begin[slow] = domain.shape[slow] / 2;
    const Box compared = groups == Groups::each
                             ? domain.box()
                             : region_of_united_groups(what.facts, what.problem.context.fields, domain.box());
    for (const Box& part : {first, second}) {
      const Box region = intersect(part, compared);
      if (region.empty()) continue;
      const std::size_t each = what.facts.groups.size();
      const std::vector<Box> boxes = groups == Groups::each
                                         ? statement_boxes(what.facts, domain, region)
                                         : std::vector<Box>(what.canonical.equations.size(), region);
      for (std::size_t group = groups == Groups::each ? 0 : each;
           group < (groups == Groups::each ? each : what.programs.size()); ++group) {
        const SystemProgram& program = what.programs[group];
        const GroupFields fields = state.fields_of(program.group());
        HostArguments a = program.arguments(
            fields, {boxes.begin() + program.group().first, boxes.begin() + program.group().last}, scalars);
        const EmulatedSystem& kernels =
            emulated_systems().at({number, precision, capability, static_cast<int>(group)});
        if (!march) {
          a.column_tiles = part == first ? 2 : 0;  // rows in parts, then point by point
          const auto rows = a.region.extent(1) * ceil_div<std::int64_t>(a.region.extent(0), point_planes);
          kernels.points(a, part == first ? static_cast<int>(2 * rows) : 3, 32);
          continue;
        }
        const auto tile = what.tile(program);
        ASSERT_TRUE(tile);
        program.place_tiles(a, fields, *tile, 1);
        state.clear(program.group(), program.ghosts_in_copies(a, fields));
        a.shares = small_shares(a.region, a.shares.tiles);
        std::vector<emulated::TileMap> maps(fields.inputs.size());
        for (std::size_t i = 0; i < maps.size(); ++i) {
          const auto element = static_cast<int>(storage_bytes(fields.inputs[i]->precision()));
          maps[i] = {{view_of(a.array[i], element), element, tile->rings[i].rows, tile->rings[i].pitch}};
          set_tile_map(a.array[i].map, &maps[i]);
        }
        kernels.march(a, a.shares.blocks(), tile->all_threads(what.limits));
      }
    }
    const auto wanted = precision == Precision::fp64 ? expected<double>(what) : expected<float>(what);
    for (std::size_t field = 0; field < wanted.size(); ++field)
      for_each_point(compared, [&](const Index3& p) {
        const double value = wanted[field][static_cast<std::size_t>(index_of(p, domain.shape))];
        const double found = get(*state.next[field], p);
        if (!(std::isnan(value) && std::isnan(found))) {
          ASSERT_EQ(found, value) << what.example.name << (march ? ", march" : ", points") << ", field "
                                  << field << " at " << p[0] << ", " << p[1] << ", " << p[2];
        }
      });
  }

  /// Takes several steps in one launch, on regions one after the other, and compares the fields after them
  /// and one step before, and the recorded values of points.
  template <class T>
  void expect_steps(const SystemCase& what, bool with_points) {
    const auto [number, precision, capability] = GetParam();
    const FusedTile fused = required(what.fused());
    HostState state(what, fused.steps, with_points ? unaligned_wall : 0);
    warps_run_ahead = with_points;  // the test without points has the other order of warps
    const Domain& domain = what.problem.context.fields.front();
    const SystemProgram& program = what.programs.back();  // all groups as one
    std::vector<double> scalars;
    for (int step = 0; step < fused.steps; ++step)
      for (const double value :
           scalar_values(what.canonical, what.problem.context.dt, what.problem.state.step + step))
        scalars.push_back(value);
    GroupFields fields = state.fields_of(program.group());
    for (const int s : fused.written_before(what.canonical.fields))
      fields.outputs.push_back(state.before_next[static_cast<std::size_t>(what.canonical.fields[s])].get());
    CasePoints points(what, fused.steps);
    PointMemory<T> memory_of_points(points);
    Box first = domain.box(), second = first;
    const int slow = domain.dimensions == 2 ? y_axis : z_axis;
    first.end[slow] = second.begin[slow] = domain.shape[slow] / 2;
    first.end[x_axis] = 17;
    Box third = first;
    third.begin[x_axis] = 17;
    third.end[x_axis] = domain.shape[x_axis];
    for (const Box& region : {first, second, third}) {
      HostArguments a = program.arguments(fields, std::vector<Box>(fields.outputs.size(), region), scalars);
      program.place_fused_tiles(a, fields, fused, 1);
      state.clear(program.group(), program.ghosts_in_copies(a, fields));
      a.shares = small_shares(a.region, a.shares.tiles);
      if (with_points) memory_of_points.set(a, points, what, fused);
      std::vector<emulated::TileMap> maps(fields.inputs.size());
      for (std::size_t i = 0; i < maps.size(); ++i) {
        const auto element = static_cast<int>(storage_bytes(fields.inputs[i]->precision()));
        maps[i] = {
            {view_of(a.array[i], element), element, fused.tile.rings[i].rows, fused.tile.rings[i].pitch}};
        set_tile_map(a.array[i].map, &maps[i]);
      }
      emulated_systems()
          .at({number, precision, capability, all_steps})
          .steps(a, a.shares.blocks(), fused.tile.all_threads(what.limits));
    }
    for (const int before : {0, 1}) {
      const Fields wanted =
          expected<T>(what, fused.steps - before,
                      with_points ? points.after_step(what, what.problem.state.step) : AfterStep());
      for (std::size_t field = 0; field < wanted.size(); ++field) {
        if (before && what.facts.reach_previous[field].empty()) continue;
        const Field& written = *(before ? state.before_next : state.next)[field];
        for_each_point(domain.box(), [&](const Index3& p) {
          const double value = wanted[field][static_cast<std::size_t>(index_of(p, domain.shape))];
          const double found = get(written, p);
          if (!(std::isnan(value) && std::isnan(found))) {
            ASSERT_EQ(found, value) << what.example.name << ", " << fused.steps << " steps, " << before
                                    << " before the last, field " << field << " at " << p[0] << ", " << p[1]
                                    << ", " << p[2];
          }
        });
      }
      if (with_points && before == 0) memory_of_points.expect(points, what.example.name);
    }
  }
  void expect_steps(const SystemCase& what, bool with_points) {
    if (what.precision == Precision::fp64)
      expect_steps<double>(what, with_points);
    else
      expect_steps<float>(what, with_points);
  }
};

TEST_P(EmulatedSystems, SeveralStepsHaveTheBitsOfSingleOnes) {
  const auto [number, precision, capability] = GetParam();
  const SystemCase what(static_cast<std::size_t>(number), precision, capability);
  const bool is_compiled = emulated_systems().count({number, precision, capability, all_steps}) > 0;
  ASSERT_EQ(std::holds_alternative<FusedTile>(what.fused()), is_compiled);
  if (is_compiled) expect_steps(what, false);
}

TEST_P(EmulatedSystems, SeveralStepsAddToPointsAndRecordThemAfterEveryStep) {
  const auto [number, precision, capability] = GetParam();
  const SystemCase what(static_cast<std::size_t>(number), precision, capability);
  if (emulated_systems().count({number, precision, capability, all_steps}) > 0) expect_steps(what, true);
}

TEST_P(EmulatedSystems, PointsHaveTheBitsOfTheCanonicalForm) {
  const auto [number, precision, capability] = GetParam();
  expect_step(SystemCase(static_cast<std::size_t>(number), precision, capability), false);
}

TEST_P(EmulatedSystems, MarchesHaveTheBitsOfTheCanonicalForm) {
  const auto [number, precision, capability] = GetParam();
  const SystemCase what(static_cast<std::size_t>(number), precision, capability);
  if (what.example.names.dimensions > 1) expect_step(what, true);
}

TEST_P(EmulatedSystems, GroupsAsOneHaveTheBitsOfTheCanonicalForm) {
  const auto [number, precision, capability] = GetParam();
  const SystemCase what(static_cast<std::size_t>(number), precision, capability);
  if (what.facts.groups.size() == 1) return;
  expect_step(what, false, Groups::united);
  if (what.example.names.dimensions > 1) expect_step(what, true, Groups::united);
}

/// Every example must be compiled, with all of its groups.
TEST(EmulatedSystemCases, HoldAllExamples) {
  const auto examples = testing::example_steps();
  for (std::size_t number = 0; number < examples.size(); ++number) {
    const SystemFacts facts = facts_of(canonical_form(testing::system_of(examples[number])));
    for (std::size_t group = 0; group < facts.groups.size(); ++group)
      EXPECT_TRUE(
          emulated_systems().count({static_cast<int>(number), Precision::fp32, 90, static_cast<int>(group)}))
          << "list group " << group << " of example " << number << ", " << examples[number].name
          << ", in tests/kernels/cuda/CMakeLists.txt";
  }
}

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  const auto [number, precision, capability] = info.param;
  return std::to_string(number) + "_" + std::string(to_string(precision)) + "_sm" +
         std::to_string(capability);
}
INSTANTIATE_TEST_SUITE_P(Examples, EmulatedSystems, ::testing::ValuesIn(cases()), name_of);

}  // namespace
}  // namespace spsolve::cuda
