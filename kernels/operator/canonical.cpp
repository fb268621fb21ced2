// SPDX-License-Identifier: Apache-2.0
#include "kernels/operator/canonical.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "kernels/operator/linear_form.hpp"

namespace spsolve {

namespace {

/// Tells what a form holds: a term without fields, a linear form, or the reading of any other node.
enum class FormKind { given, linear, other };

/// Holds the canonical form of a term.
struct Form {
  FormKind kind = FormKind::other;
  TermId term =
      0;  // given: a term without fields; its Variation tells whether it varies in time or between points
  LinearForm linear = {};            // linear
  std::optional<TermId> start = {};  // linear: an added term of coefficients, coordinates and numbers
  Reading reading = {};              // other
};

/// Tells on which variables a term without fields varies.
struct Variation {
  bool in_time = false, in_space = false;
};

/// Collects, as bytes, everything that distinguishes one node from another.
class NodeKey {
 public:
  explicit NodeKey(const CanonicalNode& node) {
    add(static_cast<std::int64_t>(node.kind));
    add(std::bit_cast<std::int64_t>(node.number));
    add(node.index);
    add(static_cast<std::int64_t>(node.level));
    add(static_cast<std::int64_t>(node.operation));
    add(static_cast<std::int64_t>(node.operands.size()));
    for (const Reading& operand : node.operands) add(operand);
    add(node.start.has_value());
    if (node.start) add(*node.start);
    for (const ChainLink& link : node.links) {
      add(link.node);
      add(static_cast<std::int64_t>(link.stencil.taps().size()));
      for (const Tap& tap : link.stencil.taps())
        add(tap.offset), add(std::bit_cast<std::int64_t>(tap.weight));
    }
  }
  std::string text;

 private:
  void add(std::int64_t value) { text.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void add(const Index3& p) {
    for (const std::int64_t value : p) add(value);
  }
  void add(const Reading& reading) { add(reading.node), add(reading.offset); }
};

class Canonicaliser {
 public:
  explicit Canonicaliser(const System& system) : system_(system) {
    canonical_.dimensions = system.dimensions;
    canonical_.terms = system.terms;
    canonical_.field_names = system.fields;
    canonical_.coefficient_names = system.coefficients;
  }

  Canonical result() {
    std::vector<TermId> roots;
    for (const Statement& statement : system_.statements) roots.push_back(statement.value);
    const std::vector<bool> needed = reachable(system_.terms, roots);
    forms_.resize(needed.size());
    count_uses(roots, needed);
    for (TermId id = 0; id < static_cast<TermId>(needed.size()); ++id) {
      if (!needed[id]) continue;
      try {
        forms_[id] = form_of(id);
      } catch (const Error& error) {
        const auto uses = [&](TermId root) -> bool { return reachable(system_.terms, {root})[id]; };
        throw StatementError(error, std::ranges::find_if(roots, uses) - roots.begin());
      }
    }
    for (std::size_t s = 0; s < system_.statements.size(); ++s) {
      canonical_.fields.push_back(system_.statements[s].field);
      try {
        canonical_.equations.push_back(node_of(take(system_.statements[s].value)));
      } catch (const Error& error) {
        throw StatementError(error, s);
      }
    }
    return std::move(canonical_);
  }

 private:
  // ---- forms of terms ----

  void count_uses(const std::vector<TermId>& roots, const std::vector<bool>& needed) {
    uses_.resize(needed.size());
    for (const TermId root : roots) ++uses_[root];
    for (TermId id = 0; id < static_cast<TermId>(needed.size()); ++id)
      if (needed[id])
        for (const TermId operand : system_.terms[id].operands) ++uses_[operand];
  }

  /// Returns the form of a term. The last use takes it without a copy, so that a long sum is made in linear
  /// time.
  Form take(TermId id) { return --uses_[id] == 0 ? std::move(forms_[id]) : forms_[id]; }

  Form form_of(TermId id) {
    const Term term = system_.terms[id];
    switch (term.kind) {
      case TermKind::field: {
        constexpr std::array kinds{LinearSourceKind::previous, LinearSourceKind::now, LinearSourceKind::next};
        return linear_form(LinearForm({kinds[static_cast<std::size_t>(term.level)], term.index}, {}));
      }
      case TermKind::operation:
        return operation(term);
      case TermKind::displaced:
        return displaced(take(term.operands[0]), term.offset);
      case TermKind::weighted:
        return weighted(take(term.operands[0]), system_.terms.weights(term.index));
      default:
        return given(id);
    }
  }

