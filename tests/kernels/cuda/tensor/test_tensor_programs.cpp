// SPDX-License-Identifier: Apache-2.0
// These tests compile the kernels of tensor sweeps for sm_80 and sm_90a without spills, and check that they
// fit devices with less shared memory. No device is needed.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <random>
#include <set>
#include <sstream>

#include "kernels/cuda/runtime/program.hpp"
#include "kernels/cuda/tensor/mma_program.hpp"
#include "kernels/cuda/tensor/separable_program.hpp"
#include "tests/kernels/cuda/compile_log.hpp"

namespace spsolve::cuda {
namespace {

using ::testing::HasSubstr;

constexpr BlockLimits ampere{80, 163 << 10}, ada{89, 99 << 10}, hopper{};

/// Returns why a factory made nothing, or an empty text if it made something.
template <class Made>
std::string why_not(const OrNoKernel<Made>& made) {
  const auto* none = std::get_if<NoKernel>(&made);
  return none ? none->why : "";
}

std::vector<double> random_weights(std::mt19937_64& random, std::int64_t count) {
  std::uniform_real_distribution<double> value(0.01, 1.0);
  std::vector<double> weights(static_cast<std::size_t>(count));
  for (double& weight : weights) weight = value(random);
  return weights;
}

/// Compiles the most common variant for sm_90a, and all other variants for sm_80. On sm_90a at most
/// `max_spilled_bytes` bytes may be spilled. `constants` returns the constants for given BlockLimits.
template <class Constants>
void expect_compiles(const char* source, int max_spilled_bytes, Constants&& constants) {
  for (const BlockLimits& limits : {ampere, hopper}) {
    const bool on_hopper = limits.compute_capability == 90;
    const Compiled compiled =
        KernelCompiler(on_hopper ? "sm_90a" : "sm_80", {}).compile_fresh(source, constants(limits));
    EXPECT_FALSE(compiled.cubin.empty());
    const int spilled = testing::max_spilled_bytes(compiled.log);
    ASSERT_GE(spilled, 0) << compiled.log;
    if (on_hopper) {
      EXPECT_LE(spilled, max_spilled_bytes) << compiled.log;
    }
  }
}

struct MmaCase {
  int dimensions, radius;
  bool star;
  Precision precision;
  TensorCores cores = TensorCores::sparse;
  Layout layout = Layout::morph;
  int max_spilled_bytes = 0;  // accepted when the tiles were chosen

  Domain domain() const {
    Domain domain;
    domain.dimensions = dimensions;
    return domain;
  }

  Stencil stencil() const {
    Index3 reach{};
    for (int axis = axis_count - dimensions; axis < axis_count; ++axis) reach[axis] = radius;
    const Index3 extent = 2 * reach + Index3{1, 1, 1};
    std::mt19937_64 random(10000u);
    std::vector<double> weights = random_weights(random, volume(extent));
    std::size_t i = 0;
    for_each_point(box_of(extent), [&](const Index3& p) {
      const auto off = (p[0] != reach[0]) + (p[1] != reach[1]) + (p[2] != reach[2]);
      if (star && off > 1) weights[i] = 0;
      ++i;
    });
    return {extent, weights, reach};
  }

