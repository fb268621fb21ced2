// SPDX-License-Identifier: Apache-2.0
// Measures systems of equations on one GPU:
//   bench_systems [--points N] [--precision P] [--fuse T] [--tiles N] [--seconds S] [--json FILE] [CASE...]
// Every row tells the rate in steps of points, the bytes that must move per point and step in one pass per
// step, and their rate as a share of that of copies of a field in the same run: more than 1 is out of reach
// of single steps.
#include "bench/bench_case.hpp"
#include "io/catalogue_step.hpp"
#include "kernels/catalogue/systems.hpp"
#include "kernels/cuda/runtime/device.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "kernels/cuda/system/fused_tile.hpp"
#include "kernels/cuda/system/system_unit.hpp"
#include "kernels/operator/statement_boxes.hpp"

namespace spsolve::cuda {
namespace {

constexpr double time_step = 0.01;  // values stay near those at the beginning

struct Options {
  std::int64_t points = 512;
  double seconds = 0.2;
  std::string walls = "d";
  int fuse = 1;           // steps per launch
  std::vector<int> tile;  // columns, rows of threads, rows of a thread, planes ahead, blocks, pace; of
                          // several steps also columns of a thread, and whether level 0 is read from rings
  std::size_t tiles =
      1;  // number of tiles of several steps that are measured, the fastest in the model first
  bool only_points = false;
};

/// Holds the arrays of all fields, whose roles rotate like those of a Block.
struct RotatingArrays {
  RotatingArrays(const Canonical& canonical, const SystemFacts& facts, const Box& box, const Index3& halo,
                 Precision precision, int steps, Memory& memory)
      : fuse(steps) {
    for (int field = 0; field < canonical.field_count(); ++field) {
      fields.emplace_back();
      const std::size_t arrays = facts.reach_previous[field].empty() ? 2 : fuse > 1 ? 4 : 3;
      while (fields.back().size() < arrays)
        fill_random(*fields.back().emplace_back(std::make_unique<Field>(box, halo, precision, memory)));
    }
  }
  /// Returns the array of a field `ahead` of the state; 0 is that of the state itself.
  Field* at(std::size_t field, std::size_t ahead) const {
    const std::size_t count = fields[field].size(), each = count == 4 ? 2 : 1;
    return fields[field][(each * turn + ahead) % count].get();
  }
  ConstState in(std::int64_t step = 0) const {
    std::vector<Field*> state;
    for (std::size_t f = 0; f < fields.size(); ++f) state.push_back(at(f, 0));
    for (std::size_t f = 0; f < fields.size(); ++f)
      if (fields[f].size() > 2) state.push_back(at(f, fields[f].size() == 4 ? 1 : 2));
    return State(state, step);
  }
  State out() const {
    std::vector<Field*> state;
    for (std::size_t f = 0; f < fields.size(); ++f) state.push_back(at(f, fields[f].size() == 4 ? 2 : 1));
    for (std::size_t f = 0; f < fields.size(); ++f)
      if (fields[f].size() == 4) state.push_back(at(f, 3));
    return State(state);
  }

