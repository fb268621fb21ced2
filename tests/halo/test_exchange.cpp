// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <array>

#include "halo/exchange.hpp"
#include "halo/mpi_transport.hpp"
#include "tests/support/rows_transport.hpp"
#include "tests/support/wall_reflections.hpp"

namespace spsolve {
namespace {

/// Every point of the grid holds its own number. After an exchange every halo point must hold the number of
/// the point that it copies, or its reflection at a wall. Points beyond walls without reflections must be
/// untouched.
void exchange_and_check(const Domain& domain, const Index3& rank_grid, const Index3& width,
                        Precision precision, Transport& transport) {
  const Communicator world;
  const Decomposition decomposition(domain.shape, rank_grid);
  HostPacker packer;
  Field field(decomposition.block(world.rank()), width, precision);
  const bool slabs = transport.supports_boxes() && reaches_next_blocks_only(decomposition, width);
  HaloExchange exchange(world,
                        (slabs ? slab_regions : halo_regions)(domain, decomposition, world.rank(), width),
                        field, transport, packer, packer);
  constexpr double untouched = -1;
  const auto number = [&](const Index3& p) {
    // 16-bit storage can distinguish 2048 numbers.
    return static_cast<double>(index_of(p, domain.shape) % 2039);
  };
  for (int repeat = 0; repeat < 2; ++repeat)
    with_storage(precision, [&]<class Storage>() {
      for_each_point(field.allocated(),
                     [&](const Index3& p) { *field.at<Storage>(p) = to_storage<Storage>(untouched); });
      for_each_point(field.owned(),
                     [&](const Index3& p) { *field.at<Storage>(p) = to_storage<Storage>(number(p) / 2039); });
      exchange.pack(field);
      PendingExchange pending = exchange.start(field);
      pending.wait();
      pending.unpack();
      Domain plain = domain;  // walls without reflections
      for (int axis = 0; axis < axis_count; ++axis)
        if (domain.reflected[axis]) plain.faces[axis] = {};
      const Box inside = plain.clip_to_walls(field.allocated());
      for_each_point(field.allocated(), [&](const Index3& p) {
        const testing::ReflectedPoint reflected = testing::reflected_point(domain, p);
        const double original = stored_value(to_storage<Storage>(number(reflected.point) / 2039));
        const double expected = contains(inside, p) ? reflected.apply(original) : untouched;
        ASSERT_EQ(stored_value(*field.at<Storage>(p)), stored_value(to_storage<Storage>(expected)))
            << "rank " << world.rank() << " point " << p[0] << " " << p[1] << " " << p[2];
      });
    });
}

TEST(Exchange, HaloPointsHoldTheirImage) {
  const int ranks = Communicator().size();
  for (int seed = 0; seed < 40; ++seed) {
    testing::RandomCase problem(static_cast<std::uint64_t>(seed), 1, 2000);
    Domain domain = problem.domain;
    domain.shape[x_axis] = std::max<std::int64_t>(domain.shape[x_axis], ranks);
    Index3 width{};
    for (int axis = domain.first_axis(); axis < axis_count; ++axis) width[axis] = problem.between(0, 7);
    if (seed % 2) {
      const double value = 0.5 * static_cast<double>(problem.between(0, 2));
      for (int axis = 0; axis < axis_count; ++axis) {
        domain.reflected[axis] = !domain.periodic(axis);
        for (Face& face : domain.faces[axis]) {
          face.value = value;
          if (face.has_value() && problem.between(0, 1)) face.kind = BoundaryKind::value;
        }
      }
    }
    SCOPED_TRACE(problem.describe());
    Index3 rank_grid{1, 1, ranks};
    try {
      rank_grid = min_surface_rank_grid(domain.shape, ranks, width);
    } catch (const Error&) {
    }
    for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::fp16}) {
      MpiTransport buffers{Communicator()}, pieces{Communicator(), 24};
      testing::RowsTransport boxes{Communicator()};
      for (Transport* transport : std::initializer_list<Transport*>{&buffers, &pieces, &boxes}) {
        exchange_and_check(domain, rank_grid, width, precision, *transport);
        exchange_and_check(domain, {1, 1, ranks}, width, precision, *transport);
      }
    }
  }
}

