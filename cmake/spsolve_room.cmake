# What every target is compiled with.
add_library(spsolve_options INTERFACE)
target_compile_options(spsolve_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Werror=return-type>)
# Products are fused only where the source says std::fma, so a result never depends on how a loop was vectorised.
target_compile_options(spsolve_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
# The C interface of MPI only: Open MPI would otherwise drag its retired C++ bindings in.
target_compile_definitions(spsolve_options INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
if(SPSOLVE_MARCH AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(spsolve_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=${SPSOLVE_MARCH}>)
endif()
if(SPSOLVE_SANITIZE)
  target_compile_options(spsolve_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined
    -fno-sanitize-recover=undefined -fno-omit-frame-pointer>)
  target_link_options(spsolve_options INTERFACE -fsanitize=address,undefined)
endif()

# spsolve_room(NAME SOURCES file... LINK target...): the library of one room; headers are included as "room/file.hpp".
function(spsolve_room name)
  cmake_parse_arguments(room "" "" "SOURCES;LINK" ${ARGN})
  add_library(spsolve_${name} STATIC ${room_SOURCES})
  target_include_directories(spsolve_${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_link_libraries(spsolve_${name} PUBLIC ${room_LINK} PRIVATE spsolve_options)
endfunction()
