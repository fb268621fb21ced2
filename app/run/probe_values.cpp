// SPDX-License-Identifier: Apache-2.0
#include "app/run/probe_values.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace spsolve {
namespace {

using PointsByRank = std::vector<std::vector<Index3>>;

void sort_once(PointsByRank& by_rank) {
  for (std::vector<Index3>& points : by_rank) {
    std::ranges::sort(points);
    points.erase(std::ranges::unique(points).begin(), points.end());
  }
}

std::size_t place_in(const std::vector<Index3>& sorted, const Index3& p) {
  return static_cast<std::size_t>(std::ranges::lower_bound(sorted, p) - sorted.begin());
}

/// Returns the rank that has all grid points around a point, or nothing.
std::optional<std::size_t> owner_of(const std::vector<Corner>& around, const Decomposition& decomposition) {
  const int rank = decomposition.rank_of(around.front().p);
  const bool alone = std::ranges::all_of(
      around, [&](const Corner& corner) { return decomposition.rank_of(corner.p) == rank; });
  return alone ? std::optional(static_cast<std::size_t>(rank)) : std::nullopt;
}

}  // namespace

ProbeValues::ProbeValues(const std::vector<std::vector<Corner>>& corners, const Decomposition& decomposition,
                         int rank) {
  const auto ranks = static_cast<std::size_t>(decomposition.ranks()), here = static_cast<std::size_t>(rank);
  // `recorded` holds the grid points that each rank records. `travelling` holds those around a point whose
  // grid points belong to several ranks: their values travel to rank 0.
  PointsByRank recorded(ranks), travelling(ranks);
  std::vector<std::optional<std::size_t>> owners;
  for (const auto& around : corners) {
    owners.push_back(owner_of(around, decomposition));
    for (const Corner& corner : around) {
      const auto of = static_cast<std::size_t>(decomposition.rank_of(corner.p));
      recorded[of].push_back(corner.p);
      if (!owners.back()) travelling[of].push_back(corner.p);
    }
  }
  sort_once(recorded);
  sort_once(travelling);
  for (const auto& points : recorded) max_recorded_ = std::max(max_recorded_, std::ssize(points));
  own_ = std::move(recorded[here]);

  // A rank has first the values at its points, then those of grid points that travel.
  counts_.assign(ranks, 0);
  std::vector<std::int64_t> numbers;  // the number of the value of each point that has an owner
  for (std::size_t i = 0; i < corners.size(); ++i) {
    numbers.push_back(owners[i] ? counts_[*owners[i]]++ : 0);
    if (owners[i] != here) continue;
    starts_.push_back(shares_.size());
    for (const Corner& corner : corners[i]) shares_.push_back({place_in(own_, corner.p), corner.weight});
  }
  for (const Index3& p : travelling[here]) {
    starts_.push_back(shares_.size());
    shares_.push_back({place_in(own_, p), 1.0});
  }
  starts_.push_back(shares_.size());

  for (std::size_t i = 0; rank == 0 && i < corners.size(); ++i) {
    part_starts_.push_back(parts_.size());
    if (owners[i]) {
      parts_.push_back({*owners[i], numbers[i], 1.0});
      continue;
    }
    for (const Corner& corner : corners[i]) {
      const auto of = static_cast<std::size_t>(decomposition.rank_of(corner.p));
      const auto place = static_cast<std::int64_t>(place_in(travelling[of], corner.p));
      parts_.push_back({of, counts_[of] + place, corner.weight});
    }
  }
  part_starts_.push_back(parts_.size());
  for (std::size_t of = 0; of < ranks; ++of) counts_[of] += std::ssize(travelling[of]);
}

void ProbeValues::record(const std::vector<std::size_t>& fields, RecordedPoints& group) const {
  for (const std::size_t field : fields) {
    const std::size_t first_point = group.points.size(), first_share = group.shares.size();
    for (const Index3& p : own_) group.points.push_back({field, p});
    for (const PointShare& share : shares_) group.shares.push_back({first_point + share.point, share.weight});
    for (std::size_t i = 0; i + 1 < starts_.size(); ++i) group.starts.push_back(first_share + starts_[i]);
  }
  group.starts.push_back(group.shares.size());
}

std::vector<std::span<const std::byte>> ProbeValues::gather(const Communicator& communicator,
                                                            std::span<const std::byte> own,
                                                            std::int64_t fields, std::int64_t rows,
                                                            Precision precision) {
  const bool alone = communicator.size() == 1;
  if (alone && fields == 1) return {own};
  if (!alone) {
    std::vector<int> counts, starts;
    int all = 0;
    for (const std::int64_t count : counts_) {
      counts.push_back(static_cast<int>(fields * rows * count));
      starts.push_back(std::exchange(all, all + counts.back()));
    }
    if (communicator.root()) gathered_.resize(static_cast<std::size_t>(all) * storage_bytes(precision));
    const MPI_Datatype type = precision == Precision::fp64 ? MPI_DOUBLE : MPI_FLOAT;
    check_mpi(MPI_Gatherv(own.data(), counts[static_cast<std::size_t>(communicator.rank())], type,
                          gathered_.data(), counts.data(), starts.data(), type, 0, communicator.handle()));
    if (!communicator.root()) return {};
  }
  const std::span<const std::byte> gathered = alone ? own : gathered_;
  if (precision == Precision::fp64)
    assemble<double>(gathered, fields, rows);
  else
    assemble<float>(gathered, fields, rows);
  return {assembled_.begin(), assembled_.end()};
}

/// Sets assembled_ from the values of all ranks, rank after rank.
template <class Value>
void ProbeValues::assemble(std::span<const std::byte> gathered, std::int64_t fields, std::int64_t rows) {
  const auto* const values = reinterpret_cast<const Value*>(gathered.data());
  std::vector<const Value*> of_ranks;
  std::int64_t begin = 0;
  for (const std::int64_t count : counts_)
    of_ranks.push_back(values + std::exchange(begin, begin + fields * rows * count));
  const std::size_t points = part_starts_.size() - 1;
  assembled_.resize(static_cast<std::size_t>(fields));
  for (std::int64_t field = 0; field < fields; ++field) {
    auto& bytes = assembled_[static_cast<std::size_t>(field)];
    bytes.resize(static_cast<std::size_t>(rows) * points * sizeof(Value));
    auto* out = reinterpret_cast<Value*>(bytes.data());
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::size_t i = 0; i < points; ++i) {
        double sum = 0;
        for (std::size_t k = part_starts_[i]; k < part_starts_[i + 1]; ++k) {
          const RecordedShare& part = parts_[k];
          const std::int64_t place = (row * fields + field) * counts_[part.rank] + part.number;
          sum += part.weight * static_cast<double>(of_ranks[part.rank][place]);
        }
        *out++ = static_cast<Value>(sum);
      }
  }
}

}  // namespace spsolve
