// SPDX-License-Identifier: Apache-2.0
#include "app/bench.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/clock.hpp"
#include "app/device.hpp"
#include "app/terminal.hpp"
#include "app/versions.hpp"
#include "io/atomic_file.hpp"
#include "kernels/presets.hpp"
#include "kernels/reference.hpp"
#include "solver/block.hpp"
#include "solver/plan.hpp"
#ifdef SPSOLVE_CUDA
#include "kernels/cuda/device.hpp"
#endif

namespace spsolve {
namespace {

using Json = nlohmann::ordered_json;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Data that look random, a function of the point alone (splitmix64; Steele, Lea and Flood 2014), in [-1, 1).
double initial_value(const Index3& p) {
  auto bits = static_cast<std::uint64_t>((p[0] * 1000003 + p[1]) * 1000003 + p[2]) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((bits ^ (bits >> 31)) >> 11) * 0x1p-52 - 1.0;
}

/// The same as a precision stores it: the reference starts from these.
double stored_initial_value(const Index3& p, Precision precision) {
  return with_storage(precision,
                      [&]<class Storage>() { return stored_value(to_storage<Storage>(initial_value(p))); });
}

void set_initial(Field& field) {
  with_storage(field.precision(), [&]<class Storage>() {
    for_each_point(field.owned(),
                   [&](const Index3& p) { *field.at<Storage>(p) = to_storage<Storage>(initial_value(p)); });
  });
}

struct Errors {
  double l2 = 0, max = 0;  // relative to the l2 norm and the largest magnitude of the reference
};

/// The error of the block's state after `steps` steps, on boxes at the corners and in the middle of every
/// rank's block. The reference of a box is computed from all that it depends on: the box grown by steps *
/// radius.
Errors measure_errors(const Communicator& communicator, const Problem& problem, const Field& state,
                      int steps) {
  double sums[2] = {}, largest[2] = {};
  const Box owned = state.owned();
  for (int corner = 0; corner <= 8; ++corner) {
    Box sample = owned;
    for (int axis = 0; axis < axis_count; ++axis) {
      const std::int64_t side = problem.domain.dimensions == 1   ? 512
                                : problem.domain.dimensions == 2 ? 24
                                                                 : 8;
      if (corner == 8)
        sample.begin[axis] += std::max<std::int64_t>(0, (owned.extent()[axis] - side) / 2);
      else if (corner >> axis & 1)
        sample.begin[axis] = std::max(owned.begin[axis], owned.end[axis] - side);
      sample.end[axis] = std::min(owned.end[axis], sample.begin[axis] + side);
    }
    const Box cone = grow(sample, steps * problem.stencil.radius());
    std::vector<double> values;
    for_each_point(cone, [&](Index3 p) {
      for (int axis = 0; axis < axis_count; ++axis) p[axis] = wrap(p[axis], problem.domain.shape[axis]);
      values.push_back(stored_initial_value(p, problem.precision));
    });
    const Domain local{problem.domain.dimensions, cone.extent(), {}};
    values = reference_steps(local, problem.stencil, std::move(values), steps);
    with_storage(problem.precision, [&]<class Storage>() {
      std::size_t i = 0;
      for_each_point(cone, [&](const Index3& p) {
        const double expected = values[i++];
        if (!contains(sample, {p, p + Index3{1, 1, 1}})) return;
        const double error = stored_value(*state.at<Storage>(p)) - expected;
        sums[0] += error * error;
        sums[1] += expected * expected;
        largest[0] = std::max(largest[0], std::abs(error));
        largest[1] = std::max(largest[1], std::abs(expected));
      });
    });
  }
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, communicator.handle()));
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPI_DOUBLE, MPI_MAX, communicator.handle()));
  return {std::sqrt(sums[0] / sums[1]), largest[0] / largest[1]};
}

/// Bytes per second, all ranks together, of copies of fields far beyond the caches by `copy`, best of five.
template <class Copy>
double best_bandwidth(const Communicator& communicator, double bytes, Copy&& copy) {
  double least = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < 6; ++repeat) {
    communicator.barrier();
    const auto begin = Clock::now();
    copy();
    const double seconds = communicator.all_reduce(seconds_since(begin), MPI_MAX);
    if (repeat) least = std::min(least, seconds);
  }
  return bytes * communicator.size() / least;
}

