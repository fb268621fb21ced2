// SPDX-License-Identifier: Apache-2.0
#include "io/language/parser.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "io/language/foreign_names.hpp"
#include "io/language/scanner.hpp"

// Every rule of this grammar is a function of class Parser. {} means any number of times, [] at most once.
//
//   step        = [ statement ] { end-of-statement [ statement ] }
//   statement   = name [ "." "next" ] "=" expression
//   expression  = disjunction [ "?" expression ":" expression ]
//   disjunction = conjunction { "||" conjunction }
//   conjunction = comparison { "&&" comparison }
//   comparison  = sum [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) sum ]
//   sum         = product { ( "+" | "-" ) product }
//   product     = signed { ( "*" | "/" ) signed }
//   signed      = ( "-" | "+" ) signed | power
//   power       = displaced [ "^" signed ]
//   displaced   = primary { "[" expression { "," expression } "]" }
//   primary     = number | "(" expression ")" | name [ "." level ] | call
//   level       = "previous" | "next"
//   call        = name "(" expression { "," expression } ")"
//               | "d" "(" expression "," name [ "," expression ] { "," option } ")"
//               | "mean" "(" expression "," name { "," option } ")"
//               | "laplace" "(" expression { "," option } ")"
//               | "correlate" "(" name "," expression ")"
//   option      = ( "order" | "at" ) "=" expression
//
// So -2^2 is -4, 2^3^2 is 512, 2^-1 is 0.5, and the branches of ?: reach as far as they can. The result of
// <, <=, > or >= is compared by these with numbers from 0 to 1 only, and with what is 0 or 1 itself.

namespace spsolve {

namespace {

constexpr std::array<std::string_view, 6> comparisons{"<", "<=", ">", ">=", "==", "!="};

class Parser {
 public:
  Parser(std::string_view text, bool statements) : text_(text), tokens_(scan(text, statements)) {}

  Syntax step() {
    while (true) {
      if (peek().kind != TokenKind::end_of_statement && peek().kind != TokenKind::end) statement();
      if (peek().kind == TokenKind::end) break;
      if (peek().kind != TokenKind::end_of_statement) refuse("an operator, or the end of the statement");
      ++at_;
    }
    return finish();
  }

  Syntax lone_expression() {
    if (peek().kind == TokenKind::end) refuse("an expression");
    expression();
    if (peek().kind != TokenKind::end) refuse("an operator, or the end of the expression");
    return finish();
  }

 private:
  // ---- statements ----

  void statement() {
    const Token& name = peek();
    if (name.kind != TokenKind::name) refuse("a statement: 'field.next = ...' or 'name = ...'");
    ++at_;
    bool next = false;
    if (accept(".")) {
      if (peek().text != "next") refuse(fmt::format("'{}.next = ...'", name.text));
      ++at_, next = true;
    }
    if (peek().text != "=") {
      if (!next && name.text.size() > 1 && name.text[0] == 'd' && peek().text == "/" &&
          tokens_[at_ + 1].text == "dt")
        refuse(fmt::format("'{0}.next = {0} + dt*(...)' for a derivative by time", name.text.substr(1)));
      refuse(fmt::format("'=' after '{}{}'", name.text, next ? ".next" : ""));
    }
    ++at_;
    const int value = expression();
    statements_.push_back({std::string(name.text), next, value, name.position});
  }

  // ---- operators, from the loosest ----

  int expression() {
    const Depth depth(*this);
    const int condition = disjunction();
    const Position question = peek().position;
    if (!accept("?")) return condition;
    const int yes = expression();
    expect(":", "':' and what holds otherwise");
    return add_operation(Operation::select, {condition, yes, expression()}, question);
  }

  int disjunction() {
    int left = conjunction();
    for (Position at = peek().position; accept("||"); at = peek().position)
      left = add_operation(Operation::either, {left, conjunction()}, at);
    return left;
  }

  int conjunction() {
    int left = comparison();
    for (Position at = peek().position; accept("&&"); at = peek().position)
      left = add_operation(Operation::both, {left, comparison()}, at);
    return left;
  }