  static Form given(TermId term) { return {.kind = FormKind::given, .term = term}; }

  /// Returns a linear form. If all weights cancel, only its start is left.
  Form linear_form(LinearForm linear, std::optional<TermId> start = {}) {
    if (linear.is_zero()) return given(start ? *start : canonical_.terms.number(0.0));
    if (start && number_of(given(*start)) == 0.0) start.reset();
    return {.kind = FormKind::linear, .linear = std::move(linear), .start = start};
  }

  Form operation(const Term& term) {
    std::vector<Form> operands;
    for (const TermId operand : term.operands) operands.push_back(take(operand));
    switch (term.operation) {
      case Operation::add:
      case Operation::subtract:
        if (is_linear_sum(operands[0], operands[1]))
          return linear_sum(std::move(operands[0]), std::move(operands[1]), term.operation);
        break;
      case Operation::negate:
        if (operands[0].kind == FormKind::linear)
          return linear_form(operands[0].linear.negated(), changed_start(operands[0], Operation::negate, {}));
        break;
      case Operation::multiply:
        for (const int factor : {0, 1})
          if (const auto value = number_of(operands[factor])) {
            const Form& other = operands[1 - factor];
            if (*value == 1.0) return other;
            if (other.kind != FormKind::given) {
              const Form linear = as_linear(settled(other));
              return linear_form(linear.linear.times(*value),
                                 changed_start(linear, Operation::multiply, operands[factor].term));
            }
          }
        break;
      case Operation::divide:
        if (const auto value = number_of(operands[1])) {
          if (*value == 1.0) return operands[0];
          const Form dividend = settled(operands[0]);
          if (dividend.kind == FormKind::linear && *value != 0.0)
            return linear_form(dividend.linear.over(*value),
                               changed_start(dividend, Operation::divide, operands[1].term));
        }
        break;
      case Operation::power:
      case Operation::pow:
        if (const auto exponent = number_of(operands[1]); exponent && operands[0].kind != FormKind::given)
          if (const auto power = small_power(operands[0], *exponent)) return *power;
        break;
      case Operation::select:
        if (const auto condition = number_of(operands[0]))
          return *condition != 0.0 ? operands[1] : operands[2];
        break;
      default:
        break;
    }
    return plain_operation(term.operation, operands);
  }

  /// Returns an operation that has no simpler form.
  Form plain_operation(Operation operation, const std::vector<Form>& operands) {
    Variation together;
    bool all_given = true;
    std::vector<TermId> terms;
    for (const Form& operand : operands) {
      all_given = all_given && operand.kind == FormKind::given;
      if (!all_given) break;
      terms.push_back(operand.term);
      together = either(together, variation(operand.term));
    }
    if (all_given && !(together.in_time && together.in_space))
      return given(given_operation(operation, terms));
    CanonicalNode node{.kind = NodeKind::operation, .operation = operation};
    for (const Form& operand : operands) node.operands.push_back(node_of(operand));
    // A node whose operands are all displaced by the same offset is the displaced node of undisplaced
    // operands.
    std::optional<Index3> common;
    for (const Reading& operand : node.operands)
      if (varies(operand.node)) common = !common || *common == operand.offset ? operand.offset : Index3{};
    for (Reading& operand : node.operands)
      if (varies(operand.node)) operand.offset = operand.offset - *common;
    return {.reading = {add(std::move(node)), common.value_or(Index3{})}};
  }

  bool varies(int node) const {
    return canonical_.nodes[node].kind != NodeKind::number && canonical_.nodes[node].kind != NodeKind::scalar;
  }

  TermId given_operation(Operation operation, std::vector<TermId> operands) {
    std::optional<Index3> common;
    for (const TermId operand : operands)
      if (variation(operand).in_space) {
        const Term& term = canonical_.terms[operand];
        const Index3 offset = term.kind == TermKind::displaced ? term.offset : Index3{};
        common = !common || *common == offset ? offset : Index3{};
      }
    if (!common || *common == Index3{}) return canonical_.terms.operation(operation, std::move(operands));
    for (TermId& operand : operands)
      if (variation(operand).in_space) operand = canonical_.terms[operand].operands[0];
    return canonical_.terms.displaced(canonical_.terms.operation(operation, std::move(operands)), *common);
  }

  /// Returns a sum of fields and other expressions as one other expression, since its weights are not to be
  /// combined with those of fields outside: in u + dt*(laplace(u) - u^3), u keeps the weight 1, which no
  /// rounding changes.
  Form settled(const Form& form) {
    if (form.kind != FormKind::linear || !form.linear.mixes_nodes_with_fields()) return form;
    return {.reading = chain(form)};
  }

