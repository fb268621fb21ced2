// SPDX-License-Identifier: Apache-2.0
#include "solver/plan/device_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spsolve {
namespace {

/// Pairs the rates of a calibration with those of a model.
constexpr std::pair<double Calibration::Rates::*, double DeviceModel::*> rates_of_models[]{
    {&Calibration::Rates::bandwidth, &DeviceModel::bandwidth},
    {&Calibration::Rates::scalar_fp64, &DeviceModel::scalar_fp64},
    {&Calibration::Rates::scalar_fp32, &DeviceModel::scalar_fp32},
    {&Calibration::Rates::launch_seconds, &DeviceModel::launch_seconds},
    {&Calibration::Rates::mma_half, &DeviceModel::mma_half},
    {&Calibration::Rates::mma_half_sparse, &DeviceModel::mma_half_sparse},
    {&Calibration::Rates::mma_tf32, &DeviceModel::mma_tf32},
    {&Calibration::Rates::mma_tf32_sparse, &DeviceModel::mma_tf32_sparse},
    {&Calibration::Rates::mma_fp64, &DeviceModel::mma_fp64},
    {&Calibration::Rates::wgmma_tf32_sparse, &DeviceModel::wgmma_tf32_sparse},
    {&Calibration::Rates::shared_bandwidth, &DeviceModel::shared_bandwidth}};

void take_rates(DeviceModel& gpu, const Calibration::Rates& rates) {
  for (const auto& [of_calibration, of_model] : rates_of_models) gpu.*of_model = rates.*of_calibration;
}

}  // namespace

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
  const Calibration::Cpu& costs = shipped_calibration().cpu;
  DeviceModel cpu;
  cpu.name = "cpu";
  cpu.bandwidth = costs.bandwidth;
  cpu.scalar_fp64 = costs.scalar_fp64;
  cpu.scalar_fp32 = costs.scalar_fp32;
  cpu.launch_seconds = costs.launch_seconds;
  cpu.cache_bytes = 2 * 1024.0 * 1024.0;
  cpu.cores = 2;
  cpu.shared_bytes_per_block = 1e9;
  cpu.level_cost = costs.level_cost;
  cpu.ranks_per_node = 1;
  cpu.node_latency = cpu.network_latency = costs.latency;
  cpu.node_bandwidth = cpu.network_bandwidth = costs.message_bandwidth;
  return cpu;
}

DeviceModel nominal_gpu() {
  const Calibration::Exchange& exchange = shipped_calibration().exchange;
  DeviceModel gpu;
  gpu.name = "h200";
  gpu.gpu = true;
  take_rates(gpu, shipped_calibration().rates);
  gpu.ranks_per_node = 8;
  // These times are those of NCCL over NVLink on 8 GPUs. Copies between fields arrive as late while the
  // interior is computed (docs/log/scaling.md).
  gpu.node_exchange = {{4 << 10, exchange.seconds_4k},     {64 << 10, exchange.seconds_64k},
                       {256 << 10, exchange.seconds_256k}, {1 << 20, exchange.seconds_1m},
                       {4 << 20, exchange.seconds_4m},     {16 << 20, exchange.seconds_16m}};
  gpu.node_latency = exchange.node_latency;  // for files that give only one of these two
  gpu.node_bandwidth = exchange.node_bandwidth;
  gpu.network_latency = exchange.network_latency;
  gpu.network_bandwidth = exchange.network_bandwidth;
  return gpu;
}

Calibration::Rates rates_of(const DeviceModel& gpu) {
  Calibration::Rates rates = shipped_calibration().rates;
  for (const auto& [of_calibration, of_model] : rates_of_models) rates.*of_calibration = gpu.*of_model;
  return rates;
}

