// SPDX-License-Identifier: Apache-2.0
#include "app/plot/plot.hpp"

#include <fmt/format.h>

#include "app/plot/plot_file.hpp"
#include "app/plot/plot_probes.hpp"
#include "app/plot/section.hpp"
#include "app/setup/terminal.hpp"
#include "halo/collectively.hpp"
#include "io/array_blocks.hpp"
#include "io/hdf5/hdf5.hpp"
#include "io/text_file.hpp"

namespace spsolve {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t values_at_once = 1 << 20;

std::string draw_array(const fs::path& file, PlotKind kind, const PlotRequest& request) {
  const PlotArray array = find_array(file, kind, request.field);
  Section section = naming(
      file, [&] { return section_of(array.grid, request.plane); }, ": --plane");
  section.labels = array.labels;
  SectionPicture picture(section);
  naming(
      file,
      [&] {
        const Hdf5Id input = open_hdf5(file);
        const Hdf5Id dataset(H5Dopen2(input, ("/" + array.name).c_str(), H5P_DEFAULT), H5Dclose);
        std::vector<double> values;
        std::int64_t first = 0;
        for_each_part(section.box, values_at_once, [&](const Box& part) {
          values.resize(static_cast<std::size_t>(part.points()));
          read_hyperslab(dataset, part, H5T_NATIVE_DOUBLE, values.data());
          picture.add(first, values);
          first += part.points();
        });
      },
      ":/" + array.name);
  std::vector<std::string> title{fmt::format("{}: {}", array.run, array.name),
                                 fmt::format("step {}", array.step), "t = " + short_number(array.time)};
  if (section.across)
    title.push_back(fmt::format("{} = {}", section.labels[*section.across], short_number(section.at)));
  const Colormap colormap = request.colormap.value_or(Colormap::viridis);
  return picture.encode(array.name, title,
                        request.range.value_or(automatic_range(picture.extent(), colormap)), colormap);
}

}  // namespace

Status plot(const Communicator& communicator, const CommandLine& command) {
  const Terminal terminal(communicator, command.quiet);
  const PlotRequest& request = command.plot;
  fs::path to;
  on_root(communicator, [&] {
    const fs::path file = file_to_plot(command.file);
    const PlotKind kind = kind_of(file);
    to = request.output.value_or(fs::path(file).replace_extension(".png"));
    const std::string bytes =
        kind == PlotKind::probes ? draw_probes(file, request) : draw_array(file, kind, request);
    write_text(to, bytes);
  });
  if (!is_standard_output(to)) terminal.print("wrote {}", to.string());
  return Status::finished;
}

}  // namespace spsolve
