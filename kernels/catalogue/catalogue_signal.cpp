// SPDX-License-Identifier: Apache-2.0
// These stencils are from image processing, finance and biology.
#include <cmath>

#include "kernels/catalogue/axis_letters.hpp"
#include "kernels/catalogue/catalogue.hpp"

namespace spsolve {
namespace {

using namespace axis_letters;

Formula mean(int axis, int radius) {
  return symmetric(axis, std::vector<double>(radius + 1, 1.0 / (2 * radius + 1)));
}

/// Returns the weights of a small image, centred. Rows run top to bottom and left to right, as papers print
/// them.
Formula mask(const std::vector<std::vector<double>>& rows, double scale) {
  Formula sum;
  const int top = -static_cast<int>(rows.size() / 2);
  for (std::size_t row = 0; row < rows.size(); ++row)
    sum += Formula::at({0, top + static_cast<int>(row), 0}) *
           line(x, -static_cast<int>(rows[row].size() / 2), rows[row]);
  return scale * sum;
}

/// Returns value(x^2 + y^2) over a square, scaled so that its growth factor is at most 1. If `balanced`, the
/// mean is subtracted first.
template <class Value>
Formula radial(int radius, bool balanced, Value&& value) {
  double sum = 0.0, count = 0.0;
  const Box box{{0, -radius, -radius}, {1, radius + 1, radius + 1}};
  const auto of = [&](const Index3& p) { return value(static_cast<double>(p[y] * p[y] + p[x] * p[x])); };
  for_each_point(box, [&](const Index3& p) { sum += of(p), count += 1.0; });
  Formula formula;
  for_each_point(
      box, [&](const Index3& p) { formula += (of(p) - (balanced ? sum / count : 0.0)) * Formula::at(p); });
  return 1.0 / formula.magnitude() * formula;
}

std::vector<CatalogueEntry> image_entries() {
  const char* d = "image processing";
  const std::string gonzalez = "Gonzalez and Woods, Digital Image Processing (2008), ";
  const Formula binomial = symmetric(y, {0.375, 0.25, 0.0625}) * symmetric(x, {0.375, 0.25, 0.0625});
  const Formula holes = symmetric(x, {0.375, 0, 0.25, 0, 0.0625}),
                holes_y = symmetric(y, {0.375, 0, 0.25, 0, 0.0625});
  const std::vector<Derivative> dx{{0.25, {0, 0, 1}}};
  const auto gauss = [](double r2, double sigma) {
    return std::exp(-0.5 * r2 / (sigma * sigma)) / (sigma * sigma);
  };
  const Formula difference_of_gaussians =
      gaussian(y, 1.0, 5) * gaussian(x, 1.0, 5) - gaussian(y, 1.6, 5) * gaussian(x, 1.6, 5);
  Formula gabor;
  for (int k = -4; k <= 4; ++k)
    gabor += 0.4 * std::exp(-0.125 * k * k) * std::sin(1.2 * k) * Formula::at({0, 0, k});
  return {
      smoothing("gaussian2d", d, 2, gonzalez + "section 3.5: sigma 1, 7 x 7",
                gaussian(y, 1, 3) * gaussian(x, 1, 3)),
      smoothing("gaussian2d-sigma2", d, 2, gonzalez + "section 3.5: sigma 2, 13 x 13",
                gaussian(y, 2, 6) * gaussian(x, 2, 6)),
      smoothing("gaussian3d", d, 3, gonzalez + "section 3.5: sigma 1, 5 x 5 x 5",
                gaussian(z, 1, 2) * gaussian(y, 1, 2) * gaussian(x, 1, 2)),
      smoothing("binomial2d", d, 2,
                "Burt and Adelson, IEEE Trans. Commun. 31 (1983) 532: generating kernel, a = 3/8", binomial),
      smoothing("pyramid2d", d, 2, "Burt and Adelson (1983): generating kernel, a = 0.4",
                symmetric(y, {0.4, 0.25, 0.05}) * symmetric(x, {0.4, 0.25, 0.05})),
      smoothing(
          "starlet2d-scale2", d, 2,
          "Starck and Murtagh, Astronomical Image and Data Analysis (2006), chapter 2: B3 spline with holes",
          holes_y * holes),
      smoothing("mean2d", d, 2, gonzalez + "section 3.5: 3 x 3", mean(y, 1) * mean(x, 1)),
      smoothing("mean2d-7x7", d, 2, gonzalez + "section 3.5: 7 x 7", mean(y, 3) * mean(x, 3)),
      smoothing("motion-blur", d, 2, gonzalez + "section 5.6: uniform motion",
                line(x, 0, std::vector<double>(9, 1.0 / 9)), 1),
      smoothing("savitzky-golay1d", d, 1,
                "Savitzky and Golay, Anal. Chem. 36 (1964) 1627, table I: quadratic, 7 points",
                symmetric(x, {7.0 / 21, 6.0 / 21, 3.0 / 21, -2.0 / 21}), 4),
      derivative("sobel", d, 2, "Duda and Hart, Pattern Classification and Scene Analysis (1973), p. 271",
                 mask({{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}}, 1.0 / 32), dx, 3),
      derivative("prewitt", d, 2, "Prewitt, Object Enhancement and Extraction (1970)",
                 mask({{-1, 0, 1}, {-1, 0, 1}, {-1, 0, 1}}, 1.0 / 24), dx, 3),
      derivative("scharr", d, 2, "Scharr, thesis, Heidelberg (2000): optimal 3 x 3 derivative",
                 mask({{-3, 0, 3}, {-10, 0, 10}, {-3, 0, 3}}, 1.0 / 128), dx, 3),
      derivative("roberts-cross", d, 2, "Roberts, Machine Perception of Three-Dimensional Solids (1965)",
                 mask({{0, 0, 0}, {0, -0.5, 0}, {0, 0, 0.5}}, 1.0), {{0.5, {0, 0, 1}}, {0.5, {0, 1, 0}}}, 2),
      derivative("kirsch-north", d, 2, "Kirsch, Comput. Biomed. Res. 4 (1971) 315",
                 mask({{5, 5, 5}, {-3, 0, -3}, {-3, -3, -3}}, 1.0 / 32), {{-24.0 / 32, {0, 1, 0}}}, 2),
      derivative("robinson-northeast", d, 2, "Robinson, Comput. Graph. Image Process. 6 (1977) 492",
                 mask({{0, 1, 2}, {-1, 0, 1}, {-2, -1, 0}}, 1.0 / 8), {{0.75, {0, 0, 1}}, {-0.75, {0, 1, 0}}},
                 3),
      derivative("laplacian-4", d, 2, gonzalez + "section 3.6.2", 0.125 * laplacian(2),
                 laplace_equation(2, 0.125), 4),
      derivative("laplacian-8", d, 2, gonzalez + "section 3.6.2: with diagonals",
                 mask({{1, 1, 1}, {1, -8, 1}, {1, 1, 1}}, 1.0 / 12), laplace_equation(2, 0.25), 4),
      derivative("laplacian-of-gaussian", d, 2,
                 "Marr and Hildreth, Proc. R. Soc. B 207 (1980) 187: sigma 1.4, 11 x 11",
                 radial(5, true, [&](double r2) { return (r2 / 1.96 - 2) * gauss(r2, 1.4); }), {}, 2),
      derivative("difference-of-gaussians", d, 2,
                 "Lowe, Int. J. Comput. Vis. 60 (2004) 91; Marr and Hildreth (1980): ratio 1.6",
                 difference_of_gaussians, {}, 2),
      derivative("canny-derivative", d, 2,
                 "Canny, IEEE Trans. Pattern Anal. Mach. Intell. 8 (1986) 679: derivative of a Gaussian",
                 gaussian(y, 1.2, 4) * gaussian(x, 1.2, 4) * central(x, 1, 2), {{1, {0, 0, 1}}}, 3),
      derivative("gabor", d, 2, "Daugman, J. Opt. Soc. Am. A 2 (1985) 1160: odd filter",
                 gaussian(y, 2, 4) * gabor, {}, 1),
  };
}

std::vector<CatalogueEntry> finance_entries() {
  const char* d = "finance";
  // A year has 250 days of one time step each; rate 3%, volatility 25%. The grid is in the logarithm of the
  // price.
  const double dt = 1.0 / 250, r = 0.03, sigma = 0.25, drift = r - 0.5 * sigma * sigma,
               discount = std::exp(-r * dt);
  const double up = std::exp(sigma * std::sqrt(dt)), chance = (std::exp(r * dt) - 1 / up) / (up - 1 / up);
  // Grids are stretched by lambda: h = lambda sigma sqrt(dt).
  const auto per_step = [&](double lambda) { return drift * std::sqrt(dt) / (lambda * sigma); };
  const auto trinomial = [&](double lambda) {
    const double half = 0.5 / (lambda * lambda), tilt = 0.5 * per_step(lambda);
    return line(x, -1, {half - tilt, 1 - 2 * half, half + tilt});
  };
  const auto black_scholes = [&](double lambda) {
    return transport_equation({0, 0, -per_step(lambda)}, {0, 0, 0.5 / (lambda * lambda)}, r * dt);
  };
  // Several assets with equal volatility move to the corners of a square or cube; the weight of a corner
  // depends on the signs of its moves.
  const double tilt = per_step(1.0), rho = 0.4;
  const std::vector<Derivative> discounted{{-r * dt, {}}};
  Formula two, three;
  for (const int i : {-1, 1})
    for (const int j : {-1, 1}) {
      two += 0.25 * (1 + rho * i * j + tilt * (i + j)) * Formula::at({0, i, j});
      for (const int k : {-1, 1})
        three += 0.125 * (1 + rho * (i * j + j * k + k * i) + tilt * (i + j + k)) * Formula::at({i, j, k});
    }
  return {
      time_step("binomial-tree", d, 1, "Cox, Ross and Rubinstein, J. Financial Econ. 7 (1979) 229",
                discount * line(x, -1, {1 - chance, 0, chance}), discounted, 1),
      time_step("trinomial-tree", d, 1, "Boyle, Int. Options J. 3 (1986) 7: lambda^2 = 3/2",
                discount * trinomial(std::sqrt(1.5)), black_scholes(std::sqrt(1.5)), 2),
      time_step("trinomial-kamrad-ritchken", d, 1,
                "Kamrad and Ritchken, Manage. Sci. 37 (1991) 1640: lambda^2 = 3",
                discount * trinomial(std::sqrt(3.0)), black_scholes(std::sqrt(3.0)), 2),
      finite_difference("black-scholes-log", d, 1,
                        "Brennan and Schwartz, J. Financ. Quant. Anal. 13 (1978) 461: explicit differences "
                        "in the logarithm of the price",
                        black_scholes(1.8)),
      finite_difference(
          "black-scholes-log-order4", d, 1,
          "Hull and White, J. Financ. Quant. Anal. 25 (1990) 87: explicit differences; order 4 in price",
          black_scholes(2.0), 4),
      time_step("two-assets", d, 2,
                "Boyle, Evnine and Gibbs, Rev. Financ. Stud. 2 (1989) 241: correlation 0.4", discount * two,
                discounted, 1),
      time_step("three-assets", d, 3, "Boyle, Evnine and Gibbs (1989): correlations 0.4", discount * three,
                discounted, 1),
      finite_difference(
          "basket2d", d, 2,
          "Wilmott, Howison and Dewynne, The Mathematics of Financial Derivatives (1995), chapter 8: two "
          "correlated assets, cross derivative",
          {{-r * dt, {}}, {0.2, {0, 0, 2}}, {0.2, {0, 2, 0}}, {0.16, {0, 1, 1}}, {tilt / 2, {0, 0, 1}}}),
  };
}

std::vector<CatalogueEntry> biology_entries() {
  const char* d = "biology";
  std::vector<double> laplace_kernel;
  double sum = 0.0;
  for (int k = 0; k <= 8; ++k) {
    laplace_kernel.push_back(std::exp(-0.7 * k));
    sum += (k ? 2 : 1) * laplace_kernel.back();
  }
  const auto mexican_hat = [](double r2) { return std::exp(-r2 / 4.5) - 0.5 * std::exp(-r2 / 18); };
  return {
      finite_difference("cable1d", d, 1, "Rall, Ann. N.Y. Acad. Sci. 96 (1962) 1071: passive dendrite",
                        transport_equation({}, {0, 0, 0.25}, 0.05)),
      finite_difference("random-dispersal2d", d, 2,
                        "Skellam, Biometrika 38 (1951) 196: dispersal without growth",
                        laplace_equation(2, 0.16)),
      smoothing("laplace-dispersal1d", d, 1,
                "Kot, Lewis and van den Driessche, Ecology 77 (1996) 2027: exponential dispersal kernel",
                1.0 / sum * symmetric(x, laplace_kernel)),
      finite_difference("morphogen2d", d, 2,
                        "Crick, Nature 225 (1970) 420: gradient by diffusion, with decay",
                        transport_equation({}, {0, 0.2, 0.2}, 0.02)),
      finite_difference(
          "chemotaxis2d", d, 2,
          "Keller and Segel, J. Theor. Biol. 30 (1971) 225: constant gradient of the attractant",
          transport_equation({0, 0.05, 0.15}, {0, 0.18, 0.18})),
      smoothing("neural-field2d", d, 2,
                "Amari, Biol. Cybern. 27 (1977) 77: lateral inhibition, linear, 13 x 13",
                radial(6, false, mexican_hat), 0),
      finite_difference("cardiac-monodomain2d", d, 2,
                        "Clayton and Panfilov, Prog. Biophys. Mol. Biol. 96 (2008) 19: fibres at 30 degrees, "
                        "anisotropy 4, leakage",
                        {{-0.01, {}}, {0.1625, {0, 0, 2}}, {0.0875, {0, 2, 0}}, {0.1299, {0, 1, 1}}}),
      finite_difference(
          "cardiac-monodomain3d", d, 3, "Clayton and Panfilov (2008): fibres at 30 degrees in the plane",
          {{-0.01, {}}, {0.1138, {0, 0, 2}}, {0.0612, {0, 2, 0}}, {0.0350, {2, 0, 0}}, {0.0909, {0, 1, 1}}}),
      finite_difference("oxygen3d", d, 3,
                        "Krogh, J. Physiol. 52 (1919) 409: diffusion into tissue, linear uptake",
                        transport_equation({}, {0.13, 0.13, 0.13}, 0.03)),
  };
}

}  // namespace

std::vector<CatalogueEntry> signal_entries() {
  std::vector<CatalogueEntry> all;
  for (const auto& part : {image_entries(), finance_entries(), biology_entries()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace spsolve
