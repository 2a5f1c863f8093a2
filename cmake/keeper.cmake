# The program that watches over processes, and locks the box from inside (src/box). It is started from memory, by
# whoever links the library, so it is static, free of sanitizers, and a part of the library as bytes.
file(GLOB keeper_sources CONFIGURE_DEPENDS src/box/*.cpp)
add_executable(praxis_keeper ${keeper_sources} src/base/keeper_protocol.cpp)
set_target_properties(praxis_keeper PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
                                               POSITION_INDEPENDENT_CODE OFF)
target_include_directories(praxis_keeper PRIVATE src include)
target_compile_options(praxis_keeper PRIVATE -fno-sanitize=all -Os -g0 -ffunction-sections -fdata-sections)
target_link_options(praxis_keeper PRIVATE -fno-sanitize=all -static -s -Wl,--gc-sections)
target_link_libraries(praxis_keeper PRIVATE praxis_options ${SECCOMP_STATIC})
praxis_tidy(praxis_keeper)

add_dependencies(praxis praxis_keeper)
set_source_files_properties(src/base/keeper_image.cpp PROPERTIES
  COMPILE_DEFINITIONS PRAXIS_BINARY_DIR="${PROJECT_BINARY_DIR}"
  OBJECT_DEPENDS ${PROJECT_BINARY_DIR}/praxis_keeper
  SKIP_PRECOMPILE_HEADERS ON)
