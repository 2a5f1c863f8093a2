# How the project's own code is compiled; not exported to programs that link the library.
add_library(praxis_options INTERFACE)
target_compile_options(praxis_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Werror
  # False positives of g++ 12 in its own string and variant at -O2; clang checks the same without them.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-array-bounds;-Wno-tsan>)
if(PRAXIS_SANITIZE)
  add_compile_options(-fsanitize=${PRAXIS_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(PRAXIS_SANITIZE MATCHES "undefined")
    # These three cost as much as all other checks together, and AddressSanitizer sees most of what they do.
    add_compile_options(-fno-sanitize=null,alignment,vptr)
  endif()
  add_link_options(-fsanitize=${PRAXIS_SANITIZE})
endif()

# Where it is installed, LLVM's linker links the programs of tests in a sixth of the time. What is installed or measured
# (Release) is always linked by the linker of the compiler.
find_program(PRAXIS_LLD ld.lld PATHS /usr/lib/llvm-19/bin NO_DEFAULT_PATH)
mark_as_advanced(PRAXIS_LLD)
if(PRAXIS_LLD AND CMAKE_BUILD_TYPE STREQUAL Debug)
  cmake_path(GET PRAXIS_LLD PARENT_PATH lld_folder)
  add_link_options(-fuse-ld=lld $<$<CXX_COMPILER_ID:GNU>:-B${lld_folder}>)
endif()

# The same source gives the same bytes, in whichever folder it is built: no path of it is in a release, and what the
# compiler would draw at random follows from the name of the object.
if(CMAKE_BUILD_TYPE STREQUAL Release)
  add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    string(REPLACE "<FLAGS>" "<FLAGS> -frandom-seed=<OBJECT>" CMAKE_CXX_COMPILE_OBJECT "${CMAKE_CXX_COMPILE_OBJECT}")
  endif()
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

# Compiles the sources of each folder and component together, at most PRAXIS_UNITY at a time, so that the compiler
# reads the headers that they share once. Names in unnamed namespaces must therefore be unique within a folder. A build with
# PRAXIS_UNITY=0 checks that each file includes what it needs.
set(PRAXIS_UNITY 0 CACHE STRING "How many sources of one folder are compiled together at most; 0 compiles each alone")
function(praxis_unity target)
  if(NOT PRAXIS_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Many sources at once need some 600 MB; freeing what is dead of it takes 6 % of the time and saves a sixth.
    target_compile_options(${target} PRIVATE --param ggc-min-heapsize=2000000)
  endif()
  get_target_property(sources ${target} SOURCES)
  set(folders "")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
    cmake_path(REMOVE_FILENAME folder)
    praxis_component_of(component ${source})
    string(MAKE_C_IDENTIFIER ${folder}${component}_ folder)
    list(APPEND folders ${folder})
    list(APPEND in_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    list(LENGTH in_${folder} count)
    math(EXPR units "(${count} + ${PRAXIS_UNITY} - 1) / ${PRAXIS_UNITY}")
    set(at 0)
    foreach(source IN LISTS in_${folder})
      math(EXPR unit "${at} * ${units} / ${count}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}${unit})
      math(EXPR at "${at} + 1")
    endforeach()
  endforeach()
endfunction()
