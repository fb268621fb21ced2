// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/pair_order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <tuple>

namespace spsolve {
namespace {

constexpr std::size_t pairs_per_register = 2, pairs_per_instruction = 8;

/// Holds an order of pairs that is improved step by step.
class PairOrder {
 public:
  PairOrder(NodePairs pairs, const ConflictGraph& graph, const NodeCosts& costs)
      : pairs_(std::move(pairs)), graph_(graph), costs_(costs) {}
  const NodePairs& pairs() const { return pairs_; }

  /// Rearranges the nodes of the i-th and the j-th pair in the cheapest way. Returns true if that is cheaper
  /// than before.
  bool improve(std::size_t i, std::size_t j) {
    const auto [a, b] = pairs_[i];
    const auto [c, d] = pairs_[j];
    auto best = std::pair{pairs_[i], pairs_[j]};
    const int old_cost = cost_of_both(i, j);
    int least = old_cost;
    using Pair = std::pair<int, int>;
    for (const auto& [one, other] : {std::pair{Pair{c, d}, Pair{a, b}},
                                     {Pair{a, d}, Pair{c, b}},
                                     {Pair{c, b}, Pair{a, d}},
                                     {Pair{a, c}, Pair{b, d}},
                                     {Pair{b, d}, Pair{a, c}}}) {
      if (!possible(one) || !possible(other)) continue;
      pairs_[i] = one;
      pairs_[j] = other;
      if (const int cost = cost_of_both(i, j); cost < least) {
        least = cost;
        best = {one, other};
      }
    }
    std::tie(pairs_[i], pairs_[j]) = best;
    return least < old_cost;
  }

 private:
  bool possible(const std::pair<int, int>& pair) const {
    const auto [a, b] = pair;
    return a != unpaired && (b == unpaired || !graph_.conflict(a, b));
  }

  int cost_of_both(std::size_t i, std::size_t j) const {
    const std::size_t one = i / pairs_per_instruction, other = j / pairs_per_instruction;
    return cost_of(one) + (one == other ? 0 : cost_of(other));
  }

  /// Returns the cost in hundredths of a multiprocessor cycle: one instruction for each slice that has
  /// weights there, and the loads.
  int cost_of(std::size_t instruction) const {
    constexpr int multiply = 200, load = 100, closer = 1;  // rewards progress when several exchanges are
                                                           // needed to save a load
    std::uint64_t slices = 0;
    int loads = 0;
    const std::size_t end = std::min(pairs_.size(), (instruction + 1) * pairs_per_instruction);
    for (std::size_t i = instruction * pairs_per_instruction; i < end; i += pairs_per_register) {
      std::array<int, 4> words{};  // [bank]
      for (std::size_t k = i; k < std::min(end, i + pairs_per_register); ++k)
        for (const int node : {pairs_[k].first, pairs_[k].second}) {
          if (node == unpaired) continue;
          slices |= costs_.slices[node];
          ++words[costs_.bank[node]];
        }
      loads += load * *std::max_element(words.begin(), words.end()) +
               closer * std::inner_product(words.begin(), words.end(), words.begin(), 0);
    }
    return multiply * std::popcount(slices) + loads;
  }

  NodePairs pairs_;
  const ConflictGraph& graph_;
  const NodeCosts& costs_;
};

}  // namespace

NodePairs improved_order(NodePairs pairs, const ConflictGraph& graph, const NodeCosts& costs) {
  PairOrder order(std::move(pairs), graph, costs);
  const std::size_t count = order.pairs().size();
  for (bool better = true; better;) {
    better = false;
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = i + 1; j < count; ++j) better = order.improve(i, j) || better;
  }
  return order.pairs();
}

}  // namespace spsolve
