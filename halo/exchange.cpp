// SPDX-License-Identifier: Apache-2.0
#include "halo/exchange.hpp"

#include <algorithm>
#include <iterator>

#include "kernels/rounding.hpp"

namespace spsolve {
namespace {

// Regions begin at multiples of this in the buffers, so that they are copied in large pieces.
constexpr std::size_t region_alignment = 16;  // bytes

/// Returns the regions exchanged with this rank itself (`own`) or with all others, sorted by peer. The
/// regions of each peer keep the order that both ends agreed on.
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
  return round_up(bytes, region_alignment);
}

/// Returns true if copying the rows of a region directly is faster than packing them. Copy engines take a
/// fixed time per row and cannot reflect values.
bool has_long_rows(const HaloRegion& region, Precision precision) {
  constexpr std::int64_t long_row = 512, few_rows = 256;  // bytes; rows
  const Index3 extent = region.box.extent();
  if (!region.reflection.is_copy()) return false;
  return extent[2] * static_cast<std::int64_t>(storage_bytes(precision)) >= long_row ||
         extent[0] * extent[1] <= few_rows;
}

/// Describes a region of a field in memory. Rows and planes that are contiguous are merged into one row.
Message message_of(const HaloRegion& region, Field& field) {
  const auto element = storage_bytes(field.precision());
  const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
  const Index3 extent = region.box.extent(), whole = field.allocated().extent();
  Message message{region.peer,
                  field.bytes_at(region.box.begin),
                  size(extent[2]) * element,
                  size(extent[1]),
                  size(field.strides()[1]) * element,
                  size(extent[0]),
                  size(field.strides()[0]) * element};
  if (extent[2] != whole[2]) return message;
  message.bytes += (message.rows - 1) * message.row_stride;
  message.rows = 1;
  if (extent[1] != whole[1]) return message;
  message.bytes += (message.planes - 1) * message.plane_stride;
  message.planes = 1;
  return message;
}

std::vector<Message> messages_of(const std::vector<HaloRegion>& boxes, const std::vector<Message>& packed,
                                 Field& field) {
  std::vector<Message> result;
  for (const HaloRegion& region : boxes) result.push_back(message_of(region, field));
  result.insert(result.end(), packed.begin(), packed.end());
  return result;
}

}  // namespace

HaloExchange::HaloExchange(const Communicator& communicator, const HaloRegions& regions, const Field& like,
                           Transport& transport, Packer& packer, Packer& unpacker)
    : transport_(&transport) {
  const Precision precision = like.precision();
  std::vector<BoxCopy> local_copies, packing, unpacking;
  // Lays out the messages to other ranks; copy(region, offset) records the place of each region in the
  // buffer.
  const auto lay_out = [&](const std::vector<HaloRegion>& all, auto&& copy) {
    std::vector<HaloRegion> others = chosen(all, communicator.rank(), false);
    Messages result;
    if (transport.supports_boxes()) {
      const auto rest = std::stable_partition(others.begin(), others.end(), [&](const HaloRegion& region) {
        return has_long_rows(region, precision);
      });
      result.boxes.assign(others.begin(), rest);
      others.erase(others.begin(), rest);
    }
    for (const HaloRegion& region : others) {
      copy(region, result.bytes);
      result.bytes += padded_bytes(region, precision);
    }
    if (result.bytes == 0) return result;
    result.buffer = allocate(packer.memory(), result.bytes, result.bytes);
    std::byte* next = result.buffer.get();
    for (const HaloRegion& region : others) {
      if (result.messages.empty() || result.messages.back().peer != region.peer)
        result.messages.push_back({region.peer, next, 0});
      result.messages.back().bytes += padded_bytes(region, precision);
      next += padded_bytes(region, precision);
    }
    return result;
  };
  send_ = lay_out(regions.send, [&](const HaloRegion& region, std::size_t offset) {
    packing.push_back({region.box.extent(), region.box.begin, offset});
  });
  receive_ = lay_out(regions.receive, [&](const HaloRegion& region, std::size_t offset) {
    unpacking.push_back({region.box.extent(), offset, region.box.begin, region.reflection});
  });
  const auto own_from = chosen(regions.send, communicator.rank(), true),
             own_to = chosen(regions.receive, communicator.rank(), true);
  // Where the transport takes boxes, slabs contain copies of own points (slab_regions), so these must be made
  // before regions with short rows are packed. Otherwise both are copied at once.
  for (std::size_t i = 0; i < own_from.size(); ++i)
    (transport.supports_boxes() ? local_copies : packing)
        .push_back(
            {own_from[i].box.extent(), own_from[i].box.begin, own_to[i].box.begin, own_to[i].reflection});
  local_copies_ = packer.prepare(std::move(local_copies), like);
  packing_ = packer.prepare(std::move(packing), like);
  unpacking_ = unpacker.prepare(std::move(unpacking), like);
}

void HaloExchange::pack(Field& field) {
  local_copies_->copy(field, nullptr);
  packing_->copy(field, send_.buffer.get());
}

PendingExchange HaloExchange::start(Field& field) {
  const auto [entry, is_new] = links_.try_emplace(&field);
  Link& link = entry->second;
  if (is_new) {
    link.sends = messages_of(send_.boxes, send_.messages, field);
    link.receives = messages_of(receive_.boxes, receive_.messages, field);
    link.connection = transport_->connect(link.sends, link.receives);
  }
  transport_->start(link.sends, link.receives);
  return {*this, field};
}

void PendingExchange::wait() { exchange_->transport_->finish(); }

void PendingExchange::unpack() { exchange_->unpacking_->copy(*field_, exchange_->receive_.buffer.get()); }

}  // namespace spsolve