  int fuse;
  std::vector<std::vector<std::unique_ptr<Field>>> fields;
  std::size_t turn = 0;
};

/// Returns the grid of a case, with its walls. In 2D and 1D there are nearly as many points as in 3D.
Domain domain_of(const CatalogueSystem& what, const Options& options) {
  Domain domain;
  domain.dimensions = what.dimensions;
  const double wanted = std::pow(static_cast<double>(options.points), 3.0 / what.dimensions);
  const std::int64_t extent =
      what.dimensions == 3 ? options.points : static_cast<std::int64_t>(wanted) / 512 * 512;
  const BoundaryKind kind = recorded_walls(options.walls);
  for (int axis = domain.first_axis(); axis < axis_count; ++axis) {
    domain.shape[axis] = extent;
    const double value = options.walls == "0" ? 0.0 : 0.5;
    domain.faces[axis] = {Face{kind, value}, Face{kind, value}};
  }
  return domain;
}

/// Returns coefficients with random values, as large as fused steps of the whole grid need them.
std::vector<std::unique_ptr<Field>> random_coefficients(const SystemFacts& facts, const Domain& domain,
                                                        Precision precision, int fuse, Memory& memory) {
  const Box advanced = grow(domain.box(), fuse * halo_radius(facts, domain));
  std::vector<std::unique_ptr<Field>> coefficients;
  for (const Box& offsets : facts.coefficient_reach) {
    coefficients.push_back(std::make_unique<Field>(
        Box{advanced.begin + offsets.begin, advanced.end + offsets.end - Index3{1, 1, 1}}, Index3{},
        sum_precision(precision), memory, domain.box().begin[x_axis]));
    fill_random(*coefficients.back());
  }
  return coefficients;
}

nlohmann::json bench(const CatalogueSystem& what, Precision precision, const Options& options) {
  const Canonical canonical = canonical_of(what, time_step);
  const SystemFacts facts = facts_of(canonical);
  const Domain domain = domain_of(what, options);
  const std::vector<Domain> fields(what.fields.size(), domain);
  DeviceMemory memory;
  const Stream stream;
  RotatingArrays levels(canonical, facts, domain.box(), options.fuse * halo_radius(facts, domain), precision,
                        options.fuse, memory);
  const auto coefficients = random_coefficients(facts, domain, precision, options.fuse, memory);
  std::vector<const Field*> given;
  for (const auto& coefficient : coefficients) given.push_back(coefficient.get());
  const SystemUnit unit(
      canonical, fields, time_step, precision, given, stream,
      {.fuse = options.fuse,
       .kernels = options.only_points ? SystemKernels::points : SystemKernels::fastest,
       .tile = options.tile.empty() ? std::nullopt : std::optional(given_tile(options.tile))});
  const LaunchTime time = launch_time(stream, options.seconds, [&] {
    unit.advance(levels.in(), levels.out(), domain.box(), options.fuse);
    ++levels.turn;
  });
  Field &from = *levels.at(0, 0), &to = *levels.at(0, 1);
  const LaunchTime copy = launch_time(stream, options.seconds / 2, [&] {
    const Index3 begin = from.allocated().begin;
    check_cuda(cudaMemcpyAsync(to.bytes_at(begin), from.bytes_at(begin), from.bytes() - 64,
                               cudaMemcpyDeviceToDevice, stream));
  });
  const auto points = static_cast<double>(domain.box().points()) * options.fuse;  // times steps
  const int bytes = facts.bytes_per_point(static_cast<int>(storage_bytes(precision)),
                                          static_cast<int>(storage_bytes(sum_precision(precision))));
  const auto copied = [&](double seconds) { return 2.0 * static_cast<double>(from.bytes()) / seconds; };
  return {{"case", what.name},
          {"shape", domain.shape},
          {"device", device_info(0).name},
          {"walls", options.walls},
          {"precision", to_string(precision)},
          {"fuse", options.fuse},
          {"tile", options.tile.empty() ? nlohmann::json() : nlohmann::json(options.tile)},
          {"seconds", time.boost_s},
          {"gpoints_per_s", points / time.boost_s / 1e9},
          {"seconds_sustained", time.sustained_s},
          {"gpoints_per_s_sustained", points / time.sustained_s / 1e9},
          {"bytes_per_point", bytes},
          {"copy_bytes_per_s", copied(copy.sustained_s)},
          {"copy_share", points * bytes / time.boost_s / copied(copy.boost_s)},
          {"copy_share_sustained", points * bytes / time.sustained_s / copied(copy.sustained_s)}};
}

/// Returns the tiles to measure, in numbers; one without numbers for what the unit chooses in single steps.
std::vector<std::vector<int>> tiles_of(const CatalogueSystem& what, Precision precision,
                                       const Options& options) {
  if (!options.tile.empty() || options.fuse == 1) return {options.tile};
  const Canonical canonical = canonical_of(what, time_step);
  const std::vector<Domain> fields(what.fields.size(), domain_of(what, options));
  std::vector<std::vector<int>> numbers;
  for (const FusedTile& fused : required(fused_tiles(canonical, facts_of(canonical), fields, precision,
                                                     options.fuse, device_info(0).block_limits())))
    if (numbers.size() < options.tiles) numbers.push_back(numbers_of(fused.tile));
  return numbers;
}

void print(const nlohmann::json& row) {
  const auto number = [&](const char* name) { return row[name].get<double>(); };
  std::printf(
      "%-20s %-5s x%d %7.1f boost %7.1f sustained G points/s, %3.0f bytes: %.3f, %.3f of a copy (%.0f GB/s)",
      row["case"].get<std::string>().c_str(), row["precision"].get<std::string>().c_str(),
      row["fuse"].get<int>(), number("gpoints_per_s"), number("gpoints_per_s_sustained"),
      number("bytes_per_point"), number("copy_share"), number("copy_share_sustained"),
      number("copy_bytes_per_s") / 1e9);
  std::printf(row["tile"].is_null() ? "\n" : ", tile %s\n", row["tile"].dump().c_str());
  std::fflush(stdout);
}

int bench_all(int argc, char** argv) {
  CLI::App app("Rates of systems of equations on one GPU");
  Options options;
  std::string file, why;
  std::vector<std::string> wanted, precisions{"fp32", "fp64"};
  app.add_option("--points", options.points, "Points along every axis in 3D")->capture_default_str();
  app.add_option("--precision", precisions, "fp64, fp32, bf16, fp16");
  app.add_option("--seconds", options.seconds, "Seconds of launches back to back")->capture_default_str();
  std::vector<int> depths{1};
  app.add_option("--fuse", depths, "Steps per launch: one number or several");
  app.add_option("--walls", options.walls, "p, d (of the value 0.5), 0 (of the value 0) or n")
      ->capture_default_str();
  app.add_option("--tile", options.tile,
                 "COLUMNS THREAD_ROWS ROWS_OF_THREAD AHEAD BLOCKS PACE [COLUMNS_OF_THREAD LEVEL_0_IN_RING]")
      ->expected(6, 8);
  app.add_option("--tiles", options.tiles,
                 "Number of tiles of several steps to measure, the fastest in the model first")
      ->capture_default_str()
      ->excludes("--tile");
  app.add_flag("--points-only", options.only_points, "One thread per point, no march");
  app.add_option("--json", file, "Write the results to this file");
  app.add_option("CASE", wanted, "Names, or beginnings of names");
  CLI11_PARSE(app, argc, argv);
  if (device_count(&why) == 0) throw std::runtime_error(why);
  nlohmann::json rows = nlohmann::json::array();
  for (const CatalogueSystem& what : catalogue_systems()) {
    if (!wanted.empty() && std::none_of(wanted.begin(), wanted.end(),
                                        [&](const std::string& name) { return what.name.starts_with(name); }))
      continue;
    for (const std::string& name : precisions)
      for (const int fuse : depths) try {
          Options one = options;
          one.fuse = fuse;
          const Precision precision = parse_precision(name).value();
          for (const std::vector<int>& tile : tiles_of(what, precision, one)) {
            one.tile = tile;
            rows.push_back(bench(what, precision, one));
            print(rows.back());
            if (!file.empty()) std::ofstream(file) << rows.dump(1) << "\n";
          }
        } catch (const std::exception& error) {
          std::printf("%s %s x%d: %s\n", what.name.c_str(), name.c_str(), fuse, error.what());
        }
  }
  return 0;
}

}  // namespace
}  // namespace spsolve::cuda

int main(int argc, char** argv) try {
  return spsolve::cuda::bench_all(argc, argv);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
  return 5;
}
