// SPDX-License-Identifier: Apache-2.0
#include "io/input/keys.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

#include "io/input/config.hpp"
#include "io/input/read_stencil.hpp"
#include "io/input/toml_section.hpp"
#include "kernels/error.hpp"

namespace spsolve {
namespace {

bool begins_with_one_of(const std::string& text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (text.starts_with(word)) return true;
  return false;
}

/// Returns the name that an input has for a key; users choose some of them.
std::string written_name(const Key& key) {
  return std::string(key.name.starts_with('<') ? key.example.substr(0, key.example.find(' ')) : key.name);
}

/// Returns lines that an example needs because the section or the key asks for them.
std::string beside(const Key& key) {
  const std::string path = fmt::format("{}.{}", key.section, key.name);
  const std::string section(key.section);
  if (path == "time.end") return "dt = 0.1";
  if (path == "time.until_change") return "steps = 3";
  if (section == "time" && path != "time.steps") return "steps = 3";
  if (path == "grid.extent" || (section == "grid" && path != "grid.shape")) return "shape = [6, 8, 9]";
  if (path == "boundary.<field>") return R"(x = "neumann")";
  if (path == "boundary.<axis>.low") return R"(high = "neumann")";
  if (path == "boundary.<axis>.high") return R"(low = "neumann")";
  if (path == "boundary.<axis>.robin.h") return "value = 1.0";
  if (path == "boundary.<axis>.robin.value") return "h = 1.0";
  if (path == "stencil.diffusivity") return "preset = \"heat\"\ndt = 0.01";
  if (path == "stencil.velocity") return "preset = \"advection-diffusion\"\ndiffusivity = 0.1\ndt = 0.01";
  if (path == "stencil.dt") return "preset = \"heat\"\ndiffusivity = 0.1";
  if (path == "stencil.order") return "preset = \"heat\"\ndiffusivity = 0.1\ndt = 0.01";
  if (path == "stencil.radius") return R"(preset = "box-filter")";
  if (path == "stencil.preset") return "diffusivity = 0.1\ndt = 0.01";
  if (path == "stencil.center") return "weights = [[0.0, 0.1, 0.0], [0.3, 0.3, 0.1], [0.0, 0.2, 0.0]]";
  if (path == "source.rate") return R"(expression = "x")";
  if (key.name == "file") return R"(dataset = "/d")";
  if (key.name == "dataset") return R"(file = "a.h5")";
  if (section == "outputs" && path != "outputs.name") return R"(name = "o")";
  if (path == "point_sources.at") return "value = 1.0";
  if (path == "point_sources.value") return "at = [0.0, 0.0]";
  if (section == "point_sources") return "at = [0.0, 0.0]\nvalue = 1.0";
  if (path == "probes.name") return "at = [0.0, 0.0]";
  if (path == "probes.at") return R"(name = "p")";
  if (section == "probes") return "name = \"p\"\nat = [0.0, 0.0]";
  if (path == "images.name") return R"(value = "u")";
  if (path == "images.value") return R"(name = "i")";
  if (section == "images") return "name = \"i\"\nvalue = \"u\"";
  return "";
}

/// Returns the header of the section that holds a key in an input.
std::string header(const Key& key) {
  static const std::map<std::string_view, std::string_view> headers{
      {"boundary.<axis>", "boundary.x"},
      {"boundary.<axis>.robin", "boundary.x.robin"},
      {"fields.<name>", "fields.u"},
      {"<dataset>", "fields.u.initial"},
      {"outputs.region", "outputs.region"}};
  if (key.section.empty()) return "";
  const Key* top = find_key("", key.section.substr(0, key.section.find('.')));
  if (top && top->type == "list of tables" && key.section == top->name)
    return fmt::format("[[{}]]\n", key.section);
  if (key.section == "outputs.region") return "[[outputs]]\nname = \"o\"\n[outputs.region]\n";
  if (key.section == "images.plane") return "[[images]]\nname = \"i\"\nvalue = \"u\"\n[images.plane]\n";
  const auto found = headers.find(key.section);
  return fmt::format("[{}]\n", found == headers.end() ? key.section : found->second);
}

/// Returns an input that holds the lines of an example and all required keys.
std::string input_with(const Key& key, const std::string& lines) {
  const std::string root = header(key);
  std::string text = root.empty() ? lines + "\n" : "";
  const auto has = [&](const std::string& section) {
    return root.find("[" + section) != std::string::npos ||
           (root.empty() && begins_with_one_of(lines, {section}));
  };
  const bool is_3d = begins_with_one_of(std::string(key.section), {"images.plane", "outputs.region"}) ||
                     (key.section == "images" && key.name == "plane") ||
                     (key.section == "boundary" && key.name == "z");
  const bool of_equations =
      begins_with_one_of(std::string(key.section.empty() ? key.name : key.section),
                         {"constants", "coefficients", "stencils", "fields", "equations", "<dataset>"}) ||
      key.name == "<field>";
  if (!has("grid")) text += is_3d ? "grid.shape = [6, 8, 9]\n" : "grid.shape = [8, 9]\n";
  if (!has("time")) text += "time = { steps = 3, dt = 0.1 }\n";
  const bool is_1d_weights = key.name == "<name>" && key.section == "stencils";
  if (of_equations) {
    if (!has("fields")) text += "fields.u.initial = 0.5\n";
    if (!has("equations")) text += "equations.step = \"u.next = 0.5*u\"\n";
    if (is_1d_weights || key.name == "stencils") text.replace(text.find("[8, 9]"), 6, "[9]");
  } else {
    const bool is_grid = key.section == "grid" || key.name == "grid" || is_3d;
    if (!has("stencil"))
      text += fmt::format("stencil.preset = \"star{}d1r\"\n", is_grid && key.name != "grid" ? 3 : 2);
    else if (begins_with_one_of(lines + beside(key),
                                {"preset = \"heat\"", "diffusivity", "dt", "velocity", "order"}))
      text.replace(text.find(", dt = 0.1"), 10, "");
    if (!has("initial")) text += "initial.expression = \"x\"\n";
  }
  if (key.name == "until_change") text += "diagnostics.every = 1\n";
  if (!root.empty()) text += root + lines + "\n" + beside(key) + "\n";
  return text;
}

RunConfig parsed(const Key& key, const std::string& lines) {
  return parse_config(input_with(key, lines), "case.toml");
}

TEST(Keys, EveryExampleIsRead) {
  for (const Key& key : all_keys()) {
    SCOPED_TRACE(fmt::format("[{}] {}", key.section, key.name));
    EXPECT_EQ(key.example.substr(0, key.example.find(' ')), written_name(key));
    EXPECT_NO_THROW(parsed(key, std::string(key.example))) << input_with(key, std::string(key.example));
  }
}

/// No key is a date, so a date shows that something reads the key.
TEST(Keys, EveryKeyIsReadByTheReaders) {
  for (const Key& key : all_keys()) {
    SCOPED_TRACE(fmt::format("[{}] {}", key.section, key.name));
    const std::string name = written_name(key);
    std::string message;
    try {
      parsed(key, name + " = 1979-05-27");
    } catch (const Error& error) {
      message = error.what();
    }
    EXPECT_NE(message.find(name), std::string::npos) << message;
    EXPECT_EQ(message.find("unknown key"), std::string::npos) << message;
  }
}

/// A default that is a value of TOML must be the value that a reader takes if the key is absent.
TEST(Keys, DefaultsAreThoseOfTheReaders) {
  int compared = 0;
  for (const Key& key : all_keys()) {
    const std::string line = fmt::format("{} = {}", key.name, key.standard);
    try {
      parse_toml(line, "", {});
    } catch (const Error&) {
      continue;  // a default in words
    }
    SCOPED_TRACE(fmt::format("[{}] {}", key.section, line));
    if (key.name.starts_with('<')) continue;
    const RunConfig given = parsed(key, line), absent = parsed(key, "");
    // The resolved input says which parameters of stencils, and which initial values, were given.
    if (key.section == "stencil")
      EXPECT_EQ(make_stencil(given.stencil, given.grid)->taps(),
                make_stencil(absent.stencil, absent.grid)->taps());
    else if (key.section == "fields.<name>")
      EXPECT_EQ(given.equations->fields.front().initial_or_zero(),
                absent.equations->fields.front().initial_or_zero());
    else
      EXPECT_EQ(to_toml(given), to_toml(absent));
    ++compared;
  }
  EXPECT_GT(compared, 25);
}

TEST(Keys, ValuesBeyondTheLimitsAreRefused) {
  for (const Key& key : all_keys()) {
    if (key.limits.min < 0) continue;
    SCOPED_TRACE(fmt::format("[{}] {}", key.section, key.name));
    std::string bad(key.example);
    const std::size_t begin = bad.find_first_of("0123456789");
    bad.insert(begin, 1, '-');
    EXPECT_THROW(parsed(key, bad), Error) << bad;
  }
}

TEST(Keys, AKeyThatIsNotInTheTableCannotBeRead) {
  const toml::table document = parse_toml("grid = { shape = [3], depth = 2 }", "", {});
  const TomlSection root = TomlSection::of_input(document, "case.toml");
  const TomlSection grid = *root.section("grid");
  EXPECT_TRUE(grid.integers("shape"));
  EXPECT_THROW(grid.integer("depth"), std::logic_error);
  EXPECT_THROW(grid.has("depth"), std::logic_error);
  EXPECT_THROW(root.section("mesh"), std::logic_error);
  EXPECT_THROW(grid.allow(), Error);
  EXPECT_THROW(grid.allow({"depth"}), std::logic_error);
}

}  // namespace
}  // namespace spsolve
