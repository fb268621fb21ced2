// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "halo/transport.hpp"
#include "kernels/packing.hpp"
#include "kernels/unit.hpp"
#include "solver/method.hpp"
#include "solver/problem.hpp"

namespace spsolve {

/// Sets the owned points of a field in host memory.
using FillField = std::function<void(Field& host)>;

/// What a block runs on: the memory of its fields, the unit that advances them, how halos are packed and
/// travel, and the order of computing and exchanging. On a device both are enqueued on streams of their own
/// and the host waits for nothing but host_copy() and synchronize().
class Backend {
 public:
  virtual ~Backend() = default;

  virtual Memory& memory() = 0;
  virtual Packer& packer() = 0;
  virtual Transport& transport() = 0;
  /// `source` (or null) is in this backend's memory and outlives the unit.
  virtual std::unique_ptr<Unit> make_unit(const Problem& problem, const Method& method,
                                          const Field* source) = 0;

  /// Exchanges enqueued from here on see what was computed before.
  virtual void exchange_after_compute() = 0;
  /// What is computed from here on sees what was exchanged before.
  virtual void compute_after_exchange() = 0;
  /// Returns when everything enqueued is done.
  virtual void synchronize() = 0;

  /// The owned points of `field` in host memory: the field itself, or a copy that lasts until the next call
  /// with the same `slot` (0 or 1).
  virtual const Field& host_copy(const Field& field, int slot) = 0;
  /// Sets the owned points of `field`: `fill` gets a field of the same owned box in host memory.
  virtual void set(Field& field, const FillField& fill) = 0;
};

/// CPU cores and MPI: everything is done when the call returns.
class CpuBackend : public Backend {
 public:
  explicit CpuBackend(Transport& transport) : transport_(&transport) {}

  Memory& memory() override { return host_memory(); }
  Packer& packer() override { return packer_; }
  Transport& transport() override { return *transport_; }
  std::unique_ptr<Unit> make_unit(const Problem& problem, const Method& method, const Field* source) override;
  void exchange_after_compute() override {}
  void compute_after_exchange() override {}
  void synchronize() override {}
  const Field& host_copy(const Field& field, int) override { return field; }
  void set(Field& field, const FillField& fill) override { fill(field); }

 private:
  Transport* transport_;
  HostPacker packer_;
};

}  // namespace spsolve
