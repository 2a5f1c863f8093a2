# Compiled for what it does (docs/performance.md): a build with PRAXIS_PROFILE=record has a program, praxis_training,
# that notes which ways the library takes; a build with PRAXIS_PROFILE=FOLDER lays the library out for the ways noted.
set(PRAXIS_PROFILE "" CACHE STRING "record, or the folder `profile` of a build that did (g++ only)")
if(PRAXIS_PROFILE AND NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  message(FATAL_ERROR "PRAXIS_PROFILE is for g++: its notes mean nothing to ${CMAKE_CXX_COMPILER_ID}. Leave it empty.")
endif()
if(PRAXIS_PROFILE STREQUAL record)
  # Both builds name what they noted by the way to it from their own folders, so that one finds the other's.
  target_compile_options(praxis PRIVATE -fprofile-generate=${PROJECT_BINARY_DIR}/profile -fprofile-update=prefer-atomic
                                        -fprofile-prefix-path=${PROJECT_BINARY_DIR})
elseif(PRAXIS_PROFILE)
  # What the training does not reach is compiled as ever, as is what was changed since.
  target_compile_options(praxis PRIVATE -fprofile-use=${PRAXIS_PROFILE} -fprofile-partial-training
                                        -fprofile-prefix-path=${PROJECT_BINARY_DIR}
                                        -Wno-coverage-mismatch -Wno-missing-profile)
endif()
