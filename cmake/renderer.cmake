# The program that renders templates (src/prompts/renderer). The library embeds it as bytes and starts it from memory when
# a template needs it; only then must Duktape be there. The engines are embedded in it if scripts/build-templates bundled
# them.
find_library(DUKTAPE duktape REQUIRED)
add_executable(praxis_renderer src/prompts/renderer/main.cpp)
set_target_properties(praxis_renderer PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_include_directories(praxis_renderer PRIVATE src include)
target_compile_options(praxis_renderer PRIVATE -fno-sanitize=all -Os -g0)
target_link_options(praxis_renderer PRIVATE -fno-sanitize=all -s)
target_link_libraries(praxis_renderer PRIVATE praxis_options ${SECCOMP_STATIC} ${DUKTAPE})
set(PRAXIS_TEMPLATES "${PROJECT_SOURCE_DIR}/build/templates" CACHE PATH "Folder into which scripts/build-templates wrote the template engines")
if(EXISTS ${PRAXIS_TEMPLATES}/engines.js)
  set_source_files_properties(src/prompts/renderer/main.cpp PROPERTIES
    COMPILE_DEFINITIONS PRAXIS_TEMPLATES="${PRAXIS_TEMPLATES}/engines.js" OBJECT_DEPENDS ${PRAXIS_TEMPLATES}/engines.js)
endif()

add_dependencies(praxis_library praxis_renderer)
set_source_files_properties(src/prompts/renderer_image.cpp PROPERTIES
  COMPILE_DEFINITIONS PRAXIS_BINARY_DIR="${PROJECT_BINARY_DIR}"
  OBJECT_DEPENDS ${PROJECT_BINARY_DIR}/praxis_renderer
  SKIP_PRECOMPILE_HEADERS ON)