  OrNoKernel<MmaProgram> make(const BlockLimits& limits) const {
    return MmaProgram::make(domain(), stencil(), precision, layout, cores, limits);
  }
  MmaProgram program(const BlockLimits& limits) const { return required(make(limits)); }
};

class MmaTemplates : public ::testing::TestWithParam<MmaCase> {};

TEST_P(MmaTemplates, CompileForAmpereAndHopper) {
  expect_compiles("kernels/cuda/tensor/mma_sweep.cuh", GetParam().max_spilled_bytes,
                  [](const BlockLimits& limits) {
                    const bool aligned = limits.copy_engine(), with_source = !aligned;
                    return GetParam().program(limits).constants(aligned, with_source);
                  });
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, MmaTemplates,
    ::testing::Values(MmaCase{1, 7, false, Precision::fp16, TensorCores::sparse, Layout::strided_swap},
                      MmaCase{2, 7, false, Precision::fp16},
                      MmaCase{2, 7, false, Precision::bf16, TensorCores::dense},
                      MmaCase{2, 3, true, Precision::tf32},
                      MmaCase{2, 3, false, Precision::fp64, TensorCores::dense},
                      MmaCase{3, 2, false, Precision::fp16},
                      MmaCase{3, 1, true, Precision::fp32, TensorCores::sparse, Layout::strided_swap},
                      MmaCase{3, 5, false, Precision::fp16}, MmaCase{2, 13, false, Precision::fp16},
                      MmaCase{3, 9, false, Precision::fp32},
                      MmaCase{2, 7, false, Precision::fp32, TensorCores::sparse, Layout::morph, 8},
                      MmaCase{3, 2, false, Precision::fp32, TensorCores::sparse, Layout::morph, 8}));

/// A star has no weights in most steps of most slices. Loops that are not unrolled run them nevertheless.
TEST(MmaProgram, CountsStepsWithoutWeightsThatLoopsExecute) {
  const MmaCase star{3, 2, true, Precision::fp32, TensorCores::dense, Layout::strided_swap};
  const MmaProgram program = star.program(hopper);
  const MmaProgram::ChunkWork work = program.work();
  ASSERT_FALSE(work.unrolled);
  constexpr int fma_of_instruction = 16 * 8 * 16;
  const int instructions = work.instructions / (program.tile().blocks_x * program.tile().blocks_y);
  EXPECT_GT(instructions, program.instructions());
  EXPECT_EQ(work.fma, fma_of_instruction * instructions);
}

TEST(MmaProgram, RefusesWhatNoKernelTakes) {
  const MmaCase narrow{1, 1, false, Precision::fp16};
  EXPECT_THAT(why_not(MmaProgram::make(narrow.domain(), narrow.stencil(), Precision::fp16, Layout::separable,
                                       TensorCores::sparse)),
              HasSubstr("separable"));
  EXPECT_THAT(why_not(narrow.make({75, 64 << 10})), HasSubstr("7.5"));
  EXPECT_THAT(why_not(narrow.make({80, 1 << 10})), HasSubstr("1024 bytes"));
  const Stencil tiny({1, 1, 1}, {1e-300}, {0, 0, 0});
  EXPECT_THAT(
      why_not(MmaProgram::make(narrow.domain(), tiny, Precision::bf16, Layout::morph, TensorCores::sparse)),
      HasSubstr("too small for bf16"));
}

TEST(MmaProgram, FitsDevicesOfLessSharedMemory) {
  for (const MmaCase& c : {MmaCase{2, 7, false, Precision::fp16}, MmaCase{2, 7, false, Precision::fp32},
                           MmaCase{2, 7, false, Precision::fp64, TensorCores::dense},
                           MmaCase{3, 2, false, Precision::fp16}, MmaCase{3, 9, false, Precision::fp32}})
    for (const BlockLimits& limits : {hopper, ampere, ada, BlockLimits{80, 48 << 10}})
      EXPECT_LE(static_cast<std::size_t>(c.program(limits).shared_bytes()), limits.shared_bytes)
          << c.dimensions << "D radius " << c.radius << ' ' << to_string(c.precision);
}

/// Returns the numbers of a constant in the header that a kernel is compiled with.
std::vector<std::int64_t> numbers_of(const std::string& constants, const std::string& name) {
  const std::size_t begin = constants.find(" = ", constants.find("int " + name));
  std::string text = constants.substr(begin + 3, constants.find(';', begin) - begin - 3);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '{' || c == '}' || c == ','; }, ' ');
  std::istringstream stream(text);
  return {std::istream_iterator<std::int64_t>(stream), {}};
}

