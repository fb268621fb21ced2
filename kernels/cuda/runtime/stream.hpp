// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

namespace spsolve::cuda {

/// Owns a stream of the current device that does not wait for the default stream.
class Stream {
 public:
  enum class Priority { low, normal, high };

  explicit Stream(Priority priority = Priority::normal);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return handle_; }
  /// Blocks until everything enqueued has run. Throws Error if a kernel failed.
  void synchronize() const;

 private:
  cudaStream_t handle_ = nullptr;
};

/// Marks a point in a stream. Elapsed times can be measured only if it was created with `timed`.
class Event {
 public:
  explicit Event(bool timed = false);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return handle_; }
  void record(cudaStream_t stream) const;
  /// Records the event so that the host can query it. If the stream is being captured, the event is recorded
  /// whenever the graph runs.
  void record_for_host(cudaStream_t stream) const;
  /// Returns true if all work before the recorded point has finished. Throws Error if a kernel failed.
  bool done() const;
  void synchronize() const;
  /// Returns the seconds between `start` and this event; both must be timed.
  double seconds_since(const Event& start) const;

 private:
  cudaEvent_t handle_ = nullptr;
};

}  // namespace spsolve::cuda
