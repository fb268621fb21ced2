// SPDX-License-Identifier: Apache-2.0
// Compiles correlate_rows_widest() for formats of 16 bits, and between them and the fp32 of intermediate time
// levels.
#include "kernels/cpu/correlate_rows.hpp"

namespace spsolve {

template void correlate_rows_widest(const Rows<Bfloat16, Bfloat16>&);
template void correlate_rows_widest(const Rows<Bfloat16, float>&);
template void correlate_rows_widest(const Rows<float, Bfloat16>&);
template void correlate_rows_widest(const Rows<Half, Half>&);
template void correlate_rows_widest(const Rows<Half, float>&);
template void correlate_rows_widest(const Rows<float, Half>&);

}  // namespace spsolve
