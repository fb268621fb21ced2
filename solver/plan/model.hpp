// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kernels/sparse/layout.hpp"
#include "solver/plan/device_model.hpp"
#include "solver/plan/method.hpp"
#include "solver/plan/rejected_method.hpp"
#include "solver/plan/sweet_spot.hpp"
#include "solver/problem.hpp"

namespace spsolve {

/// Holds one way of solving, with the numbers that the model gives it. Names in brackets are those of paper
/// 003 ("Do we need tensor cores for stencil computations?", equations 4 to 18); work and traffic are per
/// point.
struct Candidate : Method {
  Precision precision = Precision::fp64;
  std::size_t terms = 0;      // separable sweeps: the rank after the cut
  double bytes = 0;           // to and from main memory, per step [M / t]
  double fma = 0;             // executed, including padding and points computed twice, per step [C / 2t]
  double redundancy = 1;      // [alpha]: taps of the fused weights / (t taps)
  double sparsity = 1;        // [S]: taps of the fused weights / fma executed per launch; above 1 where
                              // folding or separable passes need fewer multiply-adds than there are taps
  double memory_seconds = 0;  // per point and step, as all seconds below
  double compute_seconds = 0;
  double shared_seconds = 0;
  double wall_seconds = 0;  // points beside walls: time beyond that of other points
  double launch_seconds = 0;
  double copy_seconds = 0;      // part of launch_seconds: periodic copies on ranks that have whole axes
  std::array<bool, 3> wraps{};  // axes without periodic copies on ranks that have them whole
  double seconds = 0;           // the time of all parts together
  std::string bound = {};       // memory, compute, shared, launch or walls: what takes most of the time
  double peak = 0;              // highest flop/s of its instructions, zeros counted [P]
  double ridge = 0;             // peak over the bandwidth of a copy, flop/B [I*]
  SweetSpot spot = {};          // tensor cores of GPUs: against the scalar unit at this depth
  std::string no_kernel = {};   // the reason if seconds are infinite, else empty
  double error = 0;             // bound on the relative L2 error per step (kernels/sparse/accuracy.hpp)

  /// Returns the executed floating-point operations per byte [I].
  double intensity() const { return 2 * fma / bytes; }
};

/// Limits the weights that fused steps may have: more take gigabytes and minutes to make.
constexpr std::int64_t max_fused_weights = std::int64_t{1} << 19;

/// Says why there is no kernel for a problem on a device by a method; returns nothing if there may be one.
/// CPUs emulate tensor cores, slowly but with the exact numerics, so the plan never chooses them there.
std::optional<Refusal> why_no_kernel(const Problem& problem, const DeviceModel& device, const Method& method);

/// Says why results would not keep the error that the precision promises (docs/internals/numerics.md);
/// returns nothing if they do. In fp32 fused weights sometimes do not.
std::optional<Refusal> why_no_promise(const Problem& problem, const Method& method);
inline bool keeps_promise(const Problem& problem, const Method& method) {
  return !why_no_promise(problem, method);
}

/// Returns the numbers of a candidate that computes in `problem.precision`. The seconds are infinite if no
/// kernel of its kind takes the weights or fits the device, which is known only when the kernel is made;
/// `no_kernel` says why.
Candidate evaluate(const Problem& problem, const DeviceModel& device, const Method& method);

}  // namespace spsolve
