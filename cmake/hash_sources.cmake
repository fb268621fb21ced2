# cmake -DOUTPUT=file.cpp -P hash_sources.cmake file... writes a hash over the contents of files as C++. The file is not
# touched if the hash is the same.
cmake_minimum_required(VERSION 3.25)
set(all "")
math(EXPR last "${CMAKE_ARGC} - 1")
set(after_script FALSE)
foreach(i RANGE ${last})
  set(file "${CMAKE_ARGV${i}}")
  if(after_script)
    file(SHA256 "${file}" hash)
    string(APPEND all "${file} ${hash}\n")
  elseif(file MATCHES "hash_sources.cmake$")
    set(after_script TRUE)
  endif()
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING "${hash}" 0 16 hash)
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "// Generated from the sources of kernels and of the plan.
#include \"app/setup/kernels_hash.hpp\"

namespace spsolve {

const char* const kernels_hash = \"@hash@\";

}  // namespace spsolve
" @ONLY)
