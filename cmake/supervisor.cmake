# The supervisor of programs, which also applies the sandbox's restrictions from inside
# (src/process/supervisor). The library embeds it as bytes and starts it from memory in any host process, so
# it is static and free of sanitizers.
file(GLOB supervisor_sources CONFIGURE_DEPENDS src/process/supervisor/*.cpp)
add_executable(praxis_supervisor ${supervisor_sources} src/process/supervisor_protocol.cpp
  src/base/held_files.cpp src/base/open_beneath.cpp)
set_target_properties(praxis_supervisor PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
                                               POSITION_INDEPENDENT_CODE OFF)
target_include_directories(praxis_supervisor PRIVATE src include)
target_compile_options(praxis_supervisor PRIVATE -fno-sanitize=all -Os -g0 -ffunction-sections -fdata-sections)
target_link_options(praxis_supervisor PRIVATE -fno-sanitize=all -static -s -Wl,--gc-sections)
target_link_libraries(praxis_supervisor PRIVATE praxis_options ${SECCOMP_STATIC})
praxis_unity(praxis_supervisor)

add_dependencies(praxis_library praxis_supervisor)
set_source_files_properties(src/process/supervisor_image.cpp PROPERTIES
  COMPILE_DEFINITIONS PRAXIS_BINARY_DIR="${PROJECT_BINARY_DIR}"
  OBJECT_DEPENDS ${PROJECT_BINARY_DIR}/praxis_supervisor
  SKIP_PRECOMPILE_HEADERS ON)
