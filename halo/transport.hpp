// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace spsolve {

/// Describes a piece of memory that is sent to or received from one other rank: a row of bytes or, where a
/// transport takes boxes, planes of rows.
struct Message {
  int peer = 0;
  std::byte* data = nullptr;
  std::size_t bytes = 0;                 // per row
  std::size_t rows = 1, row_stride = 0;  // per plane; strides in bytes
  std::size_t planes = 1, plane_stride = 0;
};

/// Sends messages between ranks, at most one per peer and direction at a time unless the transport takes
/// boxes. A transport of device memory works on a stream: messages are sent after the work enqueued there
/// before, and work enqueued after finish() sees the data received.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Returns true if messages may be boxes and several may go to one peer. The k-th message that one rank
  /// sends to another is then the k-th that the other receives from it, and both have the same rows and
  /// planes.
  virtual bool supports_boxes() const { return false; }
  /// Returns true if messages need multiprocessors of the device. A kernel that fills the device would then
  /// delay them.
  virtual bool uses_multiprocessors() const { return false; }
  /// Prepares exchanges of these messages. Call it before the first start() with these spans. The elements of
  /// the spans and the memory must stay in place while the returned object lives, and it must be destroyed
  /// before the memory is freed. Both the call and the destruction are collective.
  virtual std::shared_ptr<void> connect(std::span<const Message>, std::span<const Message>) { return {}; }

  /// Starts all sends and receives and returns. Do not touch the memory until finish().
  virtual void start(std::span<const Message> sends, std::span<const Message> receives) = 0;
  /// Waits for, or orders the stream after, all messages. Everything has then arrived, and sent memory may be
  /// overwritten.
  virtual void finish() = 0;

  /// Replaces *value by the maximum over all ranks. *value must not be negative and lies in the same kind of
  /// memory as messages. The call is ordered in the stream after work enqueued before and before work
  /// enqueued later. Collective; not allowed between start() and finish().
  virtual void all_reduce_max(int* value) = 0;

  /// Returns true if the host only enqueues work, so that exchanges can be captured in a CUDA graph.
  virtual bool enqueues_only() const { return false; }
  /// Throws Error(device_failure) if the operation in progress has failed. The host calls this while it
  /// waits.
  virtual void check() const {}
};

}  // namespace spsolve
