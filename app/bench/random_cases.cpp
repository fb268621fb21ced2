// SPDX-License-Identifier: Apache-2.0
#include "app/bench/random_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace spsolve {
namespace {

constexpr int case_count = 64;
// Precisions stand here in proportion to how often they are of interest.
constexpr Precision precisions[]{Precision::fp64, Precision::fp32, Precision::fp16, Precision::fp32,
                                 Precision::bf16, Precision::fp64, Precision::fp32, Precision::tf32};
constexpr const char* kinds[]{"star",   "box",    "random star", "random box",
                              "rank 1", "rank 2", "scattered",   "one-sided"};
enum CaseKind { star, box, random_star, random_box, rank_1, rank_2, scattered, one_sided };
constexpr int dimensions[]{1, 2, 3, 2, 3};

class RandomProblem {
 public:
  RandomProblem(std::uint64_t seed, int number, bool cuda)
      : random_(1000 * seed + static_cast<std::uint64_t>(number)), kind_(static_cast<CaseKind>(number % 8)) {
    domain_.dimensions = dimensions[number % 5];
    make_grid(cuda ? 5e7 : 1e6);
    make_stencil();
    has_source_ = between(0, 5) == 0;
  }

  Problem in(Precision precision) const {
    return {domain_, Stencil(extent_, weights_, center_), precision, has_source_};
  }

 private:
  // Standard libraries draw other numbers from the same distribution, so distributions are written here.
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }
  double uniform(double least, double most) {
    return least + (most - least) * static_cast<double>(random_() >> 11) * 0x1p-53;
  }

  void make_grid(double max_points) {
    const double points = 2e4 * std::pow(max_points / 2e4, uniform(0, 1));
    const bool walls = between(0, 1) == 1;
    for (int axis = domain_.first_axis(); axis < axis_count; ++axis) {
      const double side = std::pow(points, 1.0 / domain_.dimensions);
      domain_.shape[axis] = std::llround(side * (domain_.dimensions == 1 ? 1 : std::exp2(uniform(-1, 1))));
      if (!walls || between(0, 2) == 0) continue;
      for (Face& face : domain_.faces[axis])
        face = between(0, 2) == 0 ? Face{BoundaryKind::neumann} : Face{BoundaryKind::dirichlet, 0.5};
    }
  }

  void make_stencil() {
    const bool star_like = kind_ == star || kind_ == random_star;
    const std::int64_t most = domain_.dimensions < 3 || star_like ? 6 : 3;
    const std::int64_t radius = between(1, most);
    const bool same = kind_ == star || kind_ == box || between(0, 2) > 0;
    for (int axis = domain_.first_axis(); axis < axis_count; ++axis) {
      const std::int64_t reach = same ? radius : between(1, most);
      extent_[axis] = kind_ == one_sided ? reach + 1 : 2 * reach + 1;
      center_[axis] = kind_ == one_sided ? 0 : reach;
    }
    std::array<std::vector<double>, 6> factors;
    for (auto& factor : factors)
      for (int i = 0; i < 13; ++i) factor.push_back(uniform(0.2, 1));
    double sum = 0;
    for_each_point(box_of(extent_), [&](const Index3& p) {
      weights_.push_back(weight(p - center_, p, factors));
      sum += weights_.back();
    });
    for (double& weight : weights_) weight /= sum;
  }

  double weight(const Index3& offset, const Index3& p, const std::array<std::vector<double>, 6>& factors) {
    const auto off_axis = std::count_if(offset.begin(), offset.end(), [](auto o) { return o != 0; });
    const auto product = [&](std::size_t first) {
      double factor = 1;
      for (std::size_t axis = 0; axis < axis_count; ++axis)
        factor *= factors[first + axis][static_cast<std::size_t>(p[axis])];
      return factor;
    };
    const double any = uniform(0.2, 1);
    switch (kind_) {
      case star:
      case box:
        return kind_ == star && off_axis > 1
                   ? 0
                   : 1.0 / static_cast<double>(1 + offset[0] * offset[0] + offset[1] * offset[1] +
                                               offset[2] * offset[2]);
      case random_star:
        return off_axis > 1 ? 0 : any;
      case rank_1:
        return product(0);
      case rank_2:
        return product(0) + 0.5 * product(3);
      case scattered:
        return off_axis == 0 || any > 0.65 ? any : 0;
      default:
        return any;
    }
  }

  std::mt19937_64 random_;
  CaseKind kind_;
  Domain domain_;
  Index3 extent_{1, 1, 1}, center_{};
  std::vector<double> weights_;
  bool has_source_;
};

}  // namespace

std::vector<BenchCase> random_cases(std::uint64_t seed, bool cuda) {
  std::vector<BenchCase> cases;
  for (int number = 0; number < case_count; ++number)
    cases.push_back({fmt::format("{}.{} {}", seed, number, kinds[number % 8]),
                     RandomProblem(seed, number, cuda).in(precisions[number / 8]),
                     {}});
  return cases;
}

}  // namespace spsolve