  int comparison() {
    const std::size_t first = peek().begin;
    const int left = sum();
    const Token& comparator = peek();
    const auto found = std::find(comparisons.begin(), comparisons.end(), comparator.text);
    if (found == comparisons.end()) return left;
    const std::string left_text = source(first);
    ++at_;
    const std::size_t second = peek().begin;
    const int right = sum();
    const Token& again = peek();
    if (std::find(comparisons.begin(), comparisons.end(), again.text) != comparisons.end()) {
      const std::string middle = source(second);
      const std::string both = source(first);
      ++at_;
      const std::size_t third = peek().begin;
      sum();
      throw SyntaxError(
          text_, again.position, fmt::format("a second comparison '{}'", again.text),
          fmt::format("one comparison, as in '{} && {} {} {}'", both, middle, again.text, source(third)));
    }
    const auto operation =
        static_cast<Operation>(static_cast<int>(Operation::less) + (found - comparisons.begin()));
    if (is_order(operation)) {
      refuse_chain(comparator, left, right, source(second));
      refuse_chain(comparator, right, left, left_text);
    }
    return add_operation(operation, {left, right}, comparator.position);
  }

  static bool is_order(Operation operation) {
    return operation >= Operation::less && operation <= Operation::greater_equal;
  }

  /// Refuses (2 < x) < 5, which compares 0 or 1 with 5.
  void refuse_chain(const Token& comparator, int condition, int other, const std::string& other_text) const {
    const SyntaxNode& compared = nodes_[static_cast<std::size_t>(condition)];
    const SyntaxNode& limit = nodes_[static_cast<std::size_t>(other)];
    if (compared.kind != SyntaxKind::operation || !is_order(compared.operation)) return;
    if (limit.kind == SyntaxKind::number && limit.number <= 1.0) return;
    if (limit.kind == SyntaxKind::operation && limit.operation >= Operation::less &&
        limit.operation <= Operation::either)  // it is 0 or 1, too
      return;
    throw SyntaxError(text_, comparator.position,
                      fmt::format("'{}' between '{}' and the result of a comparison, which is 0 or 1",
                                  comparator.text, other_text),
                      "comparisons joined by '&&', as in '2 < x && x < 5'");
  }

  int sum() {
    int left = product();
    while (true) {
      const Position at = peek().position;
      if (accept("+"))
        left = add_operation(Operation::add, {left, product()}, at);
      else if (accept("-"))
        left = add_operation(Operation::subtract, {left, product()}, at);
      else
        return left;
    }
  }

  int product() {
    int left = signed_power();
    while (true) {
      const Position at = peek().position;
      if (accept("*"))
        left = add_operation(Operation::multiply, {left, signed_power()}, at);
      else if (accept("/"))
        left = add_operation(Operation::divide, {left, signed_power()}, at);
      else
        return left;
    }
  }

  int signed_power() {
    const Depth depth(*this);
    const Position at = peek().position;
    if (accept("-")) return add_operation(Operation::negate, {signed_power()}, at);
    if (accept("+")) return signed_power();
    return power();
  }

  int power() {
    const int base = displaced();
    const Position at = peek().position;
    if (!accept("^")) return base;
    return add_operation(Operation::power, {base, signed_power()}, at);
  }

  int displaced() {
    int inner = primary();
    for (Position at = peek().position; accept("["); at = peek().position) {
      SyntaxNode node{SyntaxKind::displaced, at};
      node.operands = {inner};
      do node.operands.push_back(expression());
      while (accept(","));
      expect("]", "',' or ']'");
      inner = add(std::move(node));
    }
    return inner;
  }

  // ---- operands ----

  int primary() {
    const Token& token = peek();
    SyntaxNode node{SyntaxKind::number, token.position};
    if (token.kind == TokenKind::number) {
      ++at_;
      node.number = token.number;
      return add(std::move(node));
    }
    if (accept("(")) {
      const int inner = expression();
      expect(")", "an operator or ')'");
      return inner;
    }
    if (token.kind != TokenKind::name || is_word_operator(token.text))
      refuse("a number, a name, a function or '('");
    ++at_;
    node.text = token.text;
    if (accept("(")) return call(std::move(node));
    node.kind = SyntaxKind::name;
    if (peek().text == ".") {
      ++at_;
      if (peek().text != "previous" && peek().text != "next") refuse_level(token.text);
      node.kind = SyntaxKind::level;
      node.level = peek().text;
      ++at_;
    }
    return add(std::move(node));
  }

