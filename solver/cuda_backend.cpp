// SPDX-License-Identifier: Apache-2.0
#include "solver/cuda_backend.hpp"

#include <tuple>

#include "halo/cuda_mpi_transport.hpp"
#include "halo/peer_transport.hpp"
#include "kernels/cuda/launch/view.hpp"
#include "kernels/cuda/points/device_points.hpp"
#include "kernels/cuda/runtime/branch.hpp"
#include "kernels/cuda/scalar/march_tile.hpp"
#include "kernels/cuda/scalar/scalar_sweep.hpp"
#include "kernels/cuda/scalar/scalar_unit.hpp"
#include "kernels/cuda/system/system_unit.hpp"
#include "kernels/cuda/tensor/tensor_sweep.hpp"
#include "kernels/sampling.hpp"
#include "solver/plan/model_parts.hpp"
#include "solver/plan/strided_equation.hpp"
#include "solver/strides.hpp"
#ifdef SPSOLVE_NCCL
#include "halo/nccl_transport.hpp"
#endif
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace spsolve {
namespace {

bool mpi_reads_device_memory() {
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

/// Returns the transport called `name` on a stream, and its full name.
std::pair<std::unique_ptr<Transport>, std::string> make_transport(const Communicator& communicator,
                                                                  const std::string& name,
                                                                  cudaStream_t stream,
                                                                  const cuda::KernelCompiler& compiler) {
  if (name == "peer" || (name == "auto" && communicator.size() > 1)) {
    if (auto transport = PeerTransport::make(communicator, stream, compiler))
      return {std::move(transport), "peer"};
    if (name == "peer")
      throw Error(InputKey{"parallel", "transport"},
                  " = \"peer\": the ranks are not all on one machine, or cannot map each "
                  "other's GPU memory; use auto, nccl or mpi");
  }
#ifdef SPSOLVE_NCCL
  if (name == "nccl" || (name == "auto" && communicator.size() > 1))
    return {std::make_unique<NcclTransport>(communicator, stream), "nccl"};
#else
  if (name == "nccl")
    throw Error(InputKey{"parallel", "transport"}, " = \"nccl\": this build has no NCCL; use auto or mpi");
#endif
  const bool aware = mpi_reads_device_memory();
  return {std::make_unique<CudaMpiTransport>(communicator, stream, aware),
          aware ? "mpi (device memory)" : "mpi (host memory)"};
}

/// Takes launches of several steps by one unit, and single steps by another.
class UnitByLength : public Unit {
 public:
  UnitByLength(int steps, std::unique_ptr<Unit> several_steps, std::unique_ptr<Unit> single_steps)
      : steps_(steps), several_steps_(std::move(several_steps)), single_steps_(std::move(single_steps)) {}
  void fill_ghosts(const State& state, const Box& valid) const override {
    single_steps_->fill_ghosts(state, valid);
  }
  void prepare(const ConstState& in, const Box& region, int steps) const override {
    unit(steps).prepare(in, region, steps);
  }
  void advance(const ConstState& in, const State& out, const Box& region, int steps) const override {
    unit(steps).advance(in, out, region, steps);
  }

 private:
  const Unit& unit(int steps) const { return steps == steps_ ? *several_steps_ : *single_steps_; }

  int steps_;
  std::unique_ptr<Unit> several_steps_, single_steps_;
};

/// Makes the march of several steps of an equation with two time levels; it is null if there is none.
std::unique_ptr<Unit> two_level_march(const Problem& problem, const Method& method, cudaStream_t stream) {
  const auto found = strided_equation(problem);
  const auto* equation = std::get_if<TwoLevelEquation>(&found);
  const Domain& domain = problem.domain_of(0);
  // Single steps of equations do not round operands, so marches do not either.
  const Precision precision = format_of(problem.precision);
  if (!equation || problem.equations->fills_ghosts() || method.strided || method.fuse == 1 ||
      !cuda::two_level_tile(domain, equation->s, precision, method.fuse,
                            cuda::current_device().block_limits()))
    return nullptr;
  return std::make_unique<cuda::ScalarUnit>(domain, equation->s, precision,
                                            cuda::ScalarUnit::TwoLevels{-equation->q}, stream);
}

/// Makes the sweep with the fused weights of a launch on a stream.
std::unique_ptr<Sweep> fused_sweep(const Problem& problem, const Method& method, cudaStream_t stream) {
  return sweep_of(cuda::make_tensor_sweep(problem.domain, fuse_steps(problem.stencil, method.fuse),
                                          problem.precision, method.layout.value(), method.dropped,
                                          cores_of(method), stream));
}

/// Makes the sweeps of strides on a stream.
StrideSweeps stride_sweeps(const Problem& problem, const Method& method, cudaStream_t stream) {
  StrideSweeps sweeps = make_stride_sweeps(
      problem, method, [&](const Stencil& weights, double factor) -> std::unique_ptr<Sweep> {
        if (!method.layout)
          return std::make_unique<cuda::ScalarSweep>(problem.domain, weights, problem.precision, stream,
                                                     factor);
        return sweep_of(cuda::make_tensor_sweep(problem.domain, weights, problem.precision, *method.layout,
                                                method.dropped, cores_of(method), stream, factor));
      });
  sweeps.minus_source = std::make_unique<cuda::ScalarSweep>(
      problem.domain, Stencil({1, 1, 1}, {1.0}, {0, 0, 0}), format_of(problem.precision), stream, -1.0);
  return sweeps;
}

}  // namespace

CudaBackend::CudaBackend(const Communicator& communicator, const std::string& transport, bool graphs)
    : CudaBackend(communicator, transport, graphs,
                  cuda::KernelCompiler(cuda::current_device().architecture())) {}

CudaBackend::CudaBackend(const Communicator& communicator, const std::string& transport, bool graphs,
                         const cuda::KernelCompiler& compiler)
    : exchange_(cuda::Stream::Priority::high),
      edges_(cuda::Stream::Priority::low),
      packer_(compute_, compiler),
      unpacker_(exchange_, packer_),
      reducer_(compute_, compiler),
      copies_(compute_) {
  std::tie(transport_, transport_name_) = make_transport(communicator, transport, exchange_, compiler);
  launches_.emplace(compute_, *transport_, graphs && transport_->enqueues_only());
}

std::array<bool, 3> CudaBackend::wrapped_axes(const Problem& problem, const Method& method,
                                              const Index3& block) const {
  if (problem.equations || method.fused_weights()) return {};
  const Domain& domain = problem.domain;
  const auto of_kernels =
      cuda::wrapped_axes({domain, problem.stencil, problem.precision, problem.has_source},
                         cuda::region_of({{}, block}, cuda::grid_axes(domain)), problem.precision,
                         method.fuse, cuda::current_device().block_limits());
  return cuda::to_grid_axes(of_kernels, domain);
}

std::unique_ptr<Unit> CudaBackend::make_unit(const Problem& problem, const Method& method,
                                             const GivenFields& sources, Queue queue,
                                             const std::array<bool, 3>& wraps) {
  const cudaStream_t stream = this->stream(queue);
  if (problem.equations) {
    const Equations& equations = *problem.equations;
    // Units on other queues, which are made later, fill ghost points with the tables of this unit.
    if (queue == Queue::compute)
      wall_filler_ = equations.filled.empty()
                         ? nullptr
                         : std::make_shared<cuda::WallFiller>(equations.filled, equations.domains,
                                                              problem.precision, stream);
    auto march = two_level_march(problem, method, stream);
    cuda::SystemUnitOptions options{method.fused_weights() || march ? 1 : method.fuse, problem.has_points,
                                    wall_filler_, [this] { launches_->never_replay(); }};
    auto unit = std::make_unique<cuda::SystemUnit>(equations.canonical, equations.domains, equations.dt,
                                                   problem.precision, sources.coefficients, stream,
                                                   std::move(options));
    if (march) return std::make_unique<UnitByLength>(method.fuse, std::move(march), std::move(unit));
    if (method.strided)
      return std::make_unique<StridedUnit>(problem.domain, method.fuse,
                                           stride_sweeps(problem, method, stream), std::move(unit));
    if (!method.fused_weights()) return unit;
    // Every wall has reflections, so a launch needs no bands, and single steps no branch.
    return std::make_unique<FusedUnit>(problem.domain, problem.stencil.radius(), method.fuse,
                                       fused_sweep(problem, method, stream), std::make_unique<Branch>(),
                                       std::move(unit), nullptr);
  }
  const auto single_steps = [&](cudaStream_t on) {
    return std::make_unique<cuda::ScalarUnit>(problem.domain, problem.stencil, problem.precision,
                                              sources.single, on, wraps);
  };
  if (!method.fused_weights()) return single_steps(stream);
  auto branch = std::make_unique<cuda::StreamBranch>(stream);
  auto exact = single_steps(branch->stream());
  return std::make_unique<FusedUnit>(problem.domain, problem.stencil.radius(), method.fuse,
                                     fused_sweep(problem, method, stream), std::move(branch),
                                     std::move(exact), sources.fused);
}

std::unique_ptr<PointWork> CudaBackend::make_points(PointTable table, AmountsOfStep amounts,
                                                    const Field& like) {
  return std::make_unique<cuda::DevicePoints>(std::move(table), std::move(amounts), like, compute_,
                                              cuda::KernelCompiler(cuda::current_device().architecture()));
}

void CudaBackend::require_memory(std::size_t bytes) const {
  cuda::require_device_memory(bytes, "the fields of one rank");
}

void CudaBackend::order(Queue earlier, Queue later) {
  reached_.record(stream(earlier));
  cuda::check_cuda(cudaStreamWaitEvent(stream(later), reached_));
}

void CudaBackend::synchronize() {
  order(Queue::exchange, Queue::compute);
  order(Queue::edges, Queue::compute);
  reached_.record(compute_);
  launches_->wait(reached_);
}

const cuda::Stream& CudaBackend::stream(Queue queue) const {
  return queue == Queue::compute ? compute_ : queue == Queue::exchange ? exchange_ : edges_;
}

}  // namespace spsolve
