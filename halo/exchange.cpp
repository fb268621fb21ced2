// SPDX-License-Identifier: Apache-2.0
#include "halo/exchange.hpp"

#include <algorithm>

namespace spsolve {
namespace {

/// Where regions lie in a buffer, and the messages that it consists of: peer after peer, each peer's regions
/// in the order that both ends agreed on.
struct Layout {
  std::vector<PackedBox> boxes;
  std::vector<Message> messages;  // data is set once there is a buffer
  std::size_t bytes = 0;

  Layout(std::vector<HaloRegion> regions, Precision precision) {
    std::stable_sort(regions.begin(), regions.end(),
                     [](const HaloRegion& a, const HaloRegion& b) { return a.peer < b.peer; });
    for (const HaloRegion& region : regions) {
      if (messages.empty() || messages.back().peer != region.peer)
        messages.push_back({region.peer, nullptr, 0});
      const std::size_t region_bytes =
          static_cast<std::size_t>(region.box.points()) * storage_bytes(precision);
      boxes.push_back({region.box, bytes});
      messages.back().bytes += region_bytes;
      bytes += region_bytes;
    }
  }

  void place(std::byte* buffer) {
    for (Message& message : messages) {
      message.data = buffer;
      buffer += message.bytes;
    }
  }
};

std::vector<HaloRegion> with_peer(const std::vector<HaloRegion>& regions, int rank, bool own) {
  std::vector<HaloRegion> chosen;
  std::copy_if(regions.begin(), regions.end(), std::back_inserter(chosen),
               [&](const HaloRegion& region) { return (region.peer == rank) == own; });
  return chosen;
}

}  // namespace

HaloExchange::Buffer::Buffer(Memory& memory, std::size_t size)
    : bytes(size), data(size ? memory.allocate(size, size) : nullptr, Free{&memory}) {}

HaloExchange::HaloExchange(const Communicator& communicator, const HaloRegions& regions, Precision precision,
                           Transport& transport, Packer& packer)
    : transport_(&transport),
      send_buffer_(packer.memory(),
                   Layout(with_peer(regions.send, communicator.rank(), false), precision).bytes),
      receive_buffer_(packer.memory(), Layout(regions.receive, precision).bytes) {
  const int rank = communicator.rank();
  Layout send(with_peer(regions.send, rank, false), precision), receive(regions.receive, precision);
  send.place(send_buffer_.data.get());
  receive.place(receive_buffer_.data.get());

  // What a rank sends itself is packed straight to where it will be unpacked from.
  const auto own = std::find_if(receive.messages.begin(), receive.messages.end(),
                                [&](const Message& message) { return message.peer == rank; });
  if (own != receive.messages.end()) {
    std::vector<PackedBox> boxes = Layout(with_peer(regions.send, rank, true), precision).boxes;
    for (PackedBox& box : boxes)
      box.offset += static_cast<std::size_t>(own->data - receive_buffer_.data.get());
    own_send_ = packer.prepare(std::move(boxes), precision);
    receive.messages.erase(own);
  }
  send_ = packer.prepare(std::move(send.boxes), precision);
  receive_ = packer.prepare(std::move(receive.boxes), precision);
  send_messages_ = std::move(send.messages);
  receive_messages_ = std::move(receive.messages);
}

PendingExchange HaloExchange::start(Field& field) {
  send_->pack(field, send_buffer_.data.get());
  transport_->start(send_messages_, receive_messages_);
  if (own_send_) own_send_->pack(field, receive_buffer_.data.get());
  return {*this, field};
}

void PendingExchange::finish() {
  exchange_->transport_->finish();
  exchange_->receive_->unpack(*field_, exchange_->receive_buffer_.data.get());
}

}  // namespace spsolve
