# The files that `make install` copies: library, headers, binary with its pages, and the files for
# find_package and pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(PRAXIS_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/praxis)
install(TARGETS praxis EXPORT praxis)
install(DIRECTORY include/praxis DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp)
install(EXPORT praxis NAMESPACE praxis:: FILE praxisTargets.cmake DESTINATION ${PRAXIS_CMAKE_DIR})
write_basic_package_version_file(praxisConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/praxisConfig.cmake ${PROJECT_BINARY_DIR}/praxisConfigVersion.cmake DESTINATION ${PRAXIS_CMAKE_DIR})

# The prefix as seen from the .pc file, so that an installed tree can be moved.
file(RELATIVE_PATH PRAXIS_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" PRAXIS_PC_PREFIX "${PRAXIS_PC_PREFIX}")
configure_file(cmake/praxis.pc.in praxis.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/praxis.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES LICENSE CHANGELOG.md TYPE DOC)
install(FILES share/praxis/agent.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/praxis)
install(TARGETS praxis_cli)
install(CODE "set(PRAXIS_BINARY \"$<TARGET_FILE:praxis_cli>\")")
install(SCRIPT cmake/install_pages.cmake)