  /// Returns an expression as a linear form: it is one link of a chain if it is not linear in fields.
  Form as_linear(Form form) {
    if (form.kind != FormKind::other) return form;
    return linear_form(LinearForm({LinearSourceKind::node, form.reading.node}, form.reading.offset));
  }

  /// Returns true if one operand of a sum is linear in fields and the other varies in time through fields
  /// alone.
  bool is_linear_sum(const Form& first, const Form& second) {
    const auto is_linear = [](const Form& form) { return form.kind == FormKind::linear; };
    const auto fits = [&](const Form& form) {
      return form.kind != FormKind::given || !variation(form.term).in_time;
    };
    return (is_linear(first) || is_linear(second)) && fits(first) && fits(second);
  }

  Form linear_sum(Form first, Form second, Operation operation) {
    Form a = as_linear(std::move(first)), b = as_linear(std::move(second));
    LinearForm sum = std::move(a.linear);
    sum += operation == Operation::add ? std::move(b.linear) : b.linear.negated();
    const auto start_of = [](const Form& form) {
      return form.kind == FormKind::linear ? form.start : form.term;
    };
    std::optional<TermId> start = start_of(a);
    if (const auto other = start_of(b)) {
      if (start)
        start = canonical_.terms.operation(operation, {*start, *other});
      else
        start =
            operation == Operation::add ? *other : canonical_.terms.operation(Operation::negate, {*other});
    }
    return linear_form(std::move(sum), start);
  }

  std::optional<TermId> changed_start(const Form& form, Operation operation, std::optional<TermId> operand) {
    if (!form.start) return {};
    std::vector<TermId> operands{*form.start};
    if (operand) operands.push_back(*operand);
    return canonical_.terms.operation(operation, std::move(operands));
  }

  std::optional<Form> small_power(const Form& base, double exponent) {
    if (exponent == 0.0) return given(canonical_.terms.number(1.0));
    if (exponent == 1.0) return base;
    if (exponent == 0.5) return plain_operation(Operation::sqrt, {base});
    if (std::nearbyint(exponent) != exponent || std::abs(exponent) > 4.0) return {};
    Form product = base;
    for (int i = 1; i < std::abs(exponent); ++i)
      product = plain_operation(Operation::multiply, {product, base});
    if (exponent > 0.0) return product;
    return plain_operation(Operation::divide, {given(canonical_.terms.number(1.0)), product});
  }

  Form displaced(const Form& form, const Index3& offset) {
    switch (form.kind) {
      case FormKind::given:
        return given(displaced_given(form.term, offset));
      case FormKind::linear:
        return linear_form(form.linear.displaced(offset),
                           form.start ? std::optional(displaced_given(*form.start, offset)) : std::nullopt);
      default:
        return {.reading = {form.reading.node, form.reading.offset + offset}};
    }
  }

  TermId displaced_given(TermId term, const Index3& offset) {
    return variation(term).in_space ? canonical_.terms.displaced(term, offset) : term;
  }

  Form weighted(const Form& whole, const std::vector<Tap>& taps) {
    const Form form = settled(whole);
    if (form.kind == FormKind::given) return given(weighted_given(form.term, taps));
    if (form.kind == FormKind::linear)
      return linear_form(form.linear.convolved(taps),
                         form.start ? std::optional(weighted_given(*form.start, taps)) : std::nullopt);
    return linear_form(
        LinearForm({LinearSourceKind::node, form.reading.node}, form.reading.offset).convolved(taps));
  }

  TermId weighted_given(TermId term, const std::vector<Tap>& taps) {
    if (variation(term).in_space) return canonical_.terms.weighted(term, taps);
    // A field with the same value at all points is multiplied by the sum of the weights, which is 0 for
    // derivatives.
    LinearForm sum;
    for (const Tap& tap : taps) sum += LinearForm({LinearSourceKind::now, 0}, {}).times(tap.weight);
    const auto kept = sum.taps();
    const double total = kept.empty() ? 0.0 : kept.begin()->second[0].weight;
    if (total == 0.0) return canonical_.terms.number(0.0);
    return canonical_.terms.operation(Operation::multiply, {canonical_.terms.number(total), term});
  }

  // ---- terms without fields ----

  std::optional<double> number_of(const Form& form) const {
    if (form.kind != FormKind::given || canonical_.terms[form.term].kind != TermKind::number) return {};
    return canonical_.terms[form.term].number;
  }

  static Variation either(const Variation& a, const Variation& b) {
    return {a.in_time || b.in_time, a.in_space || b.in_space};
  }

