// SPDX-License-Identifier: Apache-2.0
#include "app/setup/model_json.hpp"

namespace spsolve {

nlohmann::ordered_json model_of(const Candidate& candidate) {
  nlohmann::ordered_json json{{"C_flop", 2 * candidate.fma * candidate.fuse},
                              {"M_bytes", candidate.bytes * candidate.fuse},
                              {"I_flop_per_byte", candidate.intensity()},
                              {"P_flop_per_s", nullptr},
                              {"I_ridge", nullptr},
                              {"alpha", candidate.redundancy},
                              {"S", candidate.sparsity},
                              {"bound", candidate.bound},
                              {"scenario", candidate.spot.scenario},
                              {"speedup_roofline", candidate.spot.speedup},
                              {"speedup_model", candidate.spot.modelled_speedup},
                              {"verdict", to_string(candidate.spot.verdict())},
                              {"error_bound_per_step", candidate.error}};
  if (candidate.peak > 0) {
    json["P_flop_per_s"] = candidate.peak;
    json["I_ridge"] = candidate.ridge;
  }
  return json;
}

}  // namespace spsolve