/// On a CPU with the write-allocate that every line written takes.
double copy_bandwidth(const Communicator& communicator, [[maybe_unused]] const DeviceChoice& device) {
#ifdef SPSOLVE_CUDA
  if (device.cuda) {
    cuda::select_device(device.device);
    constexpr std::size_t bytes = std::size_t{1} << 30;
    const cuda::DeviceBuffer from(bytes), to(bytes);
    const cuda::Stream stream;
    return best_bandwidth(communicator, 16.0 * bytes, [&] {
      for (int i = 0; i < 8; ++i)
        cuda::check_cuda(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream));
      stream.synchronize();
    });
  }
#endif
  constexpr std::int64_t count = 1 << 25;
  std::vector<double> from(count, 1.0), to(count);
  return best_bandwidth(communicator, 3.0 * 8.0 * count, [&] {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count; ++i)
      to[static_cast<std::size_t>(i)] = from[static_cast<std::size_t>(i)];
  });
}

struct Case {
  std::string stencil;
  Index3 shape;
  Precision precision;
};

/// Far beyond the caches, and quick.
Index3 default_shape(int dimensions, bool cuda) {
  if (dimensions == 1) return {1, 1, cuda ? 100'000'000 : 1 << 25};
  if (dimensions == 2) return cuda ? Index3{1, 10240, 10240} : Index3{1, 8192, 8192};
  return cuda ? Index3{1024, 1024, 1024} : Index3{512, 256, 256};
}

ParallelConfig parallel_of(const BenchRequest& request) {
  ParallelConfig parallel;
  parallel.transport = request.transport;
  parallel.share_gpus = request.share_gpus;
  parallel.graphs = !request.no_graphs;
  return parallel;
}

/// Seconds of the parts of a launch on this rank, since `before`.
Json parts_of_launch(const Timings& before, const Timings& after, std::int64_t launches) {
  const auto mean = [&](double Timings::*part) {
    return (after.*part - before.*part) / static_cast<double>(launches);
  };
  return {{"packing", mean(&Timings::packing)},     {"travel", mean(&Timings::travel)},
          {"unpacking", mean(&Timings::unpacking)}, {"interior", mean(&Timings::interior)},
          {"edges", mean(&Timings::edges)},         {"exchange_not_hidden", mean(&Timings::exchange)},
          {"compute", mean(&Timings::compute)}};
}

Json measure(const Communicator& communicator, const Case& what, const BenchRequest& request,
             double bandwidth, const DeviceChoice& device) {
  const int dimensions = preset_dimensions(what.stencil).value();
  const Problem problem{{dimensions, what.shape, {}},
                        make_preset(what.stencil, dimensions, {1, 1, 1}, {}),
                        what.precision,
                        false};
  const Plan plan = make_plan(problem, device.cuda ? nominal_gpu() : nominal_cpu(),
                              {request.unit, request.layout, request.fuse});
  const int fuse = plan.chosen.fuse;
  const Decomposition decomposition(
      what.shape, least_surface_rank_grid(what.shape, communicator.size(), fuse * problem.stencil.radius()));
  const Machine machine = make_machine(communicator, device, parallel_of(request));
  Block block(communicator, problem, decomposition, plan.chosen, *machine.backend);

  block.set_state(set_initial);
  const int checked_steps = 2 * fuse;
  block.launch(fuse);
  block.launch(fuse);
  const Errors errors = measure_errors(communicator, problem, block.state(), checked_steps);

  const auto timed_run = [&](std::int64_t launches) {
    communicator.barrier();
    const auto begin = Clock::now();
    for (std::int64_t i = 0; i < launches; ++i) block.launch(fuse);
    machine.backend->synchronize();
    return communicator.all_reduce(seconds_since(begin), MPI_MAX);
  };
  const double one = timed_run(2) / 2;
  const std::int64_t launches = request.steps > 0 ? (request.steps + fuse - 1) / fuse
                                                  : std::max<std::int64_t>(1, std::llround(0.3 / one));
  const Timings before = block.timings();
  std::vector<double> seconds;
  for (int repeat = 0; repeat < 7; ++repeat) seconds.push_back(timed_run(launches));
  const Json parts = parts_of_launch(before, block.timings(), 7 * launches);

  const std::int64_t steps = launches * fuse;
  const double rate = static_cast<double>(volume(what.shape)) * static_cast<double>(steps) / median(seconds);
  return {{"stencil", what.stencil},
          {"shape", std::vector<std::int64_t>(what.shape.end() - dimensions, what.shape.end())},
          {"steps", steps},
          {"precision", to_string(what.precision)},
          {"unit", plan.chosen.unit},
          {"layout", plan.chosen.layout},
          {"fuse", fuse},
          {"device", device.of_rank},
          {"transport", machine.transport_name},
          {"graphs", machine.backend->transport().enqueues_only() && !request.no_graphs},
          {"ranks", communicator.size()},
          {"rank_grid", decomposition.rank_grid()},
          {"threads_per_rank", omp_get_max_threads()},
          {"seconds", median(seconds)},
          {"seconds_per_launch_of_rank_0", parts},
          {"seconds_least", *std::min_element(seconds.begin(), seconds.end())},
          {"gstencil_per_s", rate * 1e-9},
          {"bytes_per_point", plan.chosen.bytes * fuse},
          {"roofline_fraction", rate * plan.chosen.bytes / bandwidth},
          {"copy_bandwidth_gb_per_s", bandwidth * 1e-9},
          {"predicted_gstencil_per_s", 1e-9 / plan.chosen.seconds},
          {"error_l2", errors.l2},
          {"error_max", errors.max},
          {"error_steps", checked_steps}};
}