Calibration::PeakRates ceilings_of(const DeviceModel& device) {
  const Calibration& shipped = shipped_calibration();
  Calibration::PeakRates ceilings = shipped.ceilings;
  if (!device.gpu) {
    ceilings.copy = device.bandwidth;
    ceilings.fma_fp64 = shipped.cpu.ceiling_fma_fp64 * device.scalar_fp64 / shipped.cpu.scalar_fp64;
    ceilings.fma_fp32 = shipped.cpu.ceiling_fma_fp32 * device.scalar_fp32 / shipped.cpu.scalar_fp32;
    return ceilings;
  }
  const Calibration::Rates &there = shipped.rates, here = rates_of(device);
  ceilings.copy *= here.bandwidth / there.bandwidth;
  ceilings.fma_fp64 *= here.scalar_fp64 / there.scalar_fp64;
  ceilings.fma_fp32 *= here.scalar_fp32 / there.scalar_fp32;
  ceilings.mma_half *= here.mma_half / there.mma_half;
  ceilings.mma_half_sparse *= here.mma_half_sparse / there.mma_half_sparse;
  ceilings.mma_tf32 *= here.mma_tf32 / there.mma_tf32;
  ceilings.mma_tf32_sparse *= here.mma_tf32_sparse / there.mma_tf32_sparse;
  ceilings.mma_fp64 *= here.mma_fp64 / there.mma_fp64;
  ceilings.wgmma_tf32_sparse *= here.wgmma_tf32_sparse / there.wgmma_tf32_sparse;
  ceilings.wgmma_half *= here.wgmma_tf32_sparse / there.wgmma_tf32_sparse;
  ceilings.wgmma_half_sparse *= here.wgmma_tf32_sparse / there.wgmma_tf32_sparse;
  ceilings.shared_memory *= here.shared_bandwidth / there.shared_bandwidth;
  return ceilings;
}

void calibrate(DeviceModel& gpu, std::shared_ptr<const Calibration> calibration) {
  take_rates(gpu, calibration->rates);
  gpu.calibration = std::move(calibration);
}

DeviceModel scaled_model(const DeviceModel& nominal, const DriverRates& driver) {
  const Calibration::Rates& there = shipped_calibration().rates;
  DeviceModel model = nominal;
  model.multiprocessors = driver.multiprocessors;
  model.compute_capability = driver.compute_capability;
  if (driver.memory_bandwidth > 0) model.bandwidth *= driver.memory_bandwidth / there.driver_bandwidth;
  if (driver.clock <= 0) return model;
  const double cycles =
      driver.clock * driver.multiprocessors / (there.driver_clock * there.driver_multiprocessors);
  for (auto rate : {&DeviceModel::scalar_fp32, &DeviceModel::scalar_fp64, &DeviceModel::mma_half,
                    &DeviceModel::mma_half_sparse, &DeviceModel::mma_tf32, &DeviceModel::mma_tf32_sparse,
                    &DeviceModel::mma_fp64, &DeviceModel::wgmma_tf32_sparse, &DeviceModel::shared_bandwidth})
    model.*rate *= cycles;
  // Returns the lanes of a multiprocessor, in proportion to the 128 for fp32 and 64 for fp64 on sm_90 (CUDA
  // C++ Programming Guide, table of arithmetic throughput).
  const int capability = driver.compute_capability;
  const bool server = capability == 70 || capability == 80 || capability == 90 || capability == 100;
  if (capability == 80 || capability < 86) model.scalar_fp32 *= 0.5;
  model.scalar_fp64 *= !server ? 2.0 / 64 : capability < 90 ? 0.5 : 1.0;
  return model;
}

DeviceModel scaled_model(const DeviceModel& nominal, const Ceilings& ceilings) {
  struct Scaled {
    const char* ceiling;
    double there;  // the rate of the device that was measured
    double DeviceModel::*rate;
  };
  const Calibration::PeakRates& gpu = shipped_calibration().ceilings;
  const Calibration::Cpu& cpu = shipped_calibration().cpu;
  const std::vector<Scaled> of_gpu{
      {"copy", gpu.copy, &DeviceModel::bandwidth},
      {"fma fp64", gpu.fma_fp64, &DeviceModel::scalar_fp64},
      {"fma fp32", gpu.fma_fp32, &DeviceModel::scalar_fp32},
      {"mma fp16 m16n8k16", gpu.mma_half, &DeviceModel::mma_half},
      {"mma.sp fp16 m16n8k32", gpu.mma_half_sparse, &DeviceModel::mma_half_sparse},
      {"mma tf32 m16n8k8", gpu.mma_tf32, &DeviceModel::mma_tf32},
      {"mma.sp tf32 m16n8k16", gpu.mma_tf32_sparse, &DeviceModel::mma_tf32_sparse},
      {"mma fp64 m16n8k16", gpu.mma_fp64, &DeviceModel::mma_fp64},
      {"wgmma.sp tf32 m64n256k16", gpu.wgmma_tf32_sparse, &DeviceModel::wgmma_tf32_sparse},
      {"shared memory", gpu.shared_memory, &DeviceModel::shared_bandwidth}};
  const std::vector<Scaled> of_cpu{{"copy", cpu.bandwidth, &DeviceModel::bandwidth},
                                   {"fma fp64", cpu.ceiling_fma_fp64, &DeviceModel::scalar_fp64},
                                   {"fma fp32", cpu.ceiling_fma_fp32, &DeviceModel::scalar_fp32}};
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
