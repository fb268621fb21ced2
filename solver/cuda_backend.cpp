// SPDX-License-Identifier: Apache-2.0
#include "solver/cuda_backend.hpp"

#include "halo/staged_transport.hpp"
#include "kernels/cuda/scalar_unit.hpp"
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

std::string architecture_of_current_device() {
  int device = 0;
  cuda::check_cuda(cudaGetDevice(&device));
  return cuda::device_info(device).architecture();
}

}  // namespace

CudaBackend::CudaBackend(const Communicator& communicator, const std::string& transport)
    : exchange_(cuda::Stream::Priority::high),
      packer_(exchange_, cuda::KernelCompiler(architecture_of_current_device())),
      reducer_(compute_, cuda::KernelCompiler(architecture_of_current_device())),
      copies_(compute_) {
#ifdef SPSOLVE_NCCL
  if (transport == "nccl" || (transport == "auto" && communicator.size() > 1)) {
    transport_ = std::make_unique<NcclTransport>(communicator, exchange_);
    transport_name_ = "nccl";
    return;
  }
#else
  if (transport == "nccl")
    throw Error(Status::invalid_input,
                "[parallel] transport = \"nccl\": this build has no NCCL; use auto or mpi");
#endif
  if (mpi_reads_device_memory()) {
    transport_ = std::make_unique<DeviceMpiTransport>(communicator, exchange_);
    transport_name_ = "mpi (device memory)";
  } else {
    transport_ = std::make_unique<StagedMpiTransport>(communicator, exchange_);
    transport_name_ = "mpi (host memory)";
  }
}

std::unique_ptr<Unit> CudaBackend::make_unit(const Problem& problem, const Method&, const Field* source) {
  return std::make_unique<cuda::ScalarUnit>(problem.domain, problem.stencil, problem.precision, source,
                                            compute_);
}

void CudaBackend::exchange_after_compute() {
  computed_.record(compute_);
  cuda::check_cuda(cudaStreamWaitEvent(exchange_, computed_));
}

void CudaBackend::compute_after_exchange() {
  exchanged_.record(exchange_);
  cuda::check_cuda(cudaStreamWaitEvent(compute_, exchanged_));
}

void CudaBackend::synchronize() {
  exchange_.synchronize();
  compute_.synchronize();
}

}  // namespace spsolve
