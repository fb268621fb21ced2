// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "halo/transport.hpp"
#include "kernels/no_kernel.hpp"
#include "kernels/packing.hpp"
#include "kernels/points/host_points.hpp"
#include "kernels/reduction.hpp"
#include "kernels/sampling.hpp"
#include "kernels/sweep.hpp"
#include "kernels/unit.hpp"
#include "solver/plan/method.hpp"
#include "solver/problem.hpp"
#include "solver/timings.hpp"

namespace spsolve {

/// Sets the owned points of a field in host memory.
using FillField = std::function<void(Field& host)>;

/// Holds a copy of field values that the host reads. The copy may still be incomplete, or lie on the device.
class HostCopy {
 public:
  virtual ~HostCopy() = default;
  /// Returns the destination that a reducer of the backend samples to; it is empty if the copy is the field
  /// itself.
  virtual Sample sample() { return {}; }
  /// Starts the transfer to the host, if there is one. Call it after the points were sampled.
  virtual void start_transfer() {}
  /// Waits until the values may be read. Any thread may call it; the result must not outlive the copy.
  virtual ReadableField readable() = 0;
  /// Waits for the values of a copy in host memory. Throws std::logic_error if it lies on a device.
  const Field& host_field() {
    const ReadableField values = readable();
    if (values.read) throw std::logic_error("a copy on a device is read as if it lay in host memory");
    return *values.field;
  }

  /// Holds an upper bound of the magnitude of the values, before they were rounded to those of the copy.
  double max_magnitude = std::numeric_limits<double>::infinity();
};

/// Represents work that is enqueued repeatedly, by the same calls with the same arguments.
class Launch {
 public:
  virtual ~Launch() = default;
  /// Runs `enqueue`, or replays what it enqueued before.
  virtual void run(const std::function<void()>& enqueue) = 0;
};

/// Refers to fields in a backend's memory that a launch reads and never writes: the sources of single steps
/// and of fused steps (null: no source), and the coefficients of equations.
struct GivenFields {
  const Field *single = nullptr, *fused = nullptr;
  /// These are the derived coefficients of equations, in their order (Canonical::coefficients).
  std::vector<const Field*> coefficients = {};
};

/// Names the queue that work is enqueued on. Messages have the highest priority; edges use what the interior
/// leaves free.
enum class Queue { compute, exchange, edges };

/// Represents the device of a block: the memory of its fields, the unit that advances them, packing and
/// transport of halos, and the order of computation and exchange. A device has streams for both, and the host
/// waits only in synchronize(), the reducer and copies.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual Memory& memory() = 0;
  /// Returns the packer that works on `queue`, which is compute or exchange.
  virtual Packer& packer(Queue queue) = 0;
  virtual Transport& transport() = 0;
  virtual Reducer& reducer() = 0;
  /// Returns the periodic axes that a block of this extent spans completely; units wrap indices there instead
  /// of reading halo copies. `block` is the largest extent of any block.
  virtual std::array<bool, 3> wrapped_axes(const Problem&, const Method&, const Index3& /*block*/) const {
    return {};
  }
  /// Makes a unit that works on `queue`. The sources must outlive it. Fields have no halo along axes in
  /// `wraps`.
  virtual std::unique_ptr<Unit> make_unit(const Problem& problem, const Method& method,
                                          const GivenFields& sources, Queue queue,
                                          const std::array<bool, 3>& wraps) = 0;
  /// Makes the work on points of fields with the geometry and precision of `like`, on the compute queue.
  virtual std::unique_ptr<PointWork> make_points(PointTable table, AmountsOfStep amounts,
                                                 const Field& like) = 0;
  /// Returns true if work on one queue runs concurrently with work on another.
  virtual bool queues_overlap() const = 0;
  /// Throws Error(device_failure) if less than `bytes` of memory is available for fields.
  virtual void require_memory(std::size_t bytes) const = 0;

