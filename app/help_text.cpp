// SPDX-License-Identifier: Apache-2.0
#include "app/help_text.hpp"

#include <sstream>

#include "kernels/catalogue/presets.hpp"

namespace spsolve {
namespace {

constexpr const char* after_presets =
    R"(  (star|box|random)<d>d<r>r, 1d<r>r: benchmark shapes of dimension d and radius r, such as star3d1r
  a name of the catalogue: spsolve bench --list shows them with their sources and equations

Formulas (expression of [initial] and [source]): of the coordinates x, y, z that the grid has, and pi
  + - * / ^, comparisons, && ||, a ? b : c; abs, sign, rint, floor, ceil, trunc, fmod, mod, sqrt, hypot, pow, exp,
  ln = log, log10, log2, sin, cos, tan and their inverses, atan2, sinh, cosh, tanh and theirs, erf, erfc,
  min, max, sum, avg, heaviside(x), clamp(x, low, high), smoothstep(a, b, x), ricker(t, f)
  files give any other values: file = "u.h5", dataset = "/u"

How it is solved (spsolve plan INPUT.toml shows the choice, the candidates and why):
  compute.unit    scalar: single steps on plain cores; sparse-tensor, tensor: fused weights on tensor cores
  compute.layout  of the weights there: strided-swap, morph, separable; fp64: natural-order on GPUs, emulated on
                  CPUs by dual-tessellation
  time.fuse       time steps per launch; results keep the promise of compute.precision whatever it is
  compute.accuracy = 1e-4  lets the plan compute in any precision that errs by no more after all steps, as a
                           share of the largest norm of the field
  compute.tune = true      times the best candidates on the real grid and remembers the winner ("auto": on
                           GPUs in long runs; false: never, the choice depends on no timing)
  parallel.exchange_every  launches of the scalar unit that share one exchange of deeper halos; results do not depend on it
  All are "auto" unless set in the input or by --set. A restart continues with the plan of its checkpoint.

Exit status: 0 finished; 2 invalid input, or a file that it names is missing; 3 the solution became NaN or infinite;
4 a file is damaged, or could not be read or written; 5 a device or a peer failed; 75 stopped by a signal or the
wall-time limit after a checkpoint.
Signals: USR1, TERM, INT, HUP (the terminal is gone), XCPU (a limit of processor time): checkpoint and stop, a second
TERM or INT: end at once, as does INT before the first step; USR2: checkpoint and continue.
)";

}  // namespace

std::string help_after_options() {
  std::ostringstream text;
  text << "\nStencil presets:\n";
  for (const Preset& preset : parameter_presets()) {
    text << "  " << preset.name << ": " << preset.meaning << "\n";
    for (const PresetParameter& parameter : preset.parameters)
      text << "      " << parameter.name << (parameter.required ? " (required): " : ": ") << parameter.meaning
           << "\n";
  }
  text << after_presets;
  return text.str();
}

}  // namespace spsolve
