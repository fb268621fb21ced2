// SPDX-License-Identifier: Apache-2.0
#include "solver/plan/rejected_method.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spsolve {

std::string_view to_string(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::no_kernel:
      return "no kernel";
    case Obstacle::memory:
      return "memory";
    case Obstacle::depth:
      return "depth";
    case Obstacle::promise:
      return "promise";
    case Obstacle::accuracy:
      break;
  }
  return "accuracy";
}

std::vector<std::string> describe(const std::vector<RejectedMethod>& rejected) {
  const auto is_alike = [](const RejectedMethod& a, const RejectedMethod& b) {
    return a.method.unit == b.method.unit && a.method.layout == b.method.layout &&
           a.method.strided == b.method.strided && a.precision == b.precision &&
           a.refusal.obstacle == b.refusal.obstacle;
  };
  std::vector<std::string> lines;
  for (auto first = rejected.begin(); first != rejected.end();) {
    const auto end = std::find_if_not(first, rejected.end(),
                                      [&](const RejectedMethod& other) { return is_alike(*first, other); });
    const int least = first->method.fuse, most = (end - 1)->method.fuse;
    const std::string depths = least == most ? fmt::format("{} {}", least, least == 1 ? "step" : "steps")
                                             : fmt::format("{} to {} steps", least, most);
    const std::string method = describe(first->method);
    const std::string reason = fmt::format(" in {}, {} per launch: {}: {}", to_string(first->precision),
                                           depths, to_string(first->refusal.obstacle), first->refusal.why);
    if (!lines.empty() && lines.back().ends_with(reason))
      lines.back().insert(lines.back().size() - reason.size(), ", " + method);
    else
      lines.push_back(method + reason);
    first = end;
  }
  return lines;
}

}  // namespace spsolve
