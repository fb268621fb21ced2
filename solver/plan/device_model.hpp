// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/calibration.hpp"
#include "kernels/ceilings.hpp"
#include "kernels/precision.hpp"

namespace spsolve {

/// What a device can do, per device (GPU) or per node (CPU), and the network between devices: rates that
/// kernels reach, not data-sheet peaks.
struct DeviceModel {
  std::string name;                // h200, a100, cpu, ...
  std::string origin = "nominal";  // or where its rates are from
  bool gpu = false;
  bool measured =
      true;  // its rates, there or on devices of its kind; else they are guessed from the driver's
  double bandwidth = 0;    // bytes/s of memory, read + write
  double scalar_fp64 = 0;  // fused multiply-adds/s of the scalar unit, operands from the nearest memory
  double scalar_fp32 = 0;
  double launch_seconds = 0;  // cost of starting one launch

  // These are of CPUs.
  double cache_bytes = 0;    // what the intermediate steps of tiles being worked on may take, all together
  double cores = 1;          // that share cache_bytes
  double write_traffic = 1;  // bytes moved per byte written: 2 where a line is read before it is written
  double level_cost = 1;     // of an fma on an intermediate time level against one on the field

  // Tensor cores: 16 x 8 outputs per instruction, instructions/s of the whole device. Zero: none.
  double mma_half = 0, mma_half_sparse = 0;  // k = 16, 32
  double mma_tf32 = 0, mma_tf32_sparse = 0;  // k = 8, 16
  double mma_fp64 = 0;                       // k = 16
  double wgmma_tf32_sparse = 0;              // as of k = 16, where there is wgmma
  double shared_bandwidth = 0;               // bytes/s of shared memory, whole device
  double multiprocessors = 132;
  double compute_capability = 90;  // 10 * major + minor
  double shared_bytes_per_block = 227 << 10;

  // Halo exchange: latency + bytes / bandwidth, within a node and beyond; within one, what was measured.
  double ranks_per_node = 1;
  double node_latency = 0, node_bandwidth = 0;  // s, bytes/s per rank and direction
  double network_latency = 0, network_bandwidth = 0;
  std::vector<ExchangeTime> node_exchange = {};  // by growing size; empty: latency and bandwidth

  std::shared_ptr<const Calibration> calibration = {};  // null: the shipped one

  const Calibration& costs() const { return calibration ? *calibration : shipped_calibration(); }
  double scalar_rate(Precision precision) const {
    return precision == Precision::fp64 ? scalar_fp64 : scalar_fp32;
  }
  /// Returns the seconds in which every rank sends `sent_bytes` to all neighbours, and receives as many.
  /// Between measured sizes linear; the least takes what any less does, the largest gives the bandwidth
  /// beyond it.
  double exchange_seconds(double sent_bytes, bool within_node) const;
};

/// Returns a pair of server CPU cores (bench/results/cpu-unit.json).
DeviceModel nominal_cpu();

/// Returns an NVIDIA H200: rates under its power limit (docs/log/scalar.md, docs/log/separable.md).
DeviceModel nominal_gpu();
/// Takes the rates of a calibration, and what else it says of costs.
void calibrate(DeviceModel& gpu, std::shared_ptr<const Calibration> calibration);
/// Returns the rates of a device as calibrations have them.
Calibration::Rates rates_of(const DeviceModel& gpu);

/// Returns the rates that nothing exceeds on a device: the ceilings of an H200, each in proportion to what
/// the model gives the device and an H200. For devices whose ceilings were measured, these are they.
Calibration::Ceilings ceilings_of(const DeviceModel& device);

/// What a driver says of a GPU.
struct DriverRates {
  double memory_bandwidth = 0, clock = 0, multiprocessors = 0;  // bytes/s, Hz
  int compute_capability = 90;
};
/// Returns the nominal GPU in proportion to what the driver says of another, and to the lanes that
/// multiprocessors of its architecture have for fp32 and fp64. Rates of tensor cores go by clock and number
/// alone.
DeviceModel in_proportion(const DeviceModel& nominal, const DriverRates& driver);

/// Returns a nominal model for another device of its kind: rates in proportion to the ceilings that were
/// measured there and where the nominal figures are from. Ceilings that are missing change nothing.
DeviceModel in_proportion(const DeviceModel& nominal, const Ceilings& ceilings);

/// A field of DeviceModel by the name that files give it.
struct DeviceModelEntry {
  const char* key;
  double DeviceModel::*value;
  int least = 0;  // of whole numbers; 0: any number above 0
};
const std::vector<DeviceModelEntry>& device_model_entries();

}  // namespace spsolve
