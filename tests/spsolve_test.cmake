# Settings with which tests start ranks: as root, the usual user in a container, and more ranks than cores. Messages use shared
# memory only, because the search for networks takes longer than most tests. mpirun ends the remains of a failed job at once
# instead of after a second.
set(mpirun ${MPIEXEC_EXECUTABLE} --oversubscribe ${MPIEXEC_NUMPROC_FLAG})
set(mpirun_environment
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1 OMP_NUM_THREADS=1
  OMPI_MCA_pml=ob1 OMPI_MCA_btl=^ofi OMPI_MCA_odls_base_sigkill_timeout=0)
# Threads that wait for others sleep at once, because other tests run beside.
set(threads_environment OMP_WAIT_POLICY=passive)
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)

set(test_headers ${spsolve_standard_headers} <fmt/format.h> <mpi.h> <gmock/gmock.h> <gtest/gtest.h>)
set(test_libraries fmt::fmt MPI::MPI_C GTest::gmock)
# The work of tests is in libraries: their own code has -Og instead of -O3, so that it compiles in about half of the time.
set(test_options $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-Og>)
spsolve_precompiled(spsolve_precompiled_tests HEADERS ${test_headers} LINK ${test_libraries} OPTIONS ${test_options})

add_library(spsolve_mpi_main OBJECT support/mpi_main.cpp)
target_link_libraries(spsolve_mpi_main PRIVATE spsolve_halo spsolve_test_support)
target_precompile_headers(spsolve_mpi_main REUSE_FROM spsolve_precompiled_tests)

# spsolve_refuse_further(NAME argument...) stops at arguments of NAME that no keyword takes, because they are misspelt.
function(spsolve_refuse_further name)
  if(ARGN)
    message(FATAL_ERROR "${name}: unknown arguments: ${ARGN}")
  endif()
endfunction()

# spsolve_test_program(NAME SOURCES file... LINK target...) adds a program of the tests.
function(spsolve_test_program name)
  cmake_parse_arguments(program "" "" "SOURCES;LINK" ${ARGN})
  spsolve_refuse_further(${name} ${program_UNPARSED_ARGUMENTS})
  add_executable(${name} ${program_SOURCES})
  target_link_libraries(${name} PRIVATE spsolve_test_fields ${program_LINK} spsolve_test_support)
  target_precompile_headers(${name} REUSE_FROM spsolve_precompiled_tests)
endfunction()

# spsolve_test(NAME SOURCES file... LINK target... [RANKS n...] [COST seconds]) adds one GoogleTest program. It runs once
# without mpirun, or once per number of ranks under mpirun (label mpi), where it fails if ranks wait for each other forever. Several
# sources of a test are compiled together, as those of rooms are.
# Tests without mpirun start in the order of their COST, the largest first, so that none is left to run alone at the end.
function(spsolve_test name)
  cmake_parse_arguments(test "" "COST" "SOURCES;LINK;RANKS;LABELS" ${ARGN})
  spsolve_refuse_further(${name} ${test_UNPARSED_ARGUMENTS})
  spsolve_test_program(${name} SOURCES ${test_SOURCES} LINK ${test_LINK})
  list(LENGTH test_SOURCES sources)
  if(sources GREATER 1)
    spsolve_unite(${name})
  endif()
  if(NOT test_RANKS)
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS "unit;${test_LABELS}" ENVIRONMENT "${threads_environment}")
    if(test_COST)
      set_tests_properties(${name} PROPERTIES COST ${test_COST})
    endif()
    return()
  endif()
  target_link_libraries(${name} PRIVATE spsolve_mpi_main MPI::MPI_C)
  foreach(ranks ${test_RANKS})
    add_test(NAME ${name}_${ranks} COMMAND ${mpirun} ${ranks} $<TARGET_FILE:${name}>)
    # PROCESSORS keeps ctest -j from starting more ranks than the machine has cores (capped, so that 8 ranks run on 2).
    set(processors ${ranks})
    if(processors GREATER cores)
      set(processors ${cores})
    endif()
    set_tests_properties(${name}_${ranks} PROPERTIES LABELS "mpi;${test_LABELS}" PROCESSORS ${processors} TIMEOUT 300
      ENVIRONMENT "${mpirun_environment}")
  endforeach()
endfunction()