  Variation variation(TermId id) {
    while (static_cast<TermId>(variations_.size()) <= id) {
      const Term& term = canonical_.terms[static_cast<TermId>(variations_.size())];
      Variation varies{term.kind == TermKind::time || term.kind == TermKind::step,
                       term.kind == TermKind::coordinate || term.kind == TermKind::coefficient};
      for (const TermId operand : term.operands) varies = either(varies, variations_[operand]);
      variations_.push_back(varies);
    }
    return variations_[id];
  }

  // ---- nodes ----

  Reading node_of(const Form& form) {
    switch (form.kind) {
      case FormKind::given:
        return node_of_given(form.term);
      case FormKind::linear:
        return chain(form);
      default:
        return form.reading;
    }
  }

  Reading node_of_given(TermId id) {
    const Term& term = canonical_.terms[id];
    if (term.kind == TermKind::number) {
      if (!std::isfinite(term.number))
        throw Error(Status::invalid_input,
                    std::string("a constant part is ") +
                        (std::isnan(term.number) ? "not a number, as 0/0 is" : "infinite") +
                        "; wanted numbers that double precision can hold");
      return {add({.kind = NodeKind::number, .number = term.number}), {}};
    }
    if (variation(id).in_time)
      return {add({.kind = NodeKind::scalar, .index = number_in(canonical_.scalars, id)}), {}};
    const bool displaced = term.kind == TermKind::displaced;
    const Index3 offset = displaced ? term.offset : Index3{};
    const TermId base = displaced ? term.operands[0] : id;
    return {add({.kind = NodeKind::coefficient, .index = number_in(canonical_.coefficients, base)}), offset};
  }

  static int number_in(std::vector<TermId>& list, TermId id) {
    const auto found = std::find(list.begin(), list.end(), id);
    if (found == list.end()) {
      list.push_back(id);
      return static_cast<int>(list.size()) - 1;
    }
    return static_cast<int>(found - list.begin());
  }

  int source_node(const LinearSource& source) {
    if (source.kind == LinearSourceKind::node) return source.index;
    constexpr std::array levels{Level::previous, Level::now, Level::next};
    return add({.kind = NodeKind::field,
                .index = source.index,
                .level = levels[static_cast<std::size_t>(source.kind)]});
  }

  Reading chain(const Form& form) {
    const auto all_taps = form.linear.taps();
    CanonicalNode node{.kind = NodeKind::chain};
    for (const auto& [source, taps] : all_taps) {
      // A chain with one tap of weight 1 and no start is its source.
      if (all_taps.size() == 1 && !form.start && taps.size() == 1 && taps[0].weight == 1.0)
        return {source_node(source), taps[0].offset};
      node.links.push_back({source_node(source), stencil_of(taps)});
    }
    if (form.start) node.start = node_of_given(*form.start);
    return shared(std::move(node));
  }

  /// Returns the given chain, or a displacement of an equal chain that exists already. Chains are compared
  /// after the displacement that brings their first tap to the point itself.
  Reading shared(CanonicalNode node) {
    const Index3 first = node.links[0].stencil.taps()[0].offset;
    CanonicalNode moved{.kind = NodeKind::chain, .start = node.start};
    if (moved.start && canonical_.nodes[moved.start->node].kind == NodeKind::coefficient)
      moved.start->offset = moved.start->offset - first;
    for (const ChainLink& link : node.links) {
      std::vector<Tap> taps = link.stencil.taps();
      for (Tap& tap : taps) tap.offset = tap.offset - first;
      moved.links.push_back({link.node, stencil_of(taps)});
    }
    const auto [found, added] = chains_.try_emplace(NodeKey(moved).text, Reading{0, first});
    if (added) found->second.node = add(std::move(node));
    return {found->second.node, first - found->second.offset};
  }

  int add(CanonicalNode node) {
    const auto [found, added] =
        numbers_.try_emplace(NodeKey(node).text, static_cast<int>(canonical_.nodes.size()));
    if (added) canonical_.nodes.push_back(std::move(node));
    return found->second;
  }

  const System& system_;
  Canonical canonical_;
  std::vector<Form> forms_;  // [term]
  std::vector<int> uses_;    // [term]: how often its form is still needed
  std::vector<Variation> variations_;
  std::map<std::string, int> numbers_;     // numbers of nodes by their keys
  std::map<std::string, Reading> chains_;  // the node, and the offset of its first tap
};

}  // namespace

Canonical canonical_form(const System& system) { return Canonicaliser(system).result(); }

}  // namespace spsolve