/// Slabs of many short rows are packed together with the periodic copies that they contain.
TEST(Exchange, SlabsOfShortRowsIncludeTheirPeriodicCopies) {
  const int ranks = Communicator().size();
  testing::RowsTransport boxes{Communicator()};
  exchange_and_check({3, {4 * ranks, 130, 5}, {}}, {ranks, 1, 1}, {2, 3, 1}, Precision::fp64, boxes);
  exchange_and_check({3, {130, 4 * ranks, 5}, {}}, {1, ranks, 1}, {3, 2, 1}, Precision::fp16, boxes);
}

/// Counts the messages and bytes that it sends.
class CountingTransport : public MpiTransport {
 public:
  using MpiTransport::MpiTransport;
  void start(std::span<const Message> sends, std::span<const Message> receives) override {
    messages_sent += sends.size();
    for (const Message& message : sends) bytes_sent += message.bytes;
    MpiTransport::start(sends, receives);
  }

  std::size_t messages_sent = 0, bytes_sent = 0;
};

TEST(Exchange, SendsOnlyPointsThatOthersNeed) {
  const Communicator world;
  Domain domain{2, {1, 16, 16 * world.size()}, {}};
  const Decomposition decomposition(domain.shape, {1, 1, world.size()});
  CountingTransport transport(world);
  HostPacker packer;
  Field field(decomposition.block(world.rank()), {0, 2, 3}, Precision::fp32);
  HaloExchange exchange(world, halo_regions(domain, decomposition, world.rank(), field.halo()), field,
                        transport, packer, packer);
  // On each side in x there are 3 columns of 16 rows and the 2 + 2 rows of their periodic copies, whose
  // regions are padded to 16 bytes.
  exchange.pack(field);
  PendingExchange pending = exchange.start(field);
  pending.wait();
  pending.unpack();
  EXPECT_EQ(transport.bytes_sent, world.size() == 1 ? 0u : 2u * (3 * 16 * 4 + 2 * 32));
}

TEST(Exchange, SendsOneMessageWithAllFieldsToEachNeighbour) {
  const Communicator world;
  const Domain domain{2, {1, 6, 4 * world.size()}, {}};
  const Decomposition decomposition(domain.shape, {1, 1, world.size()});
  const Box block = decomposition.block(world.rank());
  CountingTransport transport(world);
  HostPacker packer;
  Field u(block, {0, 1, 2}, Precision::fp64), v(block, {0, 1, 2}, Precision::fp64),
      w(block, {0, 1, 2}, Precision::fp64);
  const State state({&u, &v, &w});
  const auto number = [&](std::size_t field, const Index3& p) {
    return static_cast<double>(index_of(p, domain.shape)) + 0.25 * static_cast<double>(field);
  };
  HaloExchange exchange(world, halo_regions(domain, decomposition, world.rank(), u.halo()), state, transport,
                        packer, packer);
  for (std::size_t i = 0; i < state.size(); ++i)
    for_each_point(block, [&](const Index3& p) { *state[i].at<double>(p) = number(i, p); });
  exchange.pack(state);
  PendingExchange pending = exchange.start(state);
  pending.wait();
  pending.unpack();
  EXPECT_EQ(transport.messages_sent, static_cast<std::size_t>(std::min(world.size() - 1, 2)));
  for (std::size_t i = 0; i < state.size(); ++i)
    for_each_point(u.allocated(), [&](const Index3& p) {
      const Index3 image{p[0], wrap(p[1], domain.shape[1]), wrap(p[2], domain.shape[2])};
      ASSERT_EQ(*state[i].at<double>(p), number(i, image)) << "field " << i << " at " << p[1] << " " << p[2];
    });
}

/// Sends a longer message than the receiver expects, as if ranks disagreed about the width of a halo.
TEST(MpiTransport, ErrorsNameTheMessage) {
  const Communicator world;
  if (world.size() == 1)
    GTEST_SKIP() << "Open MPI does not tell ranks what is wrong with messages to themselves";
  const int next = (world.rank() + 1) % world.size(), last = (world.rank() + world.size() - 1) % world.size();
  std::array<std::byte, 24> sent{}, received{};
  const Message send{next, sent.data(), 24}, receive{last, received.data(), 8};
  MpiTransport transport(world);
  transport.start({&send, 1}, {&receive, 1});
  try {
    transport.finish();
    FAIL() << "no error";
  } catch (const Error& error) {
    const std::string message = error.what(), named = "8 bytes from rank " + std::to_string(last);
    EXPECT_THAT(message, ::testing::HasSubstr("TRUNCATE"));
    EXPECT_THAT(message, ::testing::HasSubstr(named));
  }
}

}  // namespace
}  // namespace spsolve
