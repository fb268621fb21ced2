// SPDX-License-Identifier: Apache-2.0
#include "app/run/images.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "halo/collectively.hpp"
#include "io/array_blocks.hpp"
#include "io/atomic_file.hpp"
#include "io/numbered_name.hpp"
#include "io/text_file.hpp"

namespace spsolve {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t points_at_once = 1 << 20;

/// Returns a formula, shortened to the room that a title has.
std::string shown(const std::string& formula) {
  constexpr std::size_t most = 60;
  return formula.size() <= most ? formula : formula.substr(0, most) + "...";
}

/// Finds the range of the first image up to `last_step` whose values were not all equal.
std::optional<ColorRange> range_of_first(const fs::path& directory, const std::string& name,
                                         std::int64_t last_step) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const auto found = parse_numbered_name(entry.path().filename().string());
    if (found && found->stem == name && found->extension == ".png" && found->number <= last_step)
      files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const PngTexts texts = texts_of_png(read_text(file));
    const auto text = texts.find("range");
    const auto range = text == texts.end() ? std::nullopt : parse_range(text->second);
    if (range && range->low < range->high) return range;
  }
  return std::nullopt;
}

}  // namespace

fs::path image_file(const fs::path& directory, const std::string& name, std::int64_t step) {
  return directory / to_text({name, step, ".png"});
}

Images::Images(const Communicator& communicator, const RunConfig& config, Block& block)
    : communicator_(communicator), config_(config), block_(block) {
  for (const ImagesConfig& images : config.images) add(images);
}

void Images::add(const ImagesConfig& config) {
  const Section section = section_of(config_.grid, config.plane);
  std::vector<Box> parts, own;
  for_each_part(section.box, points_at_once, [&](const Box& part) {
    parts.push_back(part);
    own.push_back(intersect(part, block_.owned()));
  });
  ImageSeries image{config,
                    section,
                    StateFormula(config_, config.value),
                    parts,
                    block_.box_values(std::move(own)),
                    std::nullopt,
                    std::nullopt};
  const Box box = intersect(section.box, block_.owned());
  if (image.formula.uses_coefficients())
    image.coefficients.emplace(communicator_, config_, box.empty() ? Box{} : box);
  images_.push_back(std::move(image));
}

void Images::open(std::int64_t restart) {
  if (restart < 0) return;
  on_root(communicator_, [&] {
    for (ImageSeries& image : images_)
      if (image.config.scale == ImageScale::fixed)
        image.fixed = range_of_first(config_.output.directory, image.config.name, restart);
  });
}

bool Images::due(std::int64_t step) const {
  return std::ranges::any_of(images_,
                             [&](const ImageSeries& image) { return step % image.config.every == 0; });
}

void Images::draw(std::int64_t step) {
  for (ImageSeries& image : images_) {
    if (step % image.config.every != 0) continue;
    std::optional<SectionPicture> picture;
    if (communicator_.root()) picture.emplace(image.section);
    std::int64_t first = 0;
    for (std::size_t part = 0; part < image.parts.size(); ++part) {
      const std::vector<double> values = gather(image, part, evaluate(image, part, step));
      if (picture) picture->add(first, values);
      first += image.parts[part].points();
    }
    on_root(communicator_, [&] {
      const fs::path file = image_file(config_.output.directory, image.config.name, step);
      write_text(file, encode(image, *picture, step), Flush::later);
      if (!is_stream(file)) unflushed_.add(followed(file));
    });
  }
  on_root(communicator_, [&] { unflushed_.flush_if_due(); });
}

void Images::flush() {
  on_root(communicator_, [&] { unflushed_.flush(); });
}

std::vector<double> Images::evaluate(const ImageSeries& image, std::size_t part, std::int64_t step) const {
  const Box& box = image.own.box(part);
  std::vector<double> result(static_cast<std::size_t>(box.points()));
  if (result.empty()) return result;
  std::vector<std::vector<double>> values(block_.field_count());  // the values in the box, by field
  for (const std::size_t field : image.formula.fields())
    values[field] = block_.values_in(image.own, part, field);
  const auto place = [&](const Index3& p) { return index_of(p - box.begin, box.extent()); };
  image.formula.evaluate(
      box, step,
      [&](std::size_t field, const Index3& begin, std::span<double> row) {
        std::copy_n(values[field].begin() + place(begin), row.size(), row.begin());
      },
      image.coefficients ? &*image.coefficients : nullptr,
      [&](const Index3& begin, std::span<const double> row) {
        std::ranges::copy(row, result.begin() + place(begin));
      });
  return result;
}

std::vector<double> Images::gather(const ImageSeries& image, std::size_t part,
                                   const std::vector<double>& own) const {
  const Box& whole = image.parts[part];
  std::vector<int> counts, starts;
  std::vector<Box> boxes;
  int points = 0;
  for (int rank = 0; rank < communicator_.size(); ++rank) {
    boxes.push_back(intersect(whole, block_.decomposition().block(rank)));
    counts.push_back(static_cast<int>(boxes.back().points()));
    starts.push_back(points);
    points += counts.back();
  }
  std::vector<double> by_rank(communicator_.root() ? static_cast<std::size_t>(whole.points()) : 0);
  check_mpi(MPI_Gatherv(own.data(), static_cast<int>(own.size()), MPI_DOUBLE, by_rank.data(), counts.data(),
                        starts.data(), MPI_DOUBLE, 0, communicator_.handle()));
  std::vector<double> in_order(by_rank.size());
  auto next = by_rank.begin();
  for (std::size_t rank = 0; communicator_.root() && rank < boxes.size(); ++rank)
    for (std::int64_t row = 0; row < row_count(boxes[rank]); ++row) {
      const std::int64_t length = boxes[rank].extent()[x_axis];
      const Index3 place = row_begin(boxes[rank], row) - whole.begin;
      std::copy_n(next, length, in_order.begin() + index_of(place, whole.extent()));
      next += length;
    }
  return in_order;
}

std::string Images::encode(ImageSeries& image, const SectionPicture& picture, std::int64_t step) const {
  ColorRange range = image.config.range;
  if (image.config.scale != ImageScale::given)
    range = image.fixed.value_or(automatic_range(picture.extent(), image.config.colormap));
  if (image.config.scale == ImageScale::fixed && range.low < range.high) image.fixed = range;
  std::vector<std::string> title{fmt::format("{}: {}", config_.name, shown(image.config.value)),
                                 fmt::format("step {}", step),
                                 "t = " + short_number(static_cast<double>(step) * config_.time.dt)};
  if (image.section.across)
    title.push_back(
        fmt::format("{} = {}", axis_names[*image.section.across], short_number(image.section.at)));
  return picture.encode(image.config.name, title, range, image.config.colormap);
}

}  // namespace spsolve
