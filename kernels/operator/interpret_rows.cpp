// SPDX-License-Identifier: Apache-2.0
#include "kernels/operator/interpret_rows.hpp"

#include <algorithm>

#include "kernels/operator/apply_row.hpp"

namespace spsolve {

namespace {

/// Calls `visit` for each operand that a term reads, with its displacement and weight.
template <class Visit>
void for_each_read(const Terms& terms, const Term& term, Visit&& visit) {
  if (term.kind == TermKind::weighted)
    for (const Tap& tap : terms.weights(term.index)) visit(term.operands[0], tap.offset, tap.weight);
  else
    for (const TermId operand : term.operands)
      visit(operand, term.kind == TermKind::displaced ? term.offset : Index3{}, 1.0);
}

}  // namespace

RowInterpreter::RowInterpreter(const Terms& terms, TermId id) : terms_(terms) {
  std::map<RowKey, Range> needed{{{id, 0, 0}, {0, 1}}};
  // Terms have larger numbers than their operands, which stand before them in the map.
  for (auto row = needed.rbegin(); row != needed.rend(); ++row) {
    const std::int64_t z = std::get<1>(row->first), y = std::get<2>(row->first);
    const Range columns = row->second;
    for_each_read(terms, terms[std::get<0>(row->first)], [&](TermId operand, const Index3& offset, double) {
      const Range read{columns.begin + offset[x_axis], columns.end + offset[x_axis]};
      Range& all = needed.try_emplace({operand, z + offset[z_axis], y + offset[y_axis]}, read).first->second;
      all = {std::min(all.begin, read.begin), std::max(all.end, read.end)};
    });
  }
  std::map<RowKey, int> numbers;
  for (const auto& [key, columns] : needed) {
    TermRow row{std::get<0>(key), std::get<1>(key), std::get<2>(key), columns, {}};
    for_each_read(terms, terms[row.term], [&](TermId operand, const Index3& offset, double weight) {
      row.reads.push_back(
          {numbers.at({operand, row.z + offset[z_axis], row.y + offset[y_axis]}), offset[x_axis], weight});
    });
    numbers[key] = static_cast<int>(rows_.size());
    rows_.push_back(std::move(row));
  }
}

void RowInterpreter::evaluate(const Index3& first, const LeafRow& leaf, std::span<double> out,
                              Workspace& workspace) const {
  workspace.resize(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const TermRow& row = rows_[i];
    const auto points = static_cast<std::int64_t>(out.size()) - 1 + row.columns.end - row.columns.begin;
    const bool is_result = i + 1 == rows_.size();
    if (!is_result) workspace[i].resize(static_cast<std::size_t>(points));
    compute(row, points, first + Index3{row.z, row.y, row.columns.begin}, leaf, workspace,
            is_result ? out.data() : workspace[i].data());
  }
}

void RowInterpreter::compute(const TermRow& row, std::int64_t points, const Index3& first,
                             const LeafRow& leaf, const Workspace& workspace, double* out) const {
  const Term& term = terms_[row.term];
  const auto values_of = [&](const Read& read) {
    const TermRow& of = rows_[read.row];
    const Term& operand = terms_[of.term];
    if (operand.kind == TermKind::number) return RowValues<double>{nullptr, operand.number};
    return RowValues<double>{workspace[read.row].data() + (row.columns.begin + read.x - of.columns.begin),
                             0.0};
  };
  switch (term.kind) {
    case TermKind::number:
      std::fill_n(out, points, term.number);
      return;
    case TermKind::operation: {
      std::array<RowValues<double>, max_operands> operands;
      std::transform(row.reads.begin(), row.reads.end(), operands.begin(), values_of);
      apply_row<double>(term.operation, std::span(operands.data(), row.reads.size()), points, out);
      return;
    }
    case TermKind::displaced: {
      const RowValues<double> values = values_of(row.reads[0]);
      for (std::int64_t i = 0; i < points; ++i) out[i] = values.at(i);
      return;
    }
    case TermKind::weighted:
      std::fill_n(out, points, 0.0);
      for (const Read& read : row.reads) {
        const RowValues<double> values = values_of(read);
        for (std::int64_t i = 0; i < points; ++i) out[i] += read.weight * values.at(i);
      }
      return;
    default:
      leaf(term, first, std::span(out, static_cast<std::size_t>(points)));
  }
}

void interpret_rows(const Terms& terms, TermId id, const Box& box, const LeafRow& leaf,
                    const std::function<void(const Index3&, std::span<const double>)>& use) {
  if (box.empty()) return;
  const RowInterpreter interpreter(terms, id);
#pragma omp parallel
  {
    RowInterpreter::Workspace workspace;
    std::vector<double> values(static_cast<std::size_t>(box.extent()[x_axis]));
#pragma omp for schedule(static)
    for (std::int64_t row = 0; row < row_count(box); ++row) {
      const Index3 first = row_begin(box, row);
      interpreter.evaluate(first, leaf, values, workspace);
      use(first, values);
    }
  }
}

}  // namespace spsolve
