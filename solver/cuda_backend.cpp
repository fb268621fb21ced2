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
      packer_(exchange_, cuda::KernelCompiler(architecture_of_current_device())) {
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

void CudaBackend::copy(const Field& from, Field& to, cudaMemcpyKind kind) {
  const Box& box = from.owned();
  const Index3 extent = box.extent();
  const std::size_t element = storage_bytes(from.precision());
  cudaMemcpy3DParms copy{};
  const auto pitched = [&](const Field& field) {
    return make_cudaPitchedPtr(const_cast<std::byte*>(field.bytes_at(box.begin)),
                               static_cast<std::size_t>(field.strides()[y_axis]) * element,
                               static_cast<std::size_t>(extent[2]) * element,
                               static_cast<std::size_t>(field.strides()[z_axis] / field.strides()[y_axis]));
  };
  copy.srcPtr = pitched(from);
  copy.dstPtr = pitched(to);
  copy.extent = make_cudaExtent(static_cast<std::size_t>(extent[2]) * element,
                                static_cast<std::size_t>(extent[1]), static_cast<std::size_t>(extent[0]));
  copy.kind = kind;
  cuda::check_cuda(cudaMemcpy3DAsync(&copy, compute_));
  compute_.synchronize();
}

const Field& CudaBackend::host_copy(const Field& field, int slot) {
  std::optional<Field>& host = staging_[static_cast<std::size_t>(slot)];
  if (!host || host->owned() != field.owned() || host->precision() != field.precision())
    host.emplace(field.owned(), Index3{0, 0, 0}, field.precision(), pinned_);
  copy(field, *host, cudaMemcpyDeviceToHost);
  return *host;
}

void CudaBackend::set(Field& field, const FillField& fill) {
  Field host(field.owned(), {0, 0, 0}, field.precision(), pinned_);
  fill(host);
  copy(host, field, cudaMemcpyHostToDevice);
}

}  // namespace spsolve