TEST(MmaProgram, FindsInputsWhereTheyLieInSharedMemory) {
  for (const MmaCase& c :
       {MmaCase{1, 7, false, Precision::fp16, TensorCores::sparse, Layout::strided_swap},
        MmaCase{2, 3, true, Precision::tf32}, MmaCase{2, 7, false, Precision::bf16},
        MmaCase{2, 3, false, Precision::fp64, TensorCores::dense}, MmaCase{2, 13, false, Precision::fp16},
        MmaCase{3, 1, true, Precision::fp16}, MmaCase{3, 2, false, Precision::tf32}}) {
    const MmaProgram program = c.program(hopper);
    const std::string constants = program.constants(true, false);
    const auto pitch = numbers_of(constants, "box_pitch")[0], rows = numbers_of(constants, "box_rows")[0];
    const Index3 strides{rows * pitch, pitch, 1};
    const auto window = numbers_of(constants, "window");
    const std::vector<Index3> inputs = program.operand().first().inputs;
    const auto place_offset = numbers_of(constants, "place_offset"),
               place_class = numbers_of(constants, "place_class"),
               class_offset = numbers_of(constants, "class_offset");
    const auto per_word = static_cast<std::size_t>(elements_per_word(c.precision));
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const std::size_t word = k / per_word, place = word / 4 * per_word + k % per_word;
      EXPECT_EQ(place_offset.at(place) + class_offset.at(4 * place_class.at(place) + word % 4),
                (inputs[k][0] - window[0]) * strides[0] + (inputs[k][1] - window[1]) * strides[1] +
                    inputs[k][2] - window[2])
          << c.dimensions << "D radius " << c.radius << " input " << k;
    }
  }
}

struct SeparableCase {
  Precision precision;
  int z_radius, radius, rank;
  int max_spilled_bytes = 0;  // accepted when the tiles were chosen

  const char* kernel_file() const {
    return z_radius ? "kernels/cuda/tensor/separable_planes.cuh" : "kernels/cuda/tensor/separable.cuh";
  }

  SeparableProgram program(const BlockLimits& limits) const { return required(make(limits)); }
  OrNoKernel<SeparableProgram> make(const BlockLimits& limits) const {
    const Index3 reach{z_radius, radius, radius};
    SeparableStencil stencil{grow(box_of({1, 1, 1}), reach), {}, 0.0};
    std::mt19937_64 random(1);
    for (int k = 0; k < rank; ++k) {
      SeparableTerm& term = stencil.terms.emplace_back();
      for (int axis = 0; axis < axis_count; ++axis)
        term.factor[axis] = random_weights(random, 2 * reach[axis] + 1);
      // With taps along z, terms share factors, as bases along two axes produce them.
      if (z_radius && k >= 2) term.factor[z_axis] = stencil.terms[k - 2].factor[z_axis];
      if (z_radius && k % 2) term.factor[x_axis] = stencil.terms[k - 1].factor[x_axis];
    }
    return SeparableProgram::make(stencil, precision, limits);
  }
};

class SeparableTemplates : public ::testing::TestWithParam<SeparableCase> {};

TEST_P(SeparableTemplates, CompileForAmpereAndHopper) {
  expect_compiles(GetParam().kernel_file(), GetParam().max_spilled_bytes, [](const BlockLimits& limits) {
    return GetParam().program(limits).constants(true, !limits.copy_engine());
  });
}

