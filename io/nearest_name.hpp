// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numeric>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "io/language/small_letters.hpp"

namespace spsolve {

/// Returns the number of edits (insert, delete, replace, swap neighbours) that turn a into b: the
/// Damerau-Levenshtein distance with adjacent transpositions (optimal string alignment).
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({last[j + 1] + 1, row[j] + 1, last[j] + (a[i] != b[j])});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        row[j + 1] = std::min(row[j + 1], before_last[j - 1] + 1);
    }
    before_last = last;
    last = row;
  }
  return last.back();
}

/// Returns the candidate that a misspelt name most likely means, whatever the case of its letters, or "" if
/// none is within half of its length (at least one letter).
template <std::ranges::forward_range Names>
std::string nearest_name(std::string_view name, const Names& candidates) {
  constexpr std::size_t longest = 64;  // longer names are no slips, and cost quadratic time
  std::string nearest;
  std::size_t least = std::max<std::size_t>(name.size() / 2, 1) + 1;
  if (name.size() > longest) return nearest;
  const std::string small = in_small_letters(name);
  for (const auto& candidate : candidates)
    if (const std::size_t distance = edit_distance(small, in_small_letters(candidate)); distance < least)
      least = distance, nearest = candidate;
  return nearest;
}

/// Returns the text that follows an unknown name: "; did you mean '<nearest>'? ", or "; " if no candidate is
/// near.
template <std::ranges::forward_range Names>
std::string did_you_mean(std::string_view name, const Names& candidates) {
  const std::string nearest = nearest_name(name, candidates);
  return nearest.empty() ? "; " : "; did you mean '" + nearest + "'? ";
}

}  // namespace spsolve
