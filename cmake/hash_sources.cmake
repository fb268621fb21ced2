# cmake -DOUTPUT=file.cpp -P hash_sources.cmake file... writes a hash over the contents of files as C++. The file is not
# touched if the hash is the same.
include(${CMAKE_CURRENT_LIST_DIR}/script_files.cmake)
set(all "")
foreach(file IN LISTS script_files)
  file(SHA256 "${file}" hash)
  string(APPEND all "${file} ${hash}\n")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING "${hash}" 0 16 hash)
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "// Generated from the sources of kernels and of the plan.
#include \"app/setup/kernels_hash.hpp\"

namespace spsolve {

const char* const kernels_hash = \"@hash@\";

}  // namespace spsolve
" @ONLY)
