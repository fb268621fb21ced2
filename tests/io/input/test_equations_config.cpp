// SPDX-License-Identifier: Apache-2.0
// These tests read inputs with [equations]: their values, resolved inputs, which must read back as
// themselves, and errors with positions.
#include <gtest/gtest.h>

#include "tests/io/input/config_mistake.hpp"

namespace spsolve {
namespace {

constexpr const char* two_fields = R"toml(name = "two"
[grid]
shape = [20, 30]
spacing = [0.5, 0.25]
[boundary]
x = "periodic"
y = "neumann"
[boundary.v]
y = { low = { dirichlet = 1.5 }, high = "neumann" }
[constants]
F = 0.04
[coefficients]
second = "first^2 + F + x"
first = 2
map = { file = "data/map.h5", dataset = "/c" }
[fields.v]
initial = "exp(-x^2)"
[fields.u]
previous = "F*x"
[stencils.w]
weights = [[0, 1, 0], [1, -4, 1], [0, 1, 0]]
[equations]
step = """
  r      = u*v^2     # a shorthand
  u.next = u + dt*(correlate(w, u) - r) + second*u.previous
  v.next = v + dt*(laplace(v) + r) + map
"""
[time]
dt = 0.5
steps = 4
[output]
fields = ["u"]
)toml";

EquationsConfig equations_of(const std::string& text) {
  return parse_config(text, "/inputs/two.toml").equations.value();
}

TEST(EquationsConfig, HoldsWhatTheTextSaysInItsOrder) {
  const EquationsConfig equations = equations_of(two_fields);
  ASSERT_EQ(equations.fields.size(), 2u);
  EXPECT_EQ(equations.fields[0].name, "v");
  EXPECT_EQ(equations.fields[1].name, "u");
  EXPECT_EQ(equations.fields[1].initial, std::nullopt);
  EXPECT_EQ(equations.fields[1].initial_or_zero(), FieldForm(ExpressionForm{"0"}));
  EXPECT_EQ(equations.fields[1].previous, FieldForm(ExpressionForm{"F*x"}));
  EXPECT_EQ(equations.fields[0].faces[y_axis][low], (Face{BoundaryKind::dirichlet, 1.5}));
  EXPECT_EQ(equations.fields[1].faces[y_axis][low], Face{BoundaryKind::neumann});
  ASSERT_EQ(equations.coefficients.size(), 3u);
  EXPECT_EQ(equations.coefficients[0].name, "first") << "stands before what uses it";
  EXPECT_EQ(equations.coefficients[1].name, "map");
  EXPECT_EQ(equations.coefficients[2].name, "second");
  EXPECT_EQ(equations.coefficients[1].values, FieldForm(DatasetForm{"/inputs/data/map.h5", "/c"}));
  EXPECT_EQ(equations.constants.at("F"), 0.04);
  EXPECT_EQ(std::get<WeightsForm>(equations.stencils.at("w")).center, (Index3{0, 1, 1}));
  EXPECT_TRUE(equations.step.starts_with("  r      = u*v^2"));
}

TEST(EquationsConfig, ReadsBackAsItself) {
  for (std::string text : {std::string(two_fields)}) {
    const RunConfig config = parse_config(text, "/inputs/two.toml");
    EXPECT_EQ(parse_config(to_toml(config), "elsewhere.toml"), config) << to_toml(config);
    // These are texts that ''' cannot hold.
    for (const std::string comment : {"it''s", "tab\there", "end '"}) {
      RunConfig other = config;
      other.equations->step = "u.next = u; v.next = v # " + comment;
      EXPECT_EQ(parse_config(to_toml(other), "elsewhere.toml"), other) << to_toml(other);
    }
  }
}

TEST(EquationsConfig, BoundsTheDepthOfOperations) {
  const auto step_of = [](int products, const std::string& between) {
    std::string step = "equations.step=v.next = v\nu.next = (u";
    for (int i = 1; i < products; ++i) step += i == products / 2 ? between : "*u";
    return step + ")";
  };
  EXPECT_NE(error_of_input(two_fields, "two.toml", {step_of(6000, "*u")})
                .find("step: line 2, column 1: found operations that build on one another in"),
            std::string::npos);
  EXPECT_EQ(error_of_input(two_fields, "two.toml", {step_of(6000, ")*(u")}), "no error");
}

TEST(EquationsConfig, TakesOverrides) {
  const RunConfig config =
      parse_config(two_fields, "two.toml",
                   {"constants.F=0.5", "fields.v.initial=x", "coefficients.first=3", "boundary.v.y=neumann",
                    "equations.step=u.next = u + first; v.next = v*second"});
  EXPECT_EQ(config.equations->constants.at("F"), 0.5);
  EXPECT_EQ(config.equations->fields[0].name, "v") << "keeps its place";
  EXPECT_EQ(config.equations->fields[0].initial, FieldForm(ExpressionForm{"x"}));
  EXPECT_EQ(config.equations->coefficients.back().name, "second");
  EXPECT_EQ(config.equations->fields[0].faces[y_axis][low], Face{BoundaryKind::neumann});
}

TEST(EquationsConfig, NamesLineAndColumn) {
  for (const Mistake& mistake : {
           Mistake{"+ map", "+ mop",
                   "two.toml:26: [equations] step: line 3, column 38: found the unknown name "
                   "'mop'"},
           Mistake{"  v.next = v + dt*(laplace(v) + r) + map\n", "",
                   "two.toml:25: [equations] step: line 2, column 3: found no equation for the field 'v'"},
           Mistake{"correlate(w,", "correlate(q,", "two.toml:25: [equations] step: line 2, column 30: found"},
           Mistake{"laplace(v)", "d(v, z)", "two.toml:26: [equations] step: line 3, column 25: found"},
           Mistake{
               "v.next = v + dt*", "v.next = v + 1e200*1e200*",
               "two.toml:26: [equations] step: line 3, column 3: a constant weight of a linear expression "
               "is not finite"},
           Mistake{"+ map", "+ 0/0",
                   "two.toml:26: [equations] step: line 3, column 3: a constant part is not a number"},
           Mistake{"+ map", "+ map*min(v, 1e200*1e200)",
                   "two.toml:26: [equations] step: line 3, column 3: a constant part is infinite"},
           Mistake{"dt = 0.5\n", "", "two.toml:28: [time] needs 'dt'"},
           Mistake{"[fields.u]", "[fields.F]", "two.toml:18: [fields] 'F' is a constant already"},
           Mistake{"[fields.u]", "[fields.t]", "two.toml:18: [fields] 't' has a meaning of its own"},
           Mistake{"[fields.u]", "[fields.exp]", "two.toml:18: [fields] 'exp' is a function"},
           Mistake{"[fields.u]", "[fields.VTKHDF]", "two.toml:18: [fields] 'VTKHDF' is the name of a group"},
           Mistake{"[fields.u]", "[fields.w]", "two.toml:18: [fields] 'w' is a stencil already"},
           Mistake{"F = 0.04", "F = 'x'", "two.toml:11: [constants] 'F' must be a number, not a string"},
           Mistake{"first = 2", "first = 'second'",
                   "two.toml:13: [coefficients] coefficient 'second' uses itself, perhaps by way of others"},
           Mistake{"first = 2", "first = true",
                   "two.toml:14: [coefficients] 'first' must be a number, a "
                   "formula in quotes"},
           Mistake{"first = 2", "first = '1 +'",
                   "two.toml:14: [coefficients] first: line 1, column 4: "
                   "found"},
           Mistake{"\"F*x\"", "\"u\"",
                   "two.toml:19: [fields.u] previous 'u': line 1, column 1: found the "
                   "unknown name 'u'"},
           Mistake{"[boundary.v]\ny =", "[boundary.v]\nx = 'neumann'\ny =",
                   "two.toml:9: [boundary.v] axis 'x' must be periodic for all fields or for none"},
           Mistake{"[boundary.v]", "[boundary.q]", "two.toml:8: [boundary] unknown key 'q'"},
           Mistake{"[equations]", "[stencil]", "two.toml:16: [fields] needs [equations]"},
           Mistake{"[constants]", "[initial]\nexpression = '1'\n[constants]",
                   "two.toml:10: [initial] and [equations] contradict each other"},
           Mistake{"fields = [\"u\"]", "fields = [\"q\"]", "two.toml:32: [output] there is no field 'q'"},
           Mistake{"fields = [\"u\"]", "fields = [\"u\", \"u\"]",
                   "two.toml:32: [output] 'fields' holds 'u' twice"},
           Mistake{"fields = [\"u\"]", "fields = []", "two.toml:32: [output] 'fields' is empty"},
       })
    EXPECT_TRUE(error_of_mistake(two_fields, mistake, "two.toml").starts_with(mistake.message))
        << mistake.text << ": " << error_of_mistake(two_fields, mistake, "two.toml");
}

}  // namespace
}  // namespace spsolve
