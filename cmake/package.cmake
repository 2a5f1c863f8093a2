# The Debian packages of `make package`: praxis (the program), libpraxis-c (C and Python) and libpraxis-dev (C++).
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
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_COMPONENTS_ALL Unspecified c python static headers)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENT_UNSPECIFIED_GROUP tool)
set(CPACK_COMPONENT_C_GROUP c)
set(CPACK_COMPONENT_PYTHON_GROUP c)
set(CPACK_COMPONENT_STATIC_GROUP dev)
set(CPACK_COMPONENT_HEADERS_GROUP dev)

set(CPACK_DEBIAN_TOOL_PACKAGE_NAME praxis)
set(CPACK_DEBIAN_TOOL_DESCRIPTION "Runs agents so that every step is journaled before it starts: a run survives
a crash and can be replayed, forked and rewound.")
# Programs of agents run in bubblewrap; times of day need the zones.
set(CPACK_DEBIAN_TOOL_PACKAGE_RECOMMENDS "bubblewrap, tzdata")

set(CPACK_DEBIAN_C_PACKAGE_NAME libpraxis-c)
set(CPACK_DEBIAN_C_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_C_DESCRIPTION "The shared library with the functions of praxis.h, its header, and the
package for Python.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libpraxis-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libsodium-dev, libre2-dev, libssl-dev, libsqlite3-dev, zlib1g-dev, libyaml-dev, libtomlplusplus-dev")
set(CPACK_DEBIAN_DEV_DESCRIPTION "The static library and the headers.")
include(CPack)
