# How the project's own code is compiled; not exported to programs that link the library.
add_library(praxis_options INTERFACE)
target_compile_options(praxis_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Werror
  # False positives of g++ 12 in its own string and variant at -O2; clang checks the same without them.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-array-bounds;-Wno-tsan>)
if(PRAXIS_SANITIZE)
  add_compile_options(-fsanitize=${PRAXIS_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PRAXIS_SANITIZE})
endif()

# The allocator of the project's own programs; a host that links the library chooses its own. Sanitizers bring
# theirs.
add_library(praxis_allocator INTERFACE)
if(TARGET mimalloc AND NOT PRAXIS_SANITIZE)
  target_link_libraries(praxis_allocator INTERFACE -Wl,--no-as-needed mimalloc -Wl,--as-needed)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache requires this sloppiness when a precompiled header is used.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()

# Precompiling headers that nearly every file includes saves a third of a cold build. With OWNER, the
# precompiled headers of OWNER are reused: both must then be compiled with the same flags.
function(praxis_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OWNER" "HEADERS")
  if(arg_OWNER)
    target_precompile_headers(${target} REUSE_FROM ${arg_OWNER})
  else()
    target_precompile_headers(${target} PRIVATE <algorithm> <chrono> <expected> <functional> <map> <memory> <mutex>
      <optional> <string> <string_view> <variant> <vector> <boost/json.hpp> ${arg_HEADERS})
  endif()
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
                                           "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()

# clang-tidy runs together with the compiler, so only changed files are checked again (.clang-tidy lists the
# checks).
function(praxis_tidy target)
  if(PRAXIS_TIDY)
    find_program(CLANG_TIDY clang-tidy-19 REQUIRED)
    set_target_properties(${target} PROPERTIES CXX_CLANG_TIDY "${CLANG_TIDY};--quiet")
  endif()
endfunction()
