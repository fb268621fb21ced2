// SPDX-License-Identifier: Apache-2.0
#include "app/inspect/stand_in.hpp"

#include "app/setup/device.hpp"

namespace spsolve {

std::optional<DeviceModel> stand_in(const Communicator& communicator, const RunConfig& config,
                                    const Terminal& terminal) {
  const std::string &device = config.compute.device, &transport = config.parallel.transport;
  if (device != "cuda" && !(device == "auto" && (transport == "nccl" || transport == "peer"))) return {};
  ParallelConfig any;
  any.share_gpus = true;
  const DeviceChoice here = choose_device(communicator, {}, any);
  if (here.cuda) return {};
  const DeviceModel gpu = nominal_gpu();
  terminal.warn("a run would be refused here, because it gets no GPU: {}; checked for {}", here.note,
                gpu.name);
  return gpu;
}

}  // namespace spsolve
