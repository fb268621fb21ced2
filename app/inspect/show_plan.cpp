// SPDX-License-Identifier: Apache-2.0
#include "app/inspect/describe.hpp"
#include "app/inspect/draw_plan.hpp"
#include "app/inspect/inspect.hpp"
#include "app/inspect/layout_search.hpp"
#include "app/inspect/plan_json.hpp"
#include "app/inspect/print_plan.hpp"
#include "app/inspect/stand_in.hpp"
#include "app/setup/calibration_file.hpp"
#include "app/setup/ceilings.hpp"
#include "app/setup/load_input.hpp"
#include "app/setup/planning.hpp"
#include "app/setup/setup.hpp"
#include "app/setup/terminal.hpp"
#include "app/setup/tune.hpp"
#include "halo/collectively.hpp"
#include "io/text_file.hpp"

namespace spsolve {
namespace {

/// Prints the search for the tile of the morph layout if it is asked for, and writes the files that `plan` is
/// asked for. JSON holds what is printed: the search, or else the plan.
void write_plan(const CommandLine& command, const Setup& setup, const DeviceModel& device,
                const Terminal& terminal) {
  std::optional<LayoutSearch> search;
  if (command.layouts) search = search_layouts(setup, device);
  if (search) print_layouts(*search, terminal);
  if (!command.plan_json.empty())
    write_text(command.plan_json, search ? layouts_json(*search, setup) : plan_json(setup, device));
  if (command.plan_picture.empty()) return;
  write_text(command.plan_picture, draw_plan(setup, device));
  if (!is_standard_output(command.plan_picture)) terminal.print("wrote {}", command.plan_picture.string());
}

}  // namespace

Status show_plan(const Communicator& communicator, const CommandLine& command) {
  const bool piped = is_standard_output(command.plan_json) || is_standard_output(command.plan_picture);
  const Terminal terminal(communicator, false, piped ? stderr : stdout);
  std::optional<DeviceModel> model;
  if (command.device_model) collectively(communicator, [&] { model = device_model(*command.device_model); });
  const RunConfig config = load_input(communicator, command);
  if (!model) model = stand_in(communicator, config, terminal);
  if (command.calibration) {
    if (!model) model = device_model(choose_device(communicator, config.compute, config.parallel));
    collectively(communicator, [&] { calibrate(*model, read_calibration(*command.calibration, true)); });
    model->origin = "calibrated by " + command.calibration->string();
  }
  Tables tables(communicator);
  const Setup setup = make_setup(communicator, config, tables, {}, model, command.ranks);
  print_summary(communicator, setup, terminal, "");
  const DeviceModel planned_for = model ? *model : device_model(setup.device);
  if (!command.layouts) print_plan(setup, planned_for, terminal);
  on_root(communicator, [&] { write_plan(command, setup, planned_for, terminal); });
  if (!planned_for.gpu && !model)
    terminal.print(
        "this is a plan for CPUs; --device-model FILE plans for a GPU, such as inputs/devices/h200.toml");
  if (model) return Status::finished;
  terminal.print("this device: {}", describe_ceilings(setup.device));
  if (may_tune(config.compute, setup.device)) {
    const bool is_tuned = remembered_plan(communicator, setup.problem, plan_request(config, setup.problem),
                                          setup.plan, setup.device, terminal)
                              .has_value();
    terminal.print("{}, unless compute.tune = false",
                   is_tuned              ? "a run takes the tuned plan"
                   : config.compute.tune ? "a run times the best candidates first"
                                         : "a run that is long enough times the best candidates first");
  }
  return Status::finished;
}

}  // namespace spsolve
