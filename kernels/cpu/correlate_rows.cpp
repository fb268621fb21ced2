// SPDX-License-Identifier: Apache-2.0
// Compiles correlate_rows_widest() for formats of at least 32 bits.
#include "kernels/cpu/correlate_rows.hpp"

namespace spsolve {

template void correlate_rows_widest(const Rows<double, double>&);
template void correlate_rows_widest(const Rows<float, float>&);
template void correlate_rows_widest(const Rows<Tf32, Tf32>&);

}  // namespace spsolve
