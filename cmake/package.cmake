# The Debian packages of `make package`: praxis (the program), libpraxis-cVERSION (for C and other languages),
# python3-praxis and libpraxis-dev (C and C++). tests/package/check installs them in a clean system.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME praxis)
set(CPACK_PACKAGE_VENDOR Praxis)
set(CPACK_PACKAGE_CONTACT "Praxis maintainers <praxis@localhost>" CACHE STRING "Maintainer of the packages")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)

# The same source gives the same packages.
include(cmake/source_time.cmake)
set(CPACK_PRAXIS_TIME ${PRAXIS_TIME})
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package_time.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package_files.cmake)

# The log of changes in Debian's form.
set(packaging ${PROJECT_BINARY_DIR}/package/debian)
execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C date --utc --rfc-email --date=@${PRAXIS_TIME}
                OUTPUT_VARIABLE changed OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${packaging}/changelog "praxis (${PROJECT_VERSION}) unstable; urgency=medium

  * /usr/share/doc/praxis/CHANGELOG.md says what changed.

 -- ${CPACK_PACKAGE_CONTACT}  ${changed}
")
execute_process(COMMAND gzip -9nf changelog WORKING_DIRECTORY ${packaging} COMMAND_ERROR_IS_FATAL ANY)

# praxis_package(GROUP NAME COMPONENT...): a package with these components of the installation.
function(praxis_package group name)
  set(own ${group}_package)
  install(FILES ${packaging}/changelog.gz share/debian/copyright DESTINATION share/doc/${name} COMPONENT ${own} EXCLUDE_FROM_ALL)
  set(overrides ${packaging}/${group}/${name})
  configure_file(share/debian/${group}.overrides ${overrides})
  install(FILES ${overrides} DESTINATION share/lintian/overrides COMPONENT ${own} EXCLUDE_FROM_ALL)
  foreach(component IN LISTS ARGN own)
    string(TOUPPER ${component} COMPONENT)
    set(CPACK_COMPONENT_${COMPONENT}_GROUP ${group} PARENT_SCOPE)
  endforeach()
  string(TOUPPER ${group} GROUP)
  set(CPACK_DEBIAN_${GROUP}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${ARGN} ${own} PARENT_SCOPE)
endfunction()
set(c_package libpraxis-c${PRAXIS_SOVERSION})
set(CPACK_COMPONENTS_ALL "")
praxis_package(tool praxis Unspecified)
praxis_package(c ${c_package} c)
praxis_package(python python3-praxis python)
praxis_package(dev libpraxis-dev static headers c_dev)

set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOL_DESCRIPTION "Runs agents so that every step is journaled before it starts: a run survives
a crash and can be replayed, forked and rewound.")
# The program of the template engines is within the binary, where dpkg-shlibdeps does not see it.
set(CPACK_DEBIAN_TOOL_PACKAGE_DEPENDS "libduktape207")
# Programs of agents run in bubblewrap; times of day need the zones, https the authorities.
set(CPACK_DEBIAN_TOOL_PACKAGE_RECOMMENDS "bubblewrap, ca-certificates, tzdata")
# A journal or memory in PostgreSQL, memory in Redis, documents in PDF, secrets in the keyring of the desktop.
set(CPACK_DEBIAN_TOOL_PACKAGE_SUGGESTS "libpq5, libhiredis0.14, poppler-utils, libsecret-tools")

set(CPACK_DEBIAN_C_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_C_DESCRIPTION "The shared library with the functions of praxis.h.")
set(CPACK_DEBIAN_C_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_C_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/share/debian/triggers)

set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3, ${c_package} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/share/debian/python/postinst
    ${PROJECT_SOURCE_DIR}/share/debian/python/prerm)
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "Agents in Python, on the shared library for C.")

set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
string(JOIN ", " CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${c_package} (= ${PROJECT_VERSION})" libsodium-dev libre2-dev libssl-dev
       libsqlite3-dev zlib1g-dev libyaml-dev libtomlplusplus-dev)
set(CPACK_DEBIAN_DEV_DESCRIPTION "The headers for C and C++, and the static library for C++.")
include(CPack)
