# The program `praxis`. Its commands are a library of their own, for their tests.
file(GLOB praxis_cli_sources CONFIGURE_DEPENDS src/cli/*.cpp)
file(GLOB praxis_surface_sources CONFIGURE_DEPENDS src/server/*.cpp src/protocols/*.cpp src/tui/*.cpp src/evals/*.cpp src/telemetry/*.cpp)
list(FILTER praxis_surface_sources EXCLUDE REGEX "_test\\.cpp$")
list(FILTER praxis_cli_sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
add_library(praxis_commands OBJECT ${praxis_cli_sources} ${praxis_surface_sources})
target_include_directories(praxis_commands PUBLIC src)
target_compile_definitions(praxis_commands PRIVATE PRAXIS_VERSION="${PROJECT_VERSION}")
target_link_libraries(praxis_commands PUBLIC praxis praxis_options CLI11::CLI11 tomlplusplus::tomlplusplus fmt::fmt
                                             PkgConfig::md4c)
praxis_unity(praxis_commands)
add_executable(praxis_cli src/cli/main.cpp)
set_target_properties(praxis_cli PROPERTIES OUTPUT_NAME praxis)
target_link_libraries(praxis_cli PRIVATE praxis_allocator praxis_commands)
# The page of `praxis serve` is embedded as bytes if it was built (`make page`); the file depends on nothing else.
set(PRAXIS_PAGE "${PROJECT_SOURCE_DIR}/build/page" CACHE PATH "Folder into which scripts/build-page wrote the page")
if(EXISTS ${PRAXIS_PAGE}/page.pack)
  set_source_files_properties(src/server/page_pack.cpp PROPERTIES
    COMPILE_DEFINITIONS PRAXIS_PAGE_PACK="${PRAXIS_PAGE}/page.pack" OBJECT_DEPENDS ${PRAXIS_PAGE}/page.pack)
endif()
set_source_files_properties(src/server/page_pack.cpp PROPERTIES
  SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