  /// Makes a launch, which must not outlive the backend. Its work begins and ends on the compute queue.
  /// mark() records where the parts of the launch end on a queue.
  virtual std::unique_ptr<Launch> make_launch() = 0;
  virtual void mark(Mark mark, Queue queue) = 0;
  /// Returns the times of all launches so far.
  virtual Timings timings() = 0;

  /// Makes work that is enqueued on `later` from now on wait for all work that is on `earlier` already.
  virtual void order(Queue earlier, Queue later) = 0;
  /// Waits until all enqueued work is done.
  virtual void synchronize() = 0;

  /// Allocates a copy of those owned points of `field` that `sampling` selects, in host memory unless copies
  /// of these points were prepared on the device. Once the transfer has started, the field may be
  /// overwritten. The exception is host memory where copies do not last: there the copy is the field itself,
  /// unless points are left out. Call this, and destroy copies, on the thread that computes.
  virtual std::shared_ptr<HostCopy> make_copy(const Field& field, const Sampling& sampling) = 0;
  /// Prepares `count` simultaneous copies. If `on_device`, the copies stay on the device until the host reads
  /// them. Otherwise this call begins to allocate host memory, which goes on while the caller does other
  /// work. At least `reserve` bytes of the device's memory stay free for launches.
  virtual void prepare_copies(const Box& owned, const Sampling& sampling, int count, std::size_t reserve,
                              bool on_device) = 0;
  /// Returns the bytes of a device's memory that copies may take so that `reserve` bytes stay free; 0 if
  /// copies never lie on a device.
  virtual std::size_t memory_for_copies(std::size_t /*reserve*/) const { return 0; }
  /// Sets the owned points of `field`. `fill` gets a field with the same owned box in host memory.
  virtual void set(Field& field, const FillField& fill) = 0;
};

/// Returns the sweep with a method's fused weights. Throws Error(invalid_input) if there is no kernel because
/// of limits of weights or device that the plan did not know.
inline std::unique_ptr<Sweep> sweep_of(OrNoKernel<std::unique_ptr<Sweep>> made) {
  if (const auto* none = std::get_if<NoKernel>(&made))
    throw Error(InputKey{"compute", "unit"}, ", layout, [time] fuse: no kernel does this: " + none->why);
  return std::get<std::unique_ptr<Sweep>>(std::move(made));
}

/// Computes on CPU cores and exchanges by MPI. All work is done when a call returns.
class CpuBackend : public Backend {
 public:
  /// If `copies_last`, copies have their own memory.
  explicit CpuBackend(Transport& transport, bool copies_last = false)
      : transport_(&transport), copies_last_(copies_last) {}

  Memory& memory() override { return host_memory(); }
  Packer& packer(Queue) override { return packer_; }
  Transport& transport() override { return *transport_; }
  Reducer& reducer() override { return reducer_; }
  std::unique_ptr<Unit> make_unit(const Problem& problem, const Method& method, const GivenFields& sources,
                                  Queue queue, const std::array<bool, 3>& wraps) override;
  std::unique_ptr<PointWork> make_points(PointTable table, AmountsOfStep amounts,
                                         const Field& like) override {
    return std::make_unique<HostPoints>(std::move(table), std::move(amounts), like.precision());
  }
  bool queues_overlap() const override { return false; }
  void require_memory(std::size_t) const override {}  // checked for all ranks of the machine together
  std::unique_ptr<Launch> make_launch() override;
  void mark(Mark mark, Queue queue) override;
  Timings timings() override { return timings_; }
  void order(Queue, Queue) override {}
  void synchronize() override {}
  std::shared_ptr<HostCopy> make_copy(const Field& field, const Sampling& sampling) override;
  void prepare_copies(const Box&, const Sampling&, int, std::size_t, bool) override {}
  void set(Field& field, const FillField& fill) override { fill(field); }

 private:
  Transport* transport_;
  bool copies_last_;
  HostPacker packer_;
  HostReducer reducer_;
  std::array<double, mark_count> marks_{};  // seconds
  Timings timings_;
};

}  // namespace spsolve
