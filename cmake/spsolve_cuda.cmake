# CUDA is used when nvcc is there; -DSPSOLVE_CUDA=OFF builds without it.
if(SPSOLVE_CUDA STREQUAL "AUTO")
  include(CheckLanguage)
  check_language(CUDA)
  set(spsolve_with_cuda ${CMAKE_CUDA_COMPILER})
else()
  set(spsolve_with_cuda ${SPSOLVE_CUDA})
endif()
if(spsolve_with_cuda)
  find_package(CUDAToolkit 12.8 REQUIRED)  # cudaLibrary_t
  message(STATUS "spsolve: with CUDA ${CUDAToolkit_VERSION}")
else()
  message(STATUS "spsolve: without CUDA (CPU unit only)")
endif()
