// SPDX-License-Identifier: Apache-2.0
#include "app/run/field_sums.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "io/field_rows.hpp"

namespace spsolve {
namespace {

/// Is the number of threads that read copies on a device. Each takes a stream and a window for each field.
constexpr int most_readers = 8;

}  // namespace

FieldSums::FieldSums(const Communicator& communicator, const RunConfig& config, const Block& block)
    : communicator_(communicator), config_(config) {
  for (const auto& [name, formula] : config.diagnostics.sums) formulas_.emplace_back(config, formula);
  if (std::ranges::any_of(formulas_, &StateFormula::uses_coefficients))
    coefficients_.emplace(communicator, config, block.owned());
}

std::vector<std::string> FieldSums::names() const {
  std::vector<std::string> names;
  for (const auto& [name, formula] : config_.diagnostics.sums) names.push_back(name);
  return names;
}

std::vector<double> FieldSums::at(std::int64_t step, Block& block) const {
  std::vector<double> sums;
  std::map<std::size_t, std::shared_ptr<HostCopy>> copies;
  for (const StateFormula& formula : formulas_)
    for (const std::size_t field : formula.fields()) {
      if (copies.contains(field)) continue;
      const StateView view = block.view(field);
      copies[field] = view.scan({1, view.state->precision()}).copy;
    }
  std::map<std::size_t, RowSource> rows;
  int most_threads = std::numeric_limits<int>::max();
  for (const auto& [field, copy] : copies) {
    const ReadableField readable = copy->readable();
    if (readable.read) most_threads = most_readers;
    rows[field] = rows_of(readable, Precision::fp64);
  }
  const auto fill = [rows](std::size_t field, const Index3& begin, std::span<double> row) {
    rows.at(field)(begin, std::ssize(row), std::as_writable_bytes(row).data());
  };
  Field values(block.owned(), {0, 0, 0}, Precision::fp64);
  for (const StateFormula& formula : formulas_) {
    formula.evaluate(
        block.owned(), step, fill, coefficients_ ? &*coefficients_ : nullptr,
        [&](const Index3& begin, std::span<const double> row) {
          std::ranges::copy(row, values.at<double>(begin));
        },
        most_threads);
    sums.push_back(sum_over_grid(communicator_, config_.grid.domain.shape, values));
  }
  return sums;
}

}  // namespace spsolve