TEST(SeparableProgram, CompilesForRowsThatAreNotAligned) {
  for (const SeparableCase& c :
       {SeparableCase{Precision::fp16, 0, 7, 3}, SeparableCase{Precision::fp16, 1, 1, 1}})
    for (const bool with_source : {false, true})
      expect_compiles(c.kernel_file(), 0, [&](const BlockLimits& limits) {
        return c.program(limits).constants(false, with_source);
      });
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SeparableTemplates,
    ::testing::Values(SeparableCase{Precision::fp16, 0, 7, 1}, SeparableCase{Precision::fp16, 0, 7, 3},
                      SeparableCase{Precision::bf16, 0, 7, 6}, SeparableCase{Precision::fp16, 0, 15, 1},
                      SeparableCase{Precision::fp16, 0, 15, 3, 32}, SeparableCase{Precision::tf32, 0, 7, 1},
                      SeparableCase{Precision::fp32, 0, 7, 1}, SeparableCase{Precision::fp32, 0, 7, 2},
                      SeparableCase{Precision::fp32, 0, 15, 1}, SeparableCase{Precision::fp16, 1, 1, 1},
                      SeparableCase{Precision::fp16, 7, 7, 4}, SeparableCase{Precision::fp16, 3, 3, 8},
                      SeparableCase{Precision::tf32, 5, 5, 4}, SeparableCase{Precision::fp32, 7, 7, 1}));

TEST(SeparableProgram, CompilesWithASource) {
  for (const SeparableCase& c :
       {SeparableCase{Precision::fp16, 0, 7, 3}, SeparableCase{Precision::bf16, 0, 15, 1},
        SeparableCase{Precision::tf32, 0, 7, 1}})
    expect_compiles("kernels/cuda/tensor/separable.cuh", 0,
                    [&](const BlockLimits& limits) { return c.program(limits).constants(true, true); });
}

/// Hopper keeps the source in shared memory, in tiles with fewer stages or columns.
TEST(SeparableProgram, KeepsTheSourceInSharedMemoryWhereThereIsRoom) {
  const auto staged = [](const SeparableCase& c, const BlockLimits& limits) {
    return c.program(limits).shape(true).tile.staged_source;
  };
  const SeparableCase narrow{Precision::fp16, 0, 7, 3}, wide{Precision::fp16, 0, 36, 2};
  EXPECT_TRUE(staged(narrow, hopper));
  EXPECT_EQ(narrow.program(hopper).shape(true).tile.columns(), narrow.program(hopper).tile().columns());
  EXPECT_LT(narrow.program(hopper).shape(true).tile.stages, narrow.program(hopper).tile().stages);
  EXPECT_FALSE(staged(narrow, ampere));
  EXPECT_FALSE(staged(wide, hopper));
  const SeparableProgram program = SeparableCase{Precision::bf16, 0, 15, 1}.program(hopper);
  EXPECT_TRUE(program.shape(true).tile.staged_source);
  EXPECT_LT(program.shape(true).tile.columns(), program.shape(false).tile.columns());
  const SeparableProgram few_warps = SeparableCase{Precision::bf16, 0, 20, 1}.program(hopper);
  EXPECT_GT(few_warps.threads(true), few_warps.threads(false));
}

/// Returns, by bank, the 16-byte chunks of a window that `lanes` lanes of separable.cuh from `first` on read:
/// in two rows of each slab along y, in slabs along x that are `slab_distance` columns apart (0: odd lanes
/// read what their neighbours read).
std::array<std::set<int>, 8> chunks_by_bank(const SeparableProgram& program, const SeparableShape& shape,
                                            int bytes, int first, int lanes, int slab_distance) {
  std::array<std::set<int>, 8> chunks;
  for (int lane = first; lane < first + lanes; ++lane) {
    const int g = lane / 4, q = lane % 4,
              row = g / 4 * 8 + g / 2 % 2 * 16 * program.operand().y.windows + g % 2;
    const int chunk =
        (row * shape.row_elements + g / 2 % 2 * shape.row_shift + q / 2 * 8 + q % 2 * slab_distance) * bytes /
        16;
    chunks[chunk % 8].insert(chunk);
  }
  return chunks;
}

std::size_t most(const std::array<std::set<int>, 8>& chunks) {
  return std::max_element(chunks.begin(), chunks.end(),
                          [](const auto& a, const auto& b) { return a.size() < b.size(); })
      ->size();
}

