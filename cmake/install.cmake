# The files that `make install` copies: library, headers, binary with its pages, and the files for find_package
# and pkg-config. BUILD_SHARED_LIBS decides which library `cmake --install` takes; the components `static` and
# `shared` of the installation are one each.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(PRAXIS_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/praxis)

# What a static program takes from pkg-config.
set(pc_core libsodium re2)
set(pc_http libssl libcrypto)
set(pc_sqlite sqlite3)
set(pc_tools zlib yaml-0.1)
set(pc_app tomlplusplus)
# The prefix as seen from the .pc file, so that an installed tree can be moved.
file(RELATIVE_PATH PRAXIS_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" PRAXIS_PC_PREFIX "${PRAXIS_PC_PREFIX}")

function(praxis_install_library linkage target)
  set(by_default "")
  if((linkage STREQUAL shared AND NOT BUILD_SHARED_LIBS) OR (linkage STREQUAL static AND BUILD_SHARED_LIBS))
    set(by_default EXCLUDE_FROM_ALL)
  endif()
  set_target_properties(${target} PROPERTIES EXPORT_NAME library)
  install(TARGETS ${target} EXPORT praxis_${linkage} COMPONENT ${linkage} ${by_default})
  install(EXPORT praxis_${linkage} NAMESPACE praxis:: FILE praxis_${linkage}.cmake DESTINATION ${PRAXIS_CMAKE_DIR}
          COMPONENT ${linkage} ${by_default})

  set(folder ${PROJECT_BINARY_DIR}/package/${linkage})
  set(PRAXIS_LINKAGE ${linkage})
  configure_file(cmake/praxisConfig.cmake.in ${folder}/praxisConfig.cmake @ONLY)
  set(PRAXIS_PC_LIBS "-lpraxis -pthread")
  set(PRAXIS_PC_REQUIRES "")
  if(linkage STREQUAL static)
    foreach(component IN LISTS praxis_components)
      list(JOIN pc_${component} " " modules)
      string(APPEND PRAXIS_PC_REQUIRES " ${modules}")
      foreach(link IN LISTS praxis_links_${component})
        if(link MATCHES "^LINKER:(.*)")
          string(PREPEND PRAXIS_PC_LIBS "-Wl,${CMAKE_MATCH_1} ")
        endif()
      endforeach()
    endforeach()
  endif()
  configure_file(cmake/praxis.pc.in ${folder}/praxis.pc @ONLY)
  install(FILES ${folder}/praxisConfig.cmake DESTINATION ${PRAXIS_CMAKE_DIR} COMPONENT ${linkage} ${by_default})
  install(FILES ${folder}/praxis.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${linkage} ${by_default})
endfunction()
praxis_install_library(static praxis_library)
set(exclude_static "")
if(BUILD_SHARED_LIBS)
  set(exclude_static EXCLUDE_FROM_ALL)
endif()
install(CODE "set(OBJCOPY \"${CMAKE_OBJCOPY}\")
set(ARCHIVE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libpraxis.a\")
include(\"${PROJECT_SOURCE_DIR}/cmake/strip_lto.cmake\")" COMPONENT static ${exclude_static})
praxis_install_library(shared praxis_shared)

install(DIRECTORY include/praxis DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT headers FILES_MATCHING PATTERN *.hpp)
write_basic_package_version_file(praxisConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/praxisConfigVersion.cmake cmake/praxisComponents.cmake DESTINATION ${PRAXIS_CMAKE_DIR}
        COMPONENT headers)

install(FILES LICENSE CHANGELOG.md README.md TYPE DOC)
install(DIRECTORY docs examples TYPE DOC PATTERN CMakeLists.txt EXCLUDE PATTERN check EXCLUDE)
install(FILES share/praxis/agent.schema.json share/praxis/config.schema.json share/praxis/openapi.json
              share/praxis/output.schema.json
        DESTINATION ${CMAKE_INSTALL_DATADIR}/praxis)
if(PRAXIS_COMPLETE)
  install(TARGETS praxis_c COMPONENT c)
  install(FILES include/praxis/praxis.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/praxis COMPONENT c)
  configure_file(cmake/praxis_c.pc.in ${PROJECT_BINARY_DIR}/package/praxis_c.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/praxis_c.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT c)
  # A package of a distribution puts it where all versions of Python look: lib/python3/dist-packages.
  set(PRAXIS_PYTHON_DIR "lib/python3.11/dist-packages" CACHE STRING "Folder of the Python package, below the prefix")
  install(DIRECTORY python/praxis DESTINATION ${PRAXIS_PYTHON_DIR} COMPONENT python PATTERN __pycache__ EXCLUDE)
  install(TARGETS praxis_cli)
  install(CODE "set(PRAXIS_BINARY \"$<TARGET_FILE:praxis_cli>\")")
  install(SCRIPT cmake/install_pages.cmake)
endif()
