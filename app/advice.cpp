// SPDX-License-Identifier: Apache-2.0
#include "app/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "io/input/keys.hpp"
#include "io/nearest_name.hpp"

namespace spsolve {

std::optional<std::string> advice_on_verb(const std::vector<std::string>& verbs, std::string_view first,
                                          const std::string& input) {
  const std::string alone = "an input alone is run, as in\n  spsolve " + input;
  const std::string again = "a run continues by\n  spsolve " + input + " --restart latest";
  const std::map<std::string_view, std::string> meant{
      {"run", alone},
      {"solve", alone},
      {"start", alone},
      {"execute", alone},
      {"restart", again},
      {"resume", again},
      {"continue", again},
      {"validate", "an input is looked at by\n  spsolve check " + input},
      {"help", "help is printed by\n  spsolve --help"},
      {"version", "the version is printed by\n  spsolve --version"}};
  std::error_code none;
  if (const auto verb = meant.find(first); verb != meant.end() && !std::filesystem::exists(first, none))
    return fmt::format("there is no verb '{}': {}\n", first, verb->second);
  if (first.find_first_of("-./") == std::string_view::npos && !nearest_name(first, verbs).empty() &&
      std::ranges::find(verbs, first) == verbs.end())
    return fmt::format("there is no verb '{}'{}", first, did_you_mean(first, verbs));
  return std::nullopt;
}

std::string advice_on_extras(const std::vector<std::string>& arguments) {
  const std::string look = "an input is looked at by: spsolve check INPUT\n";
  const std::string again = "a run continues by --restart latest\n";
  const std::string threads = "threads are set by the environment: OMP_NUM_THREADS=4 spsolve ...\n";
  const std::string anew = "--overwrite replaces the results of another run\n";
  const std::map<std::string_view, std::string> meant{
      {"-o", "results go to another directory by --output DIR\n"},
      {"--dry-run", look},
      {"--check", look},
      {"--resume", again},
      {"--continue", again},
      {"--threads", threads},
      {"-j", threads},
      {"-f", anew},
      {"--force", anew}};
  std::string advice;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& given = arguments[i];
    const std::string next = i + 1 < arguments.size() ? arguments[i + 1] : "VALUE";
    const bool behind_set = i > 0 && arguments[i - 1] == "--set";
    if (given == "-n" || given == "-np" || given == "--np")
      advice += fmt::format("ranks are started by mpirun: mpirun -n {} spsolve ...\n", next);
    if (const auto option = meant.find(given); option != meant.end()) advice += option->second;
    const std::size_t point = given.find('.'), equals = given.find('=');
    if (!behind_set && !given.starts_with('-') && equals != std::string::npos && point < equals &&
        find_key("", given.substr(0, point)))
      advice += fmt::format("keys of the input are set by --set {}\n", given);
    const std::string name = given.starts_with("--") ? given.substr(2, equals - 2) : "";
    const std::string value = equals == std::string::npos ? next : given.substr(equals + 1);
    for (const Key& key : all_keys())
      if (!name.empty() && key.name == name && !key.section.empty() &&
          key.section.find('<') == std::string_view::npos)
        advice += fmt::format("a key of the input is set by --set {}.{}={}\n", key.section, name, value);
  }
  return advice;
}

}  // namespace spsolve
