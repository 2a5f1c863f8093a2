# The C interface: a shared library of its own, made of the objects of the library that exist anyway. It shows the functions
# of praxis.h only (src/capi/exports.map), so it cannot collide with another copy of the library in the same process.
file(GLOB praxis_capi_sources CONFIGURE_DEPENDS src/capi/*.cpp)
list(FILTER praxis_capi_sources EXCLUDE REGEX "_test\\.cpp$")
add_library(praxis_c SHARED ${praxis_capi_sources})
target_include_directories(praxis_c PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> PRIVATE src)
target_compile_definitions(praxis_c PRIVATE PRAXIS_VERSION="${PROJECT_VERSION}"
                                            [[BOOST_JSON_DECL=__attribute__((visibility("default")))]]
                                            [[BOOST_JSON_CLASS_DECL=__attribute__((visibility("default")))]])
target_compile_options(praxis_c PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-attributes>)
target_link_libraries(praxis_c PRIVATE praxis praxis_options)
target_link_options(praxis_c PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/src/capi/exports.map
                                     LINKER:--exclude-libs,ALL)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # the objects hold machine code too: the library is not optimised a second time
  target_link_options(praxis_c PRIVATE -fno-lto)
endif()
if(NOT PRAXIS_SANITIZE)  # the functions of a sanitizer are in the program
  target_link_options(praxis_c PRIVATE LINKER:--no-undefined)
endif()
set_target_properties(praxis_c PROPERTIES CXX_VISIBILITY_PRESET hidden VERSION ${PROJECT_VERSION}
                                          SOVERSION ${PRAXIS_SOVERSION} LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/capi/exports.map)
praxis_unity(praxis_c)
