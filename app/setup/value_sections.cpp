// SPDX-License-Identifier: Apache-2.0
#include "app/setup/value_sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <variant>

#include "halo/collectively.hpp"
#include "io/array_reader.hpp"

namespace spsolve {

std::string initial_section(const RunConfig& config, const std::string& field) {
  return !config.equations || config.equations->of_stencil ? "initial"
                                                           : fmt::format("fields.{}.initial", field);
}

std::string coefficient_section(const RunConfig& config, const std::string& name) {
  return config.equations->of_stencil ? name : "coefficients." + name;
}

std::vector<ValueSection> value_sections(const RunConfig& config) {
  std::vector<ValueSection> sections;
  if (!config.equations) {
    sections.push_back({"initial", config.initial});
    if (config.source)
      sections.push_back({"source", *config.source, config.source_is_rate ? config.time.dt : 1.0});
    return sections;
  }
  for (const auto& [name, values] : config.equations->coefficients)
    sections.push_back({coefficient_section(config, name), values});
  for (const FieldConfig& field : config.equations->fields) {
    sections.push_back({initial_section(config, field.name), field.initial_or_zero()});
    if (field.previous) sections.push_back({fmt::format("fields.{}.previous", field.name), *field.previous});
  }
  return sections;
}

void read_values(const Communicator& communicator, const RunConfig& config, const ValueSection& section,
                 const std::vector<GivenValues>& given, const Box& box, const ValueSink& sink) {
  if (section.factor != 1) {
    const ValueSink multiply = [&](const Index3& begin, std::span<const double> values) {
      std::vector<double> products(values.size());
      std::ranges::transform(values, products.begin(), [&](double value) { return section.factor * value; });
      sink(begin, products);
    };
    return read_values(communicator, config, {section.name, section.form}, given, box, multiply);
  }
  if (const auto* formula = std::get_if<ExpressionForm>(&section.form)) {
    const std::string key = formula->at.text.empty() ? section.name : formula->at.text;
    const Expression expression{
        formula->expression, key,
        with_dt(config.equations ? config.equations->constants : decltype(Expression::constants){},
                config.time.dt),
        given};
    collectively(communicator, [&] { expression.evaluate(config.grid, box, sink); });
  } else {
    const auto& source = std::get<DatasetForm>(section.form);
    try {
      read_boxes(communicator, source.file, source.dataset, config.grid.domain, box, sink);
    } catch (const Error& error) {
      throw Error(error.status(), error_prefix_of(source, section.name) + error.what());
    }
  }
}

}  // namespace spsolve
