// SPDX-License-Identifier: Apache-2.0
#include "halo/exchange.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "kernels/rounding.hpp"

namespace spsolve {
namespace {

// Aligns the regions in the buffers, so that they are copied in large pieces.
constexpr std::size_t region_alignment = 16;  // bytes

/// Returns the regions exchanged with this rank itself (`own`) or with all others, sorted by peer. The
/// regions of each peer keep the order that both ends agreed on.
std::vector<HaloRegion> chosen(const std::vector<HaloRegion>& regions, int rank, bool own) {
  std::vector<HaloRegion> result;
  std::ranges::copy_if(regions, std::back_inserter(result),
                       [&](const HaloRegion& region) { return (region.peer == rank) == own; });
  std::ranges::stable_sort(result, {}, &HaloRegion::peer);
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
                                 std::span<Field* const> fields) {
  std::vector<Message> result;
  for (const HaloRegion& region : boxes)
    for (Field* field : fields) result.push_back(message_of(region, *field));
  result.insert(result.end(), packed.begin(), packed.end());
  return result;
}

}  // namespace

HaloExchange::HaloExchange(const Communicator& communicator, const HaloRegions& regions,
                           const ConstState& like, Transport& transport, Packer& packer, Packer& unpacker)
    : transport_(&transport), fields_(like.size()) {
  const Precision precision = like.front().precision();
  using CopiesByField = std::vector<std::vector<BoxCopy>>;
  CopiesByField local_copies(fields_), packing(fields_), unpacking(fields_);
  // Lays out the messages to other ranks, region by region and in each field by field; copy(field, region,
  // offset) records the place of the points in the buffer.
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
    for (const HaloRegion& region : others)
      for (std::size_t field = 0; field < fields_; ++field) {
        copy(field, region, result.bytes);
        result.bytes += padded_bytes(region, precision);
      }
    if (result.bytes == 0) return result;
    result.buffer = allocate(packer.memory(), result.bytes, result.bytes);
    std::byte* next = result.buffer.get();
    for (const HaloRegion& region : others) {
      const std::size_t bytes = fields_ * padded_bytes(region, precision);
      if (result.messages.empty() || result.messages.back().peer != region.peer)
        result.messages.push_back({region.peer, next, 0});
      result.messages.back().bytes += bytes;
      next += bytes;
    }
    return result;
  };
  send_ = lay_out(regions.send, [&](std::size_t field, const HaloRegion& region, std::size_t offset) {
    packing[field].push_back({region.box.extent(), region.box.begin, offset});
  });
  receive_ = lay_out(regions.receive, [&](std::size_t field, const HaloRegion& region, std::size_t offset) {
    unpacking[field].push_back({region.box.extent(), offset, region.box.begin, region.reflection});
  });
  const auto own_from = chosen(regions.send, communicator.rank(), true),
             own_to = chosen(regions.receive, communicator.rank(), true);
  // Where the transport takes boxes, slabs contain copies of own points (slab_regions), so these must be made
  // before regions with short rows are packed. Otherwise both are copied at once.
  for (std::size_t field = 0; field < fields_; ++field) {
    for (std::size_t i = 0; i < own_from.size(); ++i)
      (transport.supports_boxes() ? local_copies : packing)[field].push_back(
          {own_from[i].box.extent(), own_from[i].box.begin, own_to[i].box.begin, own_to[i].reflection});
    local_copies_.push_back(packer.prepare(std::move(local_copies[field]), like.front()));
    packing_.push_back(packer.prepare(std::move(packing[field]), like.front()));
    unpacking_.push_back(unpacker.prepare(std::move(unpacking[field]), like.front()));
  }
}

void HaloExchange::pack(const State& state) {
  for (std::size_t field = 0; field < fields_; ++field) {
    local_copies_[field]->copy(state[field], nullptr);
    packing_[field]->copy(state[field], send_.buffer.get());
  }
}

PendingExchange HaloExchange::start(const State& state) {
  const std::span fields(state.begin(), fields_);
  const auto [entry, is_new] = bound_messages_.try_emplace({fields.begin(), fields.end()});
  BoundMessages& messages = entry->second;
  if (is_new) {
    messages.sends = messages_of(send_.boxes, send_.messages, fields);
    messages.receives = messages_of(receive_.boxes, receive_.messages, fields);
    messages.connection = transport_->connect(messages.sends, messages.receives);
  }
  transport_->start(messages.sends, messages.receives);
  return {*this, state};
}

void PendingExchange::wait() { exchange_->transport_->finish(); }

void PendingExchange::unpack() {
  for (std::size_t field = 0; field < exchange_->fields_; ++field)
    exchange_->unpacking_[field]->copy(state_[field], exchange_->receive_.buffer.get());
}

}  // namespace spsolve
