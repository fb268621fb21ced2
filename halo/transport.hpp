// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace spsolve {

/// Contiguous memory that goes to, or comes from, one other rank.
struct Message {
  int peer = 0;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

/// How messages travel between ranks. At most one message per peer and direction is under way at a time. A
/// transport of device memory works on a stream: messages are sent once what was enqueued there before is
/// done, and what is enqueued there after finish() sees what has arrived.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Starts all sends and receives and returns; the memory must stay untouched until finish().
  virtual void start(std::span<const Message> sends, std::span<const Message> receives) = 0;
  /// From here on everything started has arrived, and every sent message may be overwritten.
  virtual void finish() = 0;

  /// Whether the host only enqueues, so that exchanges can be captured in a CUDA graph.
  virtual bool enqueues_only() const { return false; }
  /// Throws Error(device_failure) if what is under way has failed; looked at while the host waits.
  virtual void check() const {}
};

}  // namespace spsolve