  int call(SyntaxNode node) {
    const std::string& name = node.text;
    if (name == "d" || name == "mean" || name == "laplace") {
      node.kind = name == "d"      ? SyntaxKind::difference
                  : name == "mean" ? SyntaxKind::mean
                                   : SyntaxKind::laplace;
      node.operands = {expression()};
      if (name != "laplace") {
        expect(",", fmt::format("',' and an axis, as in '{}(..., x)'", name));
        read_axis(node, "the name of an axis");
      }
      bool derivative = name == "d";
      while (accept(",")) {
        if (peek().kind == TokenKind::name && tokens_[at_ + 1].text == "=")
          option(node);
        else if (std::exchange(derivative, false))
          node.operands.push_back(expression());
        else
          refuse(name == "laplace" ? "'order=...'" : "'order=...' or 'at=...'");
      }
      expect(")", "',' or ')'");
    } else if (name == "correlate") {
      node.kind = SyntaxKind::correlate;
      read_axis(node, "the name of weights, that of a section [stencils.<name>]");
      expect(",", "',' and what is to be correlated");
      node.operands = {expression()};
      expect(")", "')'");
    } else {
      node.kind = SyntaxKind::unknown;
      if (peek().text != ")") {
        do node.operands.push_back(expression());
        while (accept(","));
      }
      const Token& end = peek();
      expect(")", "',' or ')'");
      if (const auto function = find_function(name)) check_count(node, *function, end);
    }
    return add(std::move(node));
  }

  void check_count(SyntaxNode& node, Operation function, const Token& end) {
    const OperationInfo& info = info_of(function);
    const auto count = static_cast<int>(node.operands.size());
    if (count < info.min_arguments || count > info.max_arguments)
      throw SyntaxError(text_, end.position,
                        fmt::format("{} argument{} of '{}'", count, count == 1 ? "" : "s", node.text),
                        info.min_arguments == info.max_arguments
                            ? std::to_string(info.min_arguments)
                            : fmt::format("{} to {}", info.min_arguments, info.max_arguments));
    node.kind = SyntaxKind::operation;
    node.operation = function;
  }

  void read_axis(SyntaxNode& node, const char* wanted) {
    if (peek().kind != TokenKind::name) refuse(wanted);
    node.axis = peek().text;
    node.axis_position = peek().position;
    ++at_;
  }

  void option(SyntaxNode& node) {
    const Token& name = peek();
    const bool order = name.text == "order", place = name.text == "at" && node.kind != SyntaxKind::laplace;
    if (!order && !place)
      refuse(node.kind == SyntaxKind::laplace ? "'order=...'" : "'order=...' or 'at=...'");
    int& option = order ? node.order : node.at;
    if (option >= 0) refuse(fmt::format("'{}=' once", name.text));
    at_ += 2;
    option = expression();
  }

  // ---- tokens ----

  const Token& peek() const { return tokens_[at_]; }

  bool accept(std::string_view symbol) {
    if (peek().kind != TokenKind::symbol || peek().text != symbol) return false;
    if (symbol == "(" || symbol == "[") open_.push_back(&peek());
    if (symbol == ")" || symbol == "]") open_.pop_back();
    ++at_;
    return true;
  }

  void expect(std::string_view symbol, const std::string& wanted) {
    if (!accept(symbol)) refuse(wanted);
  }

  /// Returns true for words that are operators or begin a statement in other languages.
  static bool is_word(std::string_view name) {
    return is_word_operator(name) || name == "if" || name == "then" || name == "else" || name == "for" ||
           name == "in";
  }
  static bool is_word_operator(std::string_view name) {
    return name == "and" || name == "or" || name == "not";
  }

  /// Refuses the next token, which stands behind `name` and a point. Modules of Python (np.sin, math.pi) and
  /// operators of MATLAB (x.^2) get their own advice.
  [[noreturn]] void refuse_level(std::string_view name) const {
    const Token& token = peek();
    if (token.kind == TokenKind::symbol)
      refuse(fmt::format("'{}{}': operators have no point in front", name, token.text));
    if (find_function(token.text) || token.text == "pi")
      refuse(fmt::format("'{}' alone, without '{}.'", token.text, name));
    if (const std::string own = own_name_of(token.text); !own.empty()) refuse(own);
    refuse(fmt::format("'{0}.previous' or '{0}.next'", name));
  }

  /// Refuses the next token. Operators of other languages get their own advice.
  [[noreturn]] void refuse(std::string wanted) const {
    const Token& token = peek();
    const bool is_operand = wanted.starts_with("a number");
    if (const std::string own = own_operator_of(token.text); !own.empty()) wanted = own;
    if (is_between_points()) {
      if (const std::string own = own_comparison_of(token.text); !own.empty()) wanted = own;
    }
    if (is_operand && (token.text == "|" || token.text == "||"))
      wanted = "'abs(a)' for the absolute value of a";
    if (token.text == "," && at_ > 0 && tokens_[at_ - 1].kind == TokenKind::number &&
        tokens_[at_ + 1].kind == TokenKind::number)
      wanted +=
          fmt::format("; numbers have a point, as in {}.{}", tokens_[at_ - 1].text, tokens_[at_ + 1].text);
    if (token.text == "(" && at_ > 0 && wanted.starts_with("an operator"))
      wanted = is_power_of_function() ? fmt::format("the power behind the brackets, as in '{}(...)^{}'",
                                                    tokens_[at_ - 3].text, tokens_[at_ - 1].text)
                                      : fmt::format("an operator, as in '{}*('", tokens_[at_ - 1].text);
    // A new statement, or the end of the text, shows that a bracket of an earlier line was not closed.
    const bool closes = wanted.ends_with("')'") || wanted.ends_with("']'");
    if (!open_.empty() && token.position.line > open_.back()->position.line && (closes || token.text == "="))
      wanted = fmt::format("'{}' for the '{}' of line {}, column {}", open_.back()->text == "(" ? ")" : "]",
                           open_.back()->text, open_.back()->position.line, open_.back()->position.column);
    else if (at_ > 0 && token.kind == TokenKind::name && wanted.starts_with("an operator"))
      if (const std::string missing = missing_between(tokens_[at_ - 1], token); !missing.empty())
        wanted = missing;
    throw SyntaxError(text_, token.position, description_of(token), wanted);
  }

