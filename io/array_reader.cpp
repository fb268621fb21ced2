// SPDX-License-Identifier: Apache-2.0
#include "io/array_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>

#include "halo/collectively.hpp"
#include "io/array_blocks.hpp"
#include "io/hdf5/number_dataset.hpp"

namespace spsolve {
namespace {

std::string shape_text(std::span<const std::int64_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

void require_shape(const NumberDataset& source, const Domain& domain) {
  const std::span wanted(domain.shape.begin() + domain.first_axis(), domain.shape.end());
  if (!std::ranges::equal(source.shape(), wanted))
    source.fail(fmt::format("has shape {}, wanted {}", shape_text(source.shape()), shape_text(wanted)));
}

void give(const std::vector<double>& values, const Box& box, const ValueSink& sink) {
  const auto points = static_cast<std::size_t>(box.extent()[x_axis]);
  const double* next = values.data();
  for (std::int64_t row = 0; row < row_count(box); ++row, next += points)
    sink(row_begin(box, row), {next, points});
}

void read_own(const NumberDataset& source, const Domain& domain, const Box& box, const ValueSink& sink) {
  std::vector<double> values;
  for_each_part_of_chunks(domain.shape, source.encoded_chunks(), box, [&](const Box& part) {
    source.read(domain.dimensions, part, values);
    give(values, part, sink);
  });
}

/// Reads tiles in turns: each rank reads a tile, part by part, and sends to each other rank the values in its
/// box.
class SharedRead {
 public:
  SharedRead(const Communicator& communicator, const NumberDataset& source, const Domain& domain,
             std::vector<Box> boxes, const ValueSink& sink)
      : communicator_(communicator),
        source_(source),
        dimensions_(domain.dimensions),
        boxes_(std::move(boxes)),
        sink_(sink) {}

  void read(const ChunkTiles& tiles) {
    const int ranks = communicator_.size();
    for (std::int64_t first = 0; first < tiles.count(); first += ranks) {
      std::vector<std::vector<Box>> parts(static_cast<std::size_t>(ranks));
      std::size_t most = 0;
      for (int rank = 0; rank < ranks && first + rank < tiles.count(); ++rank) {
        auto& of_rank = parts[static_cast<std::size_t>(rank)];
        for_each_part(tiles.box(first + rank), points_of_read,
                      [&](const Box& part) { of_rank.push_back(part); });
        most = std::max(most, of_rank.size());
      }
      for (std::size_t i = 0; i < most; ++i) exchange(parts, i);
      // If one rank could not read its tile, all ranks stop here.
      collectively(communicator_, [&] {
        if (failure_) throw Error(*failure_);
      });
    }
  }

 private:
  void exchange(const std::vector<std::vector<Box>>& parts, std::size_t i) {
    const auto part_of = [&](int rank) {
      const auto& of_rank = parts[static_cast<std::size_t>(rank)];
      return i < of_rank.size() ? of_rank[i] : Box{};
    };
    const int rank = communicator_.rank(), ranks = communicator_.size();
    const Box own = part_of(rank);
    values_.assign(static_cast<std::size_t>(own.points()), 0.0);
    try {
      const bool wanted =
          std::ranges::any_of(boxes_, [&](const Box& box) { return !intersect(box, own).empty(); });
      if (!failure_ && wanted) source_.read(dimensions_, own, values_);
    } catch (const Error& error) {
      failure_ = error;
      values_.assign(static_cast<std::size_t>(own.points()), 0.0);
    }
    std::vector<int> sent, sent_at, received, received_at;
    outgoing_.clear();
    std::int64_t incoming = 0;
    for (int other = 0; other < ranks; ++other) {
      sent_at.push_back(static_cast<int>(outgoing_.size()));
      const Box theirs = intersect(own, boxes_[static_cast<std::size_t>(other)]);
      for (std::int64_t row = 0; row < row_count(theirs); ++row) {
        const double* const from =
            values_.data() + index_of(row_begin(theirs, row) - own.begin, own.extent());
        outgoing_.insert(outgoing_.end(), from, from + theirs.extent()[x_axis]);
      }
      sent.push_back(static_cast<int>(outgoing_.size()) - sent_at.back());
      received_at.push_back(static_cast<int>(incoming));
      received.push_back(static_cast<int>(piece_from(part_of(other)).points()));
      incoming += received.back();
    }
    incoming_.resize(static_cast<std::size_t>(incoming));
    check_mpi(MPI_Alltoallv(outgoing_.data(), sent.data(), sent_at.data(), MPI_DOUBLE, incoming_.data(),
                            received.data(), received_at.data(), MPI_DOUBLE, communicator_.handle()));
    for (int other = 0; other < ranks; ++other) {
      const Box piece = piece_from(part_of(other));
      const auto begin = incoming_.begin() + received_at[static_cast<std::size_t>(other)];
      give({begin, begin + piece.points()}, piece, sink_);
    }
  }

  /// Returns the part of `part` that lies in the box of this rank.
  Box piece_from(const Box& part) const {
    return intersect(part, boxes_[static_cast<std::size_t>(communicator_.rank())]);
  }

  const Communicator& communicator_;
  const NumberDataset& source_;
  int dimensions_;
  std::vector<Box> boxes_;
  const ValueSink& sink_;
  std::optional<Error> failure_;
  std::vector<double> values_, outgoing_, incoming_;
};

}  // namespace

void read_boxes(const Communicator& communicator, const std::filesystem::path& file,
                const std::string& dataset, const Domain& domain, const Box& box, const ValueSink& sink) {
  std::optional<NumberDataset> source;
  collectively(communicator, [&] {
    source.emplace(file, dataset);
    require_shape(*source, domain);
  });
  const auto boxes = communicator.all_gather(box);
  if (source->encoded_chunks()) {
    const ChunkTiles tiles(domain.shape, *source->encoded_chunks());
    std::int64_t decoded = 0;
    for (const Box& other : boxes) decoded += tiles.touched_by(other);
    if (4 * decoded > 5 * tiles.count() &&
        communicator.size() > 1) {  // a quarter of the tiles would be decoded twice
      SharedRead(communicator, *source, domain, boxes, sink).read(tiles);
      return;
    }
  }
  collectively(communicator, [&] { read_own(*source, domain, box, sink); });
}

Stencil read_weights(const std::filesystem::path& file, const std::string& dataset, int dimensions) {
  const NumberDataset source(file, dataset);
  const Index3 extent = source.extent(dimensions);
  const Index3 center = source.center(dimensions, {extent[0] / 2, extent[1] / 2, extent[2] / 2});
  std::vector<double> weights;
  constexpr std::int64_t max_weights = 1 << 24;  // far more than any usable stencil has
  if (!has_volume_within(extent, max_weights))
    source.fail(fmt::format("has shape {}: no stencil", shape_text(source.shape())));
  source.read(dimensions, box_of(extent), weights);
  try {
    return Stencil(extent, weights, center);
  } catch (const std::invalid_argument& error) {
    source.fail(fmt::format("is no stencil: {}", error.what()));
  }
}

}  // namespace spsolve
