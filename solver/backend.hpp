// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "halo/transport.hpp"
#include "kernels/no_kernel.hpp"
#include "kernels/packing.hpp"
#include "kernels/reduction.hpp"
#include "kernels/sweep.hpp"
#include "kernels/unit.hpp"
#include "solver/plan/method.hpp"
#include "solver/problem.hpp"
#include "solver/timings.hpp"

namespace spsolve {

/// Sets the owned points of a field in host memory.
using FillField = std::function<void(Field& host)>;

/// Points of a field in host memory, or on their way there.
class HostCopy {
 public:
  virtual ~HostCopy() = default;
  /// Where a reducer of the backend keeps them; nowhere if the copy is the field itself.
  virtual Sample sample() { return {}; }
  /// Sends them on their way; call once they are kept.
  virtual void depart() {}
  /// Returns when the values have arrived, to any thread; they stay until the copy is destroyed.
  virtual const Field& wait() = 0;
};

/// Something that is enqueued again and again, by the same calls with the same arguments.
class Launch {
 public:
  virtual ~Launch() = default;
  /// Runs `enqueue`, or again what it enqueued before.
  virtual void run(const std::function<void()>& enqueue) = 0;
};

/// What is added, in a backend's memory: in single steps, and in fused ones (null: nothing is).
struct Sources {
  const Field *single = nullptr, *fused = nullptr;
};

/// Where work is enqueued: messages go before anything else, edges fill what the interior leaves free.
enum class Queue { compute, exchange, edges };

/// What a block runs on: the memory of its fields, the unit that advances them, how halos are packed and
/// travel, and the order of computing and exchanging. On a device both are enqueued on streams of their own
/// and the host waits for nothing but synchronize(), the reducer and copies.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual Memory& memory() = 0;
  /// That works on `queue`: computing, or exchanging.
  virtual Packer& packer(Queue queue) = 0;
  virtual Transport& transport() = 0;
  virtual Reducer& reducer() = 0;
  /// The axes that blocks of up to such an extent have whole and whose ends units find at the others, without
  /// images in memory.
  virtual std::array<bool, 3> repeating_axes(const Problem&, const Method&, const Index3& /*block*/) const {
    return {};
  }
  /// The sources outlive the unit, which works on `queue`. Of axes in `repeats` fields have no halo.
  virtual std::unique_ptr<Unit> make_unit(const Problem& problem, const Method& method,
                                          const Sources& sources, Queue queue,
                                          const std::array<bool, 3>& repeats) = 0;
  /// Whether what is enqueued on one queue runs beside what is enqueued on the other.
  virtual bool queues_overlap() const = 0;
  /// Throws Error(device_failure) if there is less memory for fields than that.
  virtual void require_memory(std::size_t bytes) const = 0;

  /// A launch that the backend must outlive. Its work begins and ends on the queue of computing; marks say
  /// where on a queue its parts end.
  virtual std::unique_ptr<Launch> make_launch() = 0;
  virtual void mark(Mark mark, Queue queue) = 0;
  /// Of all launches so far.
  virtual Timings timings() = 0;

  /// What is enqueued on `later` from here on sees what was enqueued on `earlier` before.
  virtual void order(Queue earlier, Queue later) = 0;
  /// Returns when everything enqueued is done.
  virtual void synchronize() = 0;

  /// Room for a copy of the owned points of `field` that `sampling` keeps. Once the copy has departed the
  /// field may be written again, except in host memory where copies do not last: unless points are left out,
  /// the copy is the field itself there. Copies are made and destroyed by the thread that computes.
  virtual std::shared_ptr<HostCopy> make_copy(const Field& field, const Sampling& sampling) = 0;
  /// Takes the memory of so many copies at a time, so that none of them waits for it; of a device's own, only
  /// what leaves it `reserve` bytes.
  virtual void prepare_copies(const Box& owned, const Sampling& sampling, int count, std::size_t reserve) = 0;
  /// Sets the owned points of `field`: `fill` gets a field of the same owned box in host memory.
  virtual void set(Field& field, const FillField& fill) = 0;
};

/// The sweep with a method's fused weights. Throws Error(invalid_input) where there is no kernel, which the
/// plan did not know of the weights or of the device.
inline std::unique_ptr<Sweep> sweep_of(MadeOr<std::unique_ptr<Sweep>> made) {
  if (const auto* none = std::get_if<NoKernel>(&made))
    throw Error(Status::invalid_input,
                "[compute] unit, layout, [time] fuse: no kernel does this: " + none->why);
  return std::get<std::unique_ptr<Sweep>>(std::move(made));
}

/// CPU cores and MPI: everything is done when the call returns.
class CpuBackend : public Backend {
 public:
  /// `copies_last`: copies take memory of their own.
  explicit CpuBackend(Transport& transport, bool copies_last = false)
      : transport_(&transport), copies_last_(copies_last) {}

  Memory& memory() override { return host_memory(); }
  Packer& packer(Queue) override { return packer_; }
  Transport& transport() override { return *transport_; }
  Reducer& reducer() override { return reducer_; }
  std::unique_ptr<Unit> make_unit(const Problem& problem, const Method& method, const Sources& sources,
                                  Queue queue, const std::array<bool, 3>& repeats) override;
  bool queues_overlap() const override { return false; }
  void require_memory(std::size_t) const override {}  // the machine's: for all its ranks together
  std::unique_ptr<Launch> make_launch() override;
  void mark(Mark mark, Queue queue) override;
  Timings timings() override { return timings_; }
  void order(Queue, Queue) override {}
  void synchronize() override {}
  std::shared_ptr<HostCopy> make_copy(const Field& field, const Sampling& sampling) override;
  void prepare_copies(const Box&, const Sampling&, int, std::size_t) override {}
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
