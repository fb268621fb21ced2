# This file lists what `cmake --install` and the Debian package hold besides the program, and configures `cpack -G DEB`.
install(FILES packaging/spsolve.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES packaging/spsolve.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME spsolve)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_NAME spsolve)
set(CPACK_PACKAGE_CONTACT "spsolve developers")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS openmpi-bin)  # without its daemon not even a run without mpirun starts
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-h5py, python3-xarray, paraview")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "distributed solver of stencils and systems of equations")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Solves heat, transport, wave, filter and reaction problems on regular grids of
one to three dimensions, on any number of MPI ranks.
.
It was compiled for ${CMAKE_SYSTEM_PROCESSOR}, instruction set ${SPSOLVE_MARCH}.")
include(CPack)
