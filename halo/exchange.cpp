// SPDX-License-Identifier: Apache-2.0
#include "halo/exchange.hpp"

#include <algorithm>
#include <iterator>

namespace spsolve {
namespace {

// Regions begin at multiples of it in the buffers, so that they are copied in large pieces.
constexpr std::size_t region_alignment = 16;  // bytes

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

std::size_t padded_bytes(const HaloRegion& region, Precision precision) {
  const std::size_t bytes = static_cast<std::size_t>(region.box.points()) * storage_bytes(precision);
  return (bytes + region_alignment - 1) / region_alignment * region_alignment;
}

}  // namespace

HaloExchange::HaloExchange(const Communicator& communicator, const HaloRegions& regions, Precision precision,
                           Transport& transport, Packer& packer)
    : transport_(&transport) {
  std::vector<BoxCopy> packing, unpacking;
  // The messages with the other ranks; copy(box, offset) tells where in the buffer a region is.
  const auto lay_out = [&](const std::vector<HaloRegion>& all, auto&& copy) {
    const std::vector<HaloRegion> others = chosen(all, communicator.rank(), false);
    Messages result;
    for (const HaloRegion& region : others) {
      copy(region.box, result.bytes);
      result.bytes += padded_bytes(region, precision);
    }
    if (result.bytes == 0) return result;
    Memory& memory = packer.memory();
    result.buffer = {memory.allocate(result.bytes, result.bytes), Free{&memory}};
    std::byte* next = result.buffer.get();
    for (const HaloRegion& region : others) {
      if (result.messages.empty() || result.messages.back().peer != region.peer)
        result.messages.push_back({region.peer, next, 0});
      result.messages.back().bytes += padded_bytes(region, precision);
      next += padded_bytes(region, precision);
    }
    return result;
  };
  send_ = lay_out(regions.send, [&](const Box& box, std::size_t offset) {
    packing.push_back({box.extent(), box.begin, offset});
  });
  receive_ = lay_out(regions.receive, [&](const Box& box, std::size_t offset) {
    unpacking.push_back({box.extent(), offset, box.begin});
  });
  const auto own_from = chosen(regions.send, communicator.rank(), true),
             own_to = chosen(regions.receive, communicator.rank(), true);
  for (std::size_t i = 0; i < own_from.size(); ++i)
    packing.push_back({own_from[i].box.extent(), own_from[i].box.begin, own_to[i].box.begin});
  packing_ = packer.prepare(std::move(packing), precision);
  unpacking_ = packer.prepare(std::move(unpacking), precision);
}

void HaloExchange::pack(Field& field) { packing_->copy(field, send_.buffer.get()); }

PendingExchange HaloExchange::start(Field& field) {
  transport_->start(send_.messages, receive_.messages);
  return {*this, field};
}

void PendingExchange::wait() { exchange_->transport_->finish(); }

void PendingExchange::unpack() { exchange_->unpacking_->copy(*field_, exchange_->receive_.buffer.get()); }

}  // namespace spsolve
