// SPDX-License-Identifier: Apache-2.0
// write_constants KERNEL CASE FILE writes the constants with which the kernel of a case is compiled.
#include <map>

#include "box_step_case.hpp"
#include "march_case.hpp"
#include "mma_case.hpp"
#include "separable_case.hpp"
#include "star_step_case.hpp"
#include "step_case.hpp"
#include "steps_case.hpp"
#include "write_changed.hpp"

namespace {

using namespace spsolve::cuda;

template <auto& cases>
std::string constants(std::string_view name) {
  return case_named(name, cases).constants();
}

}  // namespace

int main(int, char** arguments) {
  const std::map<std::string_view, std::string (*)(std::string_view)> of_kernel{
      {"box_step", constants<box_step_cases>},
      {"march", constants<march_cases>},
      {"mma", constants<mma_cases>},
      {"separable", constants<separable_cases>},
      {"star_step", constants<star_step_cases>},
      {"step", constants<step_cases>},
      {"steps", constants<steps_cases>}};
  spsolve::testing::write_changed(arguments[3], of_kernel.at(arguments[1])(arguments[2]));
}