std::vector<Case> cases_of(const BenchRequest& request, bool cuda) {
  if (request.suite == "scalar") {
    std::vector<Case> cases;
    for (const char* stencil :
         {"1d1r", "1d2r", "star2d1r", "box2d1r", "star2d3r", "box2d3r", "star3d1r", "box3d1r"})
      for (const Precision precision : {Precision::fp64, Precision::fp32})
        cases.push_back({stencil, default_shape(*preset_dimensions(stencil), cuda), precision});
    return cases;
  }
  if (!request.suite.empty())
    throw Error(Status::invalid_input,
                fmt::format("--suite {}: there is no such suite; use scalar", request.suite));
  const auto dimensions = preset_dimensions(request.stencil);
  if (!dimensions)
    throw Error(Status::invalid_input, fmt::format("--stencil {}: not a benchmark shape such as {}",
                                                   request.stencil, fmt::join(preset_names(), ", ")));
  Index3 shape = default_shape(*dimensions, cuda);
  if (!request.shape.empty()) {
    if (request.shape.size() != static_cast<std::size_t>(*dimensions))
      throw Error(Status::invalid_input, fmt::format("--shape: {} extents given, {} has {}",
                                                     request.shape.size(), request.stencil, *dimensions));
    std::copy(request.shape.begin(), request.shape.end(), shape.end() - *dimensions);
  }
  return {{request.stencil, shape, *parse_precision(request.precision)}};
}

}  // namespace

Status bench(const Communicator& communicator, const BenchRequest& request) {
  const Terminal terminal(communicator, false);
  ComputeConfig compute;
  compute.device = request.device;
  const DeviceChoice device = choose_device(communicator, compute, parallel_of(request));
  const std::vector<Case> cases = cases_of(request, device.cuda);
  const double bandwidth = copy_bandwidth(communicator, device);
  terminal.print("{}; copy bandwidth {:.1f} GB/s", device.of_rank, bandwidth * 1e-9);
  terminal.print("{:<10} {:>18} {:>5} {:<7} {:>4} {:>11} {:>9} {:>9} {:>9}", "stencil", "shape", "prec",
                 "unit", "fuse", "GStencil/s", "roofline", "err l2", "err max");
  Json results = Json::array();
  for (const Case& what : cases) {
    const Json result = measure(communicator, what, request, bandwidth, device);
    terminal.print("{:<10} {:>18} {:>5} {:<7} {:>4} {:>11.4f} {:>8.0f}% {:>9.1e} {:>9.1e}", what.stencil,
                   fmt::format("{}", fmt::join(result["shape"].get<std::vector<std::int64_t>>(), "x")),
                   to_string(what.precision), result["unit"].get<std::string>(), result["fuse"].get<int>(),
                   result["gstencil_per_s"].get<double>(), 100 * result["roofline_fraction"].get<double>(),
                   result["error_l2"].get<double>(), result["error_max"].get<double>());
    results.push_back(result);
  }
  if (!request.json.empty())
    collectively(communicator, [&] {
      if (communicator.root()) write_text(request.json, results.dump(2) + "\n");
    });
  return Status::finished;
}

}  // namespace spsolve
