// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/calibration.hpp"
#include "kernels/ceilings.hpp"
#include "kernels/precision.hpp"

namespace spsolve {

/// Holds the rates that kernels reach on a device (GPU) or node (CPU), and on the network between devices;
/// they are not data-sheet peaks.
struct DeviceModel {
  std::string name;                // h200, a100, cpu, ...
  std::string origin = "nominal";  // "nominal", or where its rates are from
  bool gpu = false;
  bool measured = true;    // the rates were measured on devices of its kind; else guessed from the driver's
  double bandwidth = 0;    // bytes/s of memory, read + write
  double scalar_fp64 = 0;  // fused multiply-adds/s of the scalar unit, operands from the nearest memory
  double scalar_fp32 = 0;
  double launch_seconds = 0;  // cost of starting one launch

  // These describe CPUs.
  double cache_bytes = 0;    // cache for the intermediate steps of all tiles being worked on
  double cores = 1;          // the cores that share cache_bytes
  double write_traffic = 1;  // bytes moved per byte written: 2 where a line is read before it is written
  double level_cost = 1;     // time of an fma on an intermediate time level over one on the field

  // Rates of tensor cores are in instructions/s of the whole device, for 16 x 8 outputs per instruction; 0
  // without tensor cores.
  double mma_half = 0, mma_half_sparse = 0;  // k = 16, 32
  double mma_tf32 = 0, mma_tf32_sparse = 0;  // k = 8, 16
  double mma_fp64 = 0;                       // k = 16
  double wgmma_tf32_sparse = 0;              // per k = 16, where there is wgmma
  double shared_bandwidth = 0;               // bytes/s of shared memory, whole device
  double multiprocessors = 132;
  double compute_capability = 90;  // 10 * major + minor
  double shared_bytes_per_block = 227 << 10;

  // A halo exchange takes latency + bytes / bandwidth beyond a node; within a node it takes what was
  // measured.
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
  /// Times are linear between measured sizes. Messages below the least size take as long as that size; beyond
  /// the largest size, its bandwidth holds.
  double exchange_seconds(double sent_bytes, bool within_node) const;
};

/// Returns the model of a pair of server CPU cores (bench/results/cpu-unit.json).
DeviceModel nominal_cpu();

/// Returns the model of an NVIDIA H200: rates under its power limit (docs/log/scalar.md,
/// docs/log/separable.md).
DeviceModel nominal_gpu();
/// Sets the rates and costs of a model from a calibration.
void calibrate(DeviceModel& gpu, std::shared_ptr<const Calibration> calibration);
/// Returns the rates of a device in the form of a calibration.
Calibration::Rates rates_of(const DeviceModel& gpu);

/// Returns the upper limits of rates on a device. They are the ceilings of an H200, scaled by the ratio of
/// the model's rates of the device to those of an H200. For devices whose ceilings were measured, they are
/// these ceilings.
Calibration::PeakRates ceilings_of(const DeviceModel& device);

/// Holds the properties of a GPU that its driver reports.
struct DriverRates {
  double memory_bandwidth = 0, clock = 0, multiprocessors = 0;  // bytes/s, Hz
  int compute_capability = 90;
};
/// Returns the model of the nominal GPU scaled to another GPU: by what its driver reports, and by the fp32
/// and fp64 lanes of a multiprocessor of its architecture. Rates of tensor cores are scaled by clock and
/// number of multiprocessors alone.
DeviceModel scaled_model(const DeviceModel& nominal, const DriverRates& driver);

/// Returns a nominal model scaled to another device of its kind: each rate by the ratio of the ceilings
/// measured there and on the nominal device. Missing ceilings change nothing.
DeviceModel scaled_model(const DeviceModel& nominal, const Ceilings& ceilings);

/// Describes a field of DeviceModel by the name that files give it.
struct DeviceModelEntry {
  const char* key;
  double DeviceModel::*value;
  int min = 0;  // smallest value of a whole number; 0: any number above 0
};
const std::vector<DeviceModelEntry>& device_model_entries();

}  // namespace spsolve
