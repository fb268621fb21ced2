// SPDX-License-Identifier: Apache-2.0
#include "solver/plan/device_model.hpp"

#include <algorithm>
#include <cmath>

namespace spsolve {

double DeviceModel::exchange_seconds(double sent_bytes, bool within_node) const {
  if (!within_node) return network_latency + sent_bytes / network_bandwidth;
  if (node_exchange.empty()) return node_latency + sent_bytes / node_bandwidth;
  const double bytes = sent_bytes / 2;  // to each of two neighbours
  const auto above = std::find_if(node_exchange.begin(), node_exchange.end(),
                                  [&](const ExchangeTime& row) { return row.bytes >= bytes; });
  if (above == node_exchange.begin()) return above->seconds;
  const ExchangeTime& below = *(above - 1);
  if (above == node_exchange.end()) return below.seconds * bytes / below.bytes;
  return std::lerp(below.seconds, above->seconds, (bytes - below.bytes) / (above->bytes - below.bytes));
}

DeviceModel nominal_cpu() {
  DeviceModel cpu;
  cpu.name = "cpu";
  cpu.bandwidth = 34e9;
  cpu.scalar_fp64 = 38e9;
  cpu.scalar_fp32 = 76e9;
  cpu.launch_seconds = 5e-6;
  cpu.cache_bytes = 2 * 1024.0 * 1024.0;
  cpu.cores = 2;
  cpu.shared_bytes_per_block = 1e9;
  cpu.level_cost = 1.25;
  cpu.ranks_per_node = 1;
  cpu.node_latency = cpu.network_latency = 2e-6;
  cpu.node_bandwidth = cpu.network_bandwidth = 12e9;
  return cpu;
}

DeviceModel nominal_gpu() {
  DeviceModel gpu;
  gpu.name = "h200";
  gpu.gpu = true;
  gpu.bandwidth = 4.1e12;
  gpu.scalar_fp64 = 12.5e12;  // of 15e12, and of 32e12: with the instructions around them
  gpu.scalar_fp32 = 27.5e12;
  gpu.launch_seconds = 3e-6;
  gpu.mma_half = 120e9;
  gpu.mma_half_sparse = 90e9;
  gpu.mma_tf32 = 151e9;
  gpu.mma_tf32_sparse = 113e9;
  gpu.mma_fp64 = 16.1e9;
  gpu.wgmma_tf32_sparse = 180e9;
  gpu.shared_bandwidth = 28e12;
  gpu.ranks_per_node = 8;
  // NCCL over NVLink on 8 GPUs; copies between fields arrive as late beside the interior (docs/scaling.md).
  gpu.node_exchange = {{4 << 10, 7e-6},  {64 << 10, 10e-6}, {256 << 10, 18e-6},
                       {1 << 20, 26e-6}, {4 << 20, 70e-6},  {16 << 20, 224e-6}};
  gpu.node_latency = 9e-6;  // where a file gives one of these two
  gpu.node_bandwidth = 150e9;
  gpu.network_latency = 20e-6;
  gpu.network_bandwidth = 40e9;  // 400 Gbit/s per GPU
  return gpu;
}

DeviceModel in_proportion(const DeviceModel& nominal, const Ceilings& ceilings) {
  struct Scaled {
    const char* ceiling;
    double there;  // where the nominal rate is from
    double DeviceModel::*rate;
  };
  // bench/results/ceilings-h200.json, sustained; the two cores of bench/results/cpu-unit.json.
  static const std::vector<Scaled> of_gpu{
      {"copy", 4.071e12, &DeviceModel::bandwidth},
      {"fma fp64", 30.40e12, &DeviceModel::scalar_fp64},
      {"fma fp32", 57.76e12, &DeviceModel::scalar_fp32},
      {"mma fp16 m16n8k16", 642e12, &DeviceModel::mma_half},
      {"mma.sp fp16 m16n8k32", 935e12, &DeviceModel::mma_half_sparse},
      {"mma tf32 m16n8k8", 326e12, &DeviceModel::mma_tf32},
      {"mma.sp tf32 m16n8k16", 468e12, &DeviceModel::mma_tf32_sparse},
      {"mma fp64 m16n8k16", 66.6e12, &DeviceModel::mma_fp64},
      {"wgmma.sp tf32 m64n256k16", 745e12, &DeviceModel::wgmma_tf32_sparse},
      {"shared memory", 33.34e12, &DeviceModel::shared_bandwidth}};
  static const std::vector<Scaled> of_cpu{{"copy", 34e9, &DeviceModel::bandwidth},
                                          {"fma fp64", 64e9, &DeviceModel::scalar_fp64},
                                          {"fma fp32", 128e9, &DeviceModel::scalar_fp32}};
  DeviceModel model = nominal;
  for (const Scaled& scaled : nominal.gpu ? of_gpu : of_cpu)
    if (const Ceiling* ceiling = ceilings.find(scaled.ceiling))
      model.*scaled.rate = nominal.*scaled.rate * ceiling->sustained / scaled.there;
  if (!ceilings.exchange.empty()) model.node_exchange = ceilings.exchange;
  model.origin = "ceilings measured on " + ceilings.device;
  return model;
}

const std::vector<DeviceModelEntry>& device_model_entries() {
  static const std::vector<DeviceModelEntry> entries{
      {"bandwidth", &DeviceModel::bandwidth},
      {"scalar_fp64", &DeviceModel::scalar_fp64},
      {"scalar_fp32", &DeviceModel::scalar_fp32},
      {"launch_seconds", &DeviceModel::launch_seconds},
      {"cache_bytes", &DeviceModel::cache_bytes},
      {"cores", &DeviceModel::cores},
      {"write_traffic", &DeviceModel::write_traffic},
      {"level_cost", &DeviceModel::level_cost},
      {"mma_half", &DeviceModel::mma_half},
      {"mma_half_sparse", &DeviceModel::mma_half_sparse},
      {"mma_tf32", &DeviceModel::mma_tf32},
      {"mma_tf32_sparse", &DeviceModel::mma_tf32_sparse},
      {"wgmma_tf32_sparse", &DeviceModel::wgmma_tf32_sparse},
      {"mma_fp64", &DeviceModel::mma_fp64},
      {"shared_bandwidth", &DeviceModel::shared_bandwidth},
      {"multiprocessors", &DeviceModel::multiprocessors, 1},
      {"compute_capability", &DeviceModel::compute_capability, 50},
      {"shared_bytes_per_block", &DeviceModel::shared_bytes_per_block, 16 << 10},
      {"ranks_per_node", &DeviceModel::ranks_per_node, 1},
      {"node_latency", &DeviceModel::node_latency},
      {"node_bandwidth", &DeviceModel::node_bandwidth},
      {"network_latency", &DeviceModel::network_latency},
      {"network_bandwidth", &DeviceModel::network_bandwidth}};
  return entries;
}

}  // namespace spsolve
