// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace spsolve {

/// Memory that goes to, or comes from, one other rank: a row of bytes or, where a transport takes boxes, rows
/// in planes.
struct Message {
  int peer = 0;
  std::byte* data = nullptr;
  std::size_t bytes = 0;                 // of a row
  std::size_t rows = 1, row_stride = 0;  // of a plane; strides in bytes
  std::size_t planes = 1, plane_stride = 0;
};

/// How messages travel between ranks: at most one per peer and direction at a time, except where a transport
/// takes boxes. A transport of device memory works on a stream: messages are sent once what was enqueued
/// there before is done, and what is enqueued there after finish() sees what has arrived.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Whether messages may be boxes of memory, and several go to one peer: the k-th that one rank sends to
  /// another is the k-th that the other receives from it, and both have the same rows and planes.
  virtual bool takes_boxes() const { return false; }
  /// Whether messages need multiprocessors of a device: a kernel that fills it would keep them waiting.
  virtual bool takes_multiprocessors() const { return false; }
  /// Prepares exchanges of these messages, before the first start() with these spans. Their elements and the
  /// memory must stay where they are while what is returned lives; it must be destroyed before the memory is
  /// freed. Collective, as destroying it is.
  virtual std::shared_ptr<void> connect(std::span<const Message>, std::span<const Message>) { return {}; }

  /// Starts all sends and receives and returns; the memory must stay untouched until finish().
  virtual void start(std::span<const Message> sends, std::span<const Message> receives) = 0;
  /// From here on everything started has arrived, and every sent message may be overwritten.
  virtual void finish() = 0;

  /// Makes *value, in memory as that of messages is, the largest of all ranks', of what was enqueued before
  /// and for what is enqueued after; collective, and not between start() and finish(). Not negative.
  virtual void all_reduce_max(int* value) = 0;

  /// Whether the host only enqueues, so that exchanges can be captured in a CUDA graph.
  virtual bool enqueues_only() const { return false; }
  /// Throws Error(device_failure) if what is under way has failed; looked at while the host waits.
  virtual void check() const {}
};

}  // namespace spsolve
