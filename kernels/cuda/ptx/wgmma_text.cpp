// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/ptx/wgmma_text.hpp"

namespace spsolve::cuda {

std::string wgmma_function(const char* name, const WgmmaInstruction& what) {
  const int sums = what.n / 2;
  std::string d, outputs, inputs;
  for (int i = 0; i < sums; ++i) {
    d.append(i ? ", %" : "%").append(std::to_string(i));
    outputs.append(i ? ", \"+f\"(d[" : "\"+f\"(d[").append(std::to_string(i)).append("])");
  }
  int operands = sums;
  const auto input = [&](const char* constraint) {
    inputs.append(inputs.empty() ? "" : ", ").append(constraint);
    return std::string("%").append(std::to_string(operands++));
  };
  std::string a;
  if (what.a_in_registers) {
    for (const char* one : {"\"r\"(a[0])", "\"r\"(a[1])", "\"r\"(a[2])", "\"r\"(a[3])"})
      a.append(a.empty() ? "{" : ", ").append(input(one));
    a.append("}");
  } else {
    a = input("\"l\"(a)");
  }
  const std::string b = input("\"l\"(b)");
  std::string metadata;
  if (what.sparse)
    for (const char* one : {"\"r\"(metadata)", "\"n\"(selector)"}) metadata.append(", ").append(input(one));
  const std::string add = input("\"r\"(static_cast<int>(add))");
  const bool transposable = what.type == "f16" || what.type == "bf16";
  return std::string("template <int selector, class A>\n__device__ inline void ") + name + "(float (&d)[" +
         std::to_string(sums) +
         "], const A& a, unsigned long long b, unsigned metadata, bool add) {\n"
         "  asm volatile(\n      \"{ .reg .pred p; setp.ne.b32 p, " +
         add + ", 0; wgmma.mma_async" + (what.sparse ? ".sp" : "") + ".sync.aligned.m64n" +
         std::to_string(what.n) + "k" + std::to_string(what.k()) + ".f32." + what.type + "." + what.type +
         " {" + d + "}, " + a + ", " + b + metadata + ", p, 1, 1" +
         (!transposable         ? ""
          : what.a_in_registers ? ", 0"
                                : ", 0, 0") +
         "; }\"\n      : " + outputs + "\n      : " + inputs + ");\n}";
}

}  // namespace spsolve::cuda