  /// Returns true if the next token is a word between points, as operators of Fortran are.
  bool is_between_points() const {
    return at_ > 0 && tokens_[at_ - 1].text == "." && peek().kind == TokenKind::name &&
           tokens_[at_ + 1].text == ".";
  }

  /// Returns true if a function, '^' and a power were read, as in sin^2(x).
  bool is_power_of_function() const {
    return at_ > 2 && tokens_[at_ - 2].text == "^" && find_function(tokens_[at_ - 3].text);
  }

  /// Returns what is missing between two operands that stand side by side, as in "2x" and "sin x". If the
  /// first is an operator of other languages, as in "NOT x", the text says what to write in its place. The
  /// text is empty if nothing better is known than what is wanted anyway.
  std::string missing_between(const Token& last, const Token& name) const {
    if (last.kind == TokenKind::name && find_function(last.text))
      return fmt::format("an operator, or brackets as in '{}({})'", last.text, name.text);
    if (last.kind == TokenKind::name)
      if (std::string own = own_operator_of(last.text); !own.empty()) return own;
    if (last.kind != TokenKind::number &&
        (last.kind != TokenKind::name || is_word(last.text) || is_word(name.text)))
      return "";
    const bool adjoin = last.begin + last.text.size() == name.begin;
    return fmt::format(
        "an operator, as in '{}*{}'{}", last.text, name.text,
        adjoin && continues_number(last.text, name.text, text_.substr(name.begin + name.text.size()))
            ? "; numbers have digits, a point and an exponent, as in 1.5e-3"
            : "");
  }

  static std::string description_of(const Token& token) {
    if (token.kind == TokenKind::number) return fmt::format("the number {}", token.text);
    if (token.kind == TokenKind::end) return "the end of the text";
    if (token.kind == TokenKind::end_of_statement) return token.text == ";" ? "';'" : "the end of the line";
    return fmt::format("'{}'", token.text);
  }

  /// Returns the text from a byte to the end of the last token that was read, shortened for a message.
  std::string source(std::size_t begin) const {
    const Token& last = tokens_[at_ - 1];
    const std::string_view text = text_.substr(begin, last.begin + last.text.size() - begin);
    constexpr std::size_t most = 40;
    return text.size() <= most ? std::string(text) : "...";
  }

  // ---- nodes ----

  int add(SyntaxNode node) {
    nodes_.push_back(std::move(node));
    return static_cast<int>(nodes_.size()) - 1;
  }

  int add_operation(Operation operation, std::initializer_list<int> operands, Position at) {
    SyntaxNode node{SyntaxKind::operation, at};
    node.operation = operation;
    node.operands = operands;
    return add(std::move(node));
  }

  Syntax finish() { return {std::string(text_), std::move(nodes_), std::move(statements_)}; }

  /// Counts how deep the functions above have called one another.
  struct Depth {
    explicit Depth(Parser& parser) : depth(++parser.depth_) {
      if (depth > 2 * max_nesting)
        throw SyntaxError(
            parser.text_, parser.peek().position, "too deep a nesting",
            fmt::format("at most {} levels of brackets, signs, powers and conditions; shorthands "
                        "('name = ...') shorten expressions",
                        max_nesting));
    }
    ~Depth() { --depth; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    int& depth;
  };

  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::vector<const Token*> open_;  // brackets that are not closed yet
  int depth_ = 0;
  std::vector<SyntaxNode> nodes_;
  std::vector<SyntaxStatement> statements_;
};

}  // namespace

Syntax parse_expression(std::string_view text) { return Parser(text, false).lone_expression(); }

Syntax parse_step(std::string_view text) { return Parser(text, true).step(); }

}  // namespace spsolve
