// SPDX-License-Identifier: Apache-2.0
#include "halo/exchange.hpp"

#include <algorithm>

namespace spsolve {
namespace {

struct PackedRegions {
  std::vector<PackedBox> boxes;
  std::vector<Message> messages;  // data still relative to a null buffer: only the offset within it
  std::size_t bytes = 0;
};

/// Lays the regions out peer after peer, each peer's in the order that both ends agreed on.
PackedRegions packed(std::vector<HaloRegion> regions, Precision precision) {
  std::stable_sort(regions.begin(), regions.end(),
                   [](const HaloRegion& a, const HaloRegion& b) { return a.peer < b.peer; });
  PackedRegions result;
  for (const HaloRegion& region : regions) {
    if (result.messages.empty() || result.messages.back().peer != region.peer)
      result.messages.push_back({region.peer, nullptr, 0});
    const std::size_t bytes = static_cast<std::size_t>(region.box.points()) * storage_bytes(precision);
    result.boxes.push_back({region.box, result.bytes});
    result.messages.back().bytes += bytes;
    result.bytes += bytes;
  }
  return result;
}

/// Points the messages into `buffer`, where they lie one after another.
void place(std::vector<Message>& messages, std::vector<std::byte>& buffer) {
  std::byte* next = buffer.data();
  for (Message& message : messages) {
    message.data = next;
    next += message.bytes;
  }
}

}  // namespace

HaloExchange::HaloExchange(const Communicator& communicator, const HaloRegions& regions, Precision precision,
                           Transport& transport)
    : transport_(&transport) {
  std::vector<HaloRegion> to_others, to_self;
  for (const HaloRegion& region : regions.send)
    (region.peer == communicator.rank() ? to_self : to_others).push_back(region);

  PackedRegions send = packed(to_others, precision);
  PackedRegions receive = packed(regions.receive, precision);
  send_buffer_.resize(send.bytes);
  receive_buffer_.resize(receive.bytes);
  place(send.messages, send_buffer_);
  place(receive.messages, receive_buffer_);

  // What a rank sends itself is packed straight to where it will be unpacked from.
  const auto own = std::find_if(receive.messages.begin(), receive.messages.end(),
                                [&](const Message& message) { return message.peer == communicator.rank(); });
  if (own != receive.messages.end()) {
    own_send_ = packed(to_self, precision).boxes;
    for (PackedBox& box : own_send_)
      box.offset += static_cast<std::size_t>(own->data - receive_buffer_.data());
    receive.messages.erase(own);
  }
  send_ = std::move(send.boxes);
  receive_ = std::move(receive.boxes);
  send_messages_ = std::move(send.messages);
  receive_messages_ = std::move(receive.messages);
}

PendingExchange HaloExchange::start(Field& field) {
  pack(field, send_, send_buffer_.data());
  transport_->start(send_messages_, receive_messages_);
  pack(field, own_send_, receive_buffer_.data());
  return {*this, field};
}

std::size_t HaloExchange::bytes_sent() const { return send_buffer_.size(); }

void PendingExchange::finish() {
  exchange_->transport_->finish();
  unpack(*field_, exchange_->receive_, exchange_->receive_buffer_.data());
}

}  // namespace spsolve
