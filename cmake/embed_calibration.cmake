# cmake -DINPUT=file.json -DOUTPUT=file.cpp -P embed_calibration.cmake writes the coefficients of a calibration as C++: a table with
# the member of spsolve::Calibration for each. The compiler refuses coefficients without a member, and members without one.
file(READ "${INPUT}" json)
set(rows "")
set(count 0)
string(JSON groups LENGTH "${json}" groups)
math(EXPR last_group "${groups} - 1")
foreach(g RANGE ${last_group})
  string(JSON group GET "${json}" groups ${g})
  string(JSON group_name GET "${group}" group)
  string(JSON size LENGTH "${group}" coefficients)
  math(EXPR last "${size} - 1")
  foreach(i RANGE ${last})
    string(JSON name GET "${group}" coefficients ${i} name)
    string(JSON value GET "${group}" coefficients ${i} value)
    string(APPEND rows "      {\"${group_name}.${name}\", [](Calibration& c) -> double& { return c.${group_name}.${name}; }, ${value}},\n")
    math(EXPR count "${count} + 1")
  endforeach()
endforeach()
file(WRITE "${OUTPUT}" "// Generated from a file in calibration/.
#include \"kernels/calibration.hpp\"

namespace spsolve {

static_assert(sizeof(Calibration) == ${count} * sizeof(double), \"every member has a coefficient\");

const std::vector<Coefficient>& coefficients() {
  static const std::vector<Coefficient> all{
${rows}  };
  return all;
}

}  // namespace spsolve
")
