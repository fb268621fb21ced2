# Every target is compiled with these options.
add_library(spsolve_options INTERFACE)
target_link_libraries(spsolve_options INTERFACE OpenMP::OpenMP_CXX)
target_compile_options(spsolve_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Werror=return-type>)
# Products are fused only if the source calls std::fma, so results never depend on how a loop was vectorised.
target_compile_options(spsolve_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
# GCC frees memory less often, which takes a tenth less time and up to 300 MB more for each compile.
target_compile_options(spsolve_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>)
# Only the C interface of MPI is used. Open MPI would otherwise add its retired C++ bindings.
target_compile_definitions(spsolve_options INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
if(SPSOLVE_MARCH AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(spsolve_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=${SPSOLVE_MARCH}>)
endif()
if(SPSOLVE_SANITIZE)
  target_compile_options(spsolve_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined
    -fno-sanitize-recover=undefined -fno-omit-frame-pointer>)
  target_link_options(spsolve_options INTERFACE -fsanitize=address,undefined)
endif()

# spsolve_precompiled(NAME HEADERS header... LINK target... OPTIONS option...) compiles headers of libraries that many files
# include once. Targets that are compiled with the same options use them by target_precompile_headers(... REUSE_FROM NAME).
# Sources still include the headers that they use: the preset lint builds without precompiled headers, as
# ./dev lint does.
function(spsolve_precompiled name)
  cmake_parse_arguments(precompiled "" "" "HEADERS;LINK;OPTIONS" ${ARGN})
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled/empty.cpp CONTENT "")  # not touched again
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/precompiled/empty.cpp)
  target_link_libraries(${name} PRIVATE spsolve_options ${precompiled_LINK})
  target_compile_options(${name} PRIVATE ${precompiled_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${precompiled_HEADERS})
endfunction()
set(spsolve_standard_headers <algorithm> <array> <bit> <cmath> <cstdint> <cstdio> <cstring> <filesystem> <fstream> <functional> <map>
  <memory> <numeric> <optional> <set> <span> <sstream> <stdexcept> <string> <string_view> <thread> <utility> <variant> <vector>)
spsolve_precompiled(spsolve_precompiled_kernels HEADERS ${spsolve_standard_headers})
spsolve_precompiled(spsolve_precompiled_rooms HEADERS ${spsolve_standard_headers} <fmt/format.h> <fmt/ranges.h> <mpi.h>
  LINK fmt::fmt MPI::MPI_C)
# <nlohmann/json.hpp> is not among them: its inline functions use templates that every file would instantiate, so that including
# it takes as long precompiled as not.

# spsolve_room(NAME SOURCES file... LINK target... [PRECOMPILED target] [ALONE file...]) adds the library of one room. Headers are
# included as "room/file.hpp". Several sources are compiled as one (a unity build), except those named ALONE and those with
# options of their own: slow files, and files that are generated anew when others change.
function(spsolve_room name)
  cmake_parse_arguments(room "" "PRECOMPILED" "SOURCES;LINK;ALONE" ${ARGN})
  add_library(spsolve_${name} STATIC ${room_SOURCES})
  target_include_directories(spsolve_${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_link_libraries(spsolve_${name} PUBLIC ${room_LINK} PRIVATE spsolve_options)
  if(NOT room_PRECOMPILED)
    set(room_PRECOMPILED spsolve_precompiled_rooms)
  endif()
  target_precompile_headers(spsolve_${name} REUSE_FROM ${room_PRECOMPILED})
  set_property(TARGET spsolve_${name} PROPERTY precompiled ${room_PRECOMPILED})
  set_property(TARGET spsolve_${name} PROPERTY room_sources ${room_SOURCES})  # spsolve_optimise_little() moves some elsewhere
  set_source_files_properties(${room_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  spsolve_unite(spsolve_${name})
endfunction()

# spsolve_unite(TARGET) compiles sources of a target together, because most of the time of a compile goes to headers and to
# templates of libraries that neighbouring sources share. Batches are small, so that a change of one source compiles in seconds.
function(spsolve_unite target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${SPSOLVE_UNITY} UNITY_BUILD_BATCH_SIZE 5)
endfunction()

# spsolve_optimise_little(TARGET REGEX) compiles the sources of a room whose names match with -O1 in release builds. They run
# rarely. Their compiles take a fifth to a third less time than with -O3.
function(spsolve_optimise_little target regex)
  get_target_property(sources ${target} SOURCES)
  set(others ${sources})
  list(FILTER sources INCLUDE REGEX "${regex}")
  list(FILTER others EXCLUDE REGEX "${regex}")
  if(NOT sources)
    message(FATAL_ERROR "no source of ${target} matches ${regex}")
  endif()
  # Only sources of one target that have the same options are compiled together.
  add_library(${target}_once OBJECT ${sources})
  get_target_property(links ${target} LINK_LIBRARIES)
  get_target_property(precompiled ${target} precompiled)
  target_link_libraries(${target}_once PRIVATE ${links})
  target_include_directories(${target}_once PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  target_compile_definitions(${target}_once PRIVATE $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
  target_compile_options(${target}_once PRIVATE $<$<CONFIG:Release>:-O1>)
  target_precompile_headers(${target}_once REUSE_FROM ${precompiled})
  spsolve_unite(${target}_once)
  set_property(TARGET ${target} PROPERTY SOURCES ${others} $<TARGET_OBJECTS:${target}_once>)
endfunction()