/// A quarter of a warp reads both slabs of a window without bank conflicts, unless these lie a multiple of
/// all banks apart. Half a warp reads one slab without conflicts if rows of second slabs are shifted, which
/// is so wherever there is room; with one window no shift is needed.
TEST(SeparableProgram, ReadsInputWithoutBankConflicts) {
  for (const Precision precision : {Precision::fp16, Precision::bf16, Precision::tf32, Precision::fp32})
    for (const int radius : {1, 7, 15, 23, 24, 31})
      for (const int z_radius : {0, 3}) {
        if (z_radius > 0 && radius > 7) continue;  // only one window
        const SeparableProgram program = SeparableCase{precision, z_radius, radius, 1}.program(hopper);
        const ChainedAxis& x = program.operand().x;
        const int bytes = static_cast<int>(storage_bytes(precision));
        for (const bool with_source : {false, true}) {
          const SeparableShape& shape = program.shape(with_source);
          SCOPED_TRACE(std::string(to_string(precision)) + ' ' + std::to_string(x.windows) + " windows");
          ASSERT_TRUE(shape.tile.shifted_rows || with_source || z_radius > 0);
          if (!shape.tile.shifted_rows && x.windows > 1) continue;
          const bool meet = 16 * x.windows * bytes % 128 == 0;
          for (int lane = 0; x.paired > 0 && lane < 32; lane += 8) {
            EXPECT_EQ(most(chunks_by_bank(program, shape, bytes, lane, 8, 16 * x.windows)), meet ? 2u : 1u);
          }
          for (int lane = 0; x.windows > x.paired && lane < 32; lane += 16)
            EXPECT_EQ(most(chunks_by_bank(program, shape, bytes, lane, 16, 0)), 1u);
        }
      }
}

TEST(SeparableProgram, GivesUpStagedStoresBeforeItIsRefused) {
  SeparableStencil wide{{{0, -15, -350}, {1, 16, 351}}, {}, 0.0};
  wide.terms.push_back(
      {{std::vector<double>(1, 1.0), std::vector<double>(31, 1.0), std::vector<double>(701, 1.0)}});
  const SeparableProgram program = required(SeparableProgram::make(wide, Precision::bf16, hopper));
  EXPECT_FALSE(program.tile().bulk_stores);
  EXPECT_LE(static_cast<std::size_t>(program.shared_bytes()), hopper.shared_bytes);
}

TEST(SeparableProgram, FitsDevicesOfLessSharedMemoryOrIsRefused) {
  for (const SeparableCase& c :
       {SeparableCase{Precision::fp16, 0, 7, 1}, SeparableCase{Precision::fp32, 0, 7, 1},
        SeparableCase{Precision::fp16, 0, 15, 3}, SeparableCase{Precision::fp16, 7, 7, 4},
        SeparableCase{Precision::fp32, 5, 5, 1}}) {
    for (const BlockLimits& limits : {hopper, ampere, ada})
      for (const bool with_source : {false, true})
        EXPECT_LE(static_cast<std::size_t>(c.program(limits).shared_bytes(with_source)), limits.shared_bytes)
            << c.radius << ' ' << to_string(c.precision);
    EXPECT_THAT(why_not(c.make({80, 8 << 10})), HasSubstr("8192 bytes"));
    EXPECT_THAT(why_not(c.make({75, 64 << 10})), HasSubstr("7.5"));
  }
}

TEST(SeparableProgram, SaysWhatNoKernelTakes) {
  EXPECT_THAT(why_not(SeparableCase{Precision::fp16, 0, 7, 9}.make(hopper)), HasSubstr("9 terms"));
  EXPECT_THAT(why_not(SeparableCase{Precision::fp16, 8, 7, 1}.make(hopper)), HasSubstr("17 planes"));
  EXPECT_THAT(why_not(SeparableCase{Precision::fp64, 0, 1, 1}.make(hopper)), HasSubstr("fp64"));
}

}  // namespace
}  // namespace spsolve::cuda
