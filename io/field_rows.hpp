// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "io/array_format.hpp"
#include "kernels/field.hpp"
#include "kernels/sampling.hpp"

namespace spsolve {

/// Returns the rows of a field in the storage type of `file`, each value rounded once. The field must outlive
/// it.
RowSource rows_of(const ReadableField& values, Precision file);

/// Returns the rows of a field as an array of a file. Values that need no rounding are written from where
/// they lie, or from where they arrive on the host. The field must outlive it.
NamedRows named_rows(const std::string& name, const ReadableField& values, Precision file);

/// Returns the rows of several fields, each under its name; there are as many names as fields.
std::vector<NamedRows> rows_of(const std::vector<std::string>& names,
                               const std::vector<ReadableField>& fields, Precision file);

/// Returns a sink that stores rows in the storage type of `file` into a field in host memory, each value
/// rounded once to the field's own type. The field must outlive it.
RowSink rows_into(Field& field, Precision file);

}  // namespace spsolve
