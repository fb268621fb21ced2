// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/plot/section.hpp"
#include "app/values/state_formula.hpp"
#include "app/values/values.hpp"
#include "io/atomic_file.hpp"
#include "io/input/config.hpp"
#include "solver/block.hpp"

namespace spsolve {

/// Draws the images of an input during the run. Each rank computes the values of its own points; rank 0 draws
/// and writes. A section is handled in parts, so that memory does not depend on its size, and in an order
/// that does not depend on the number of ranks, so that the files do not either.
class Images {
 public:
  /// Reads coefficients that images use. Collective; every rank throws the same Error(invalid_input) if one
  /// cannot be read.
  Images(const Communicator& communicator, const RunConfig& config, Block& block);

  /// Reads the color ranges that are fixed by the first image, from the images themselves, for a run that
  /// continues from the step `restart` (-1: at its beginning). Collective.
  void open(std::int64_t restart);
  bool due(std::int64_t step) const;
  /// Draws the images that are due at `step`. The files are complete when draw() returns, and on disk after a
  /// few seconds or when flush() returns. Collective; all ranks throw the same Error(file_failure) if a file
  /// cannot be written.
  void draw(std::int64_t step);
  /// Returns when all images are on disk. A run that continues from a checkpoint does not draw earlier ones
  /// again. Collective, as draw().
  void flush();

 private:
  struct ImageSeries {
    ImagesConfig config;
    Section section;
    StateFormula formula;
    std::vector<Box> parts;  // parts of the section, in C order
    BoxValues own;           // this rank's box of each part
    std::optional<CoefficientValues> coefficients;
    std::optional<ColorRange> fixed;  // on rank 0
  };
  void add(const ImagesConfig& config);
  std::vector<double> evaluate(const ImageSeries& image, std::size_t part, std::int64_t step) const;
  std::vector<double> gather(const ImageSeries& image, std::size_t part,
                             const std::vector<double>& own) const;
  std::string encode(ImageSeries& image, const SectionPicture& picture, std::int64_t step) const;

  Communicator communicator_;
  const RunConfig& config_;
  Block& block_;
  std::vector<ImageSeries> images_;
  UnflushedFiles unflushed_;  // used by rank 0
};

/// Returns `directory`/<name>_<step, 10 digits>.png.
std::filesystem::path image_file(const std::filesystem::path& directory, const std::string& name,
                                 std::int64_t step);

}  // namespace spsolve
