// SPDX-License-Identifier: Apache-2.0
#include "halo/exchange.hpp"

#include <algorithm>
#include <iterator>

namespace spsolve {
namespace {

/// The regions with this rank itself, or with all others, peer after peer; each peer's in the order that both
/// ends agreed on.
std::vector<HaloRegion> chosen(const std::vector<HaloRegion>& regions, int rank, bool own) {
  std::vector<HaloRegion> result;
  std::copy_if(regions.begin(), regions.end(), std::back_inserter(result),
               [&](const HaloRegion& region) { return (region.peer == rank) == own; });
  std::stable_sort(result.begin(), result.end(),
                   [](const HaloRegion& a, const HaloRegion& b) { return a.peer < b.peer; });
  return result;
}

std::size_t bytes_of(const HaloRegion& region, Precision precision) {
  return static_cast<std::size_t>(region.box.points()) * storage_bytes(precision);
}

/// The regions one after another, and the bytes they take together.
struct Layout {
  std::vector<PackedBox> boxes;
  std::size_t bytes = 0;

  Layout(const std::vector<HaloRegion>& regions, Precision precision) {
    for (const HaloRegion& region : regions) {
      boxes.push_back({region.box, bytes});
      bytes += bytes_of(region, precision);
    }
  }
};

}  // namespace

HaloExchange::Buffer::Buffer(Memory& memory, std::size_t size)
    : bytes(size), data(size ? memory.allocate(size, size) : nullptr, Free{&memory}) {}

HaloExchange::Packed::Packed(const std::vector<HaloRegion>& regions, Precision precision, Packer& packer)
    : buffer(packer.memory(), Layout(regions, precision).bytes),
      packing(packer.prepare(Layout(regions, precision).boxes, precision)) {
  std::byte* next = buffer.data.get();
  for (const HaloRegion& region : regions) {
    if (messages.empty() || messages.back().peer != region.peer) messages.push_back({region.peer, next, 0});
    messages.back().bytes += bytes_of(region, precision);
    next += bytes_of(region, precision);
  }
}

HaloExchange::HaloExchange(const Communicator& communicator, const HaloRegions& regions, Precision precision,
                           Transport& transport, Packer& packer)
    : transport_(&transport),
      send_(chosen(regions.send, communicator.rank(), false), precision, packer),
      receive_(chosen(regions.receive, communicator.rank(), false), precision, packer),
      own_send_(chosen(regions.send, communicator.rank(), true), precision, packer),
      own_receive_(packer.prepare(Layout(chosen(regions.receive, communicator.rank(), true), precision).boxes,
                                  precision)) {}

void HaloExchange::copy_own_images(Field& field) {
  own_send_.packing->pack(field, own_send_.buffer.data.get());
  own_receive_->unpack(field, own_send_.buffer.data.get());
}

PendingExchange HaloExchange::start(Field& field) {
  send_.packing->pack(field, send_.buffer.data.get());
  transport_->start(send_.messages, receive_.messages);
  return {*this, field};
}

void PendingExchange::finish() {
  exchange_->transport_->finish();
  exchange_->receive_.packing->unpack(*field_, exchange_->receive_.buffer.data.get());
}

}  // namespace spsolve
