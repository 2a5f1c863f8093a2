# Profile-guided optimisation (docs/performance.md): a build with PRAXIS_PROFILE=record has a program,
# praxis_training, that records which paths the library takes; a build with PRAXIS_PROFILE=FOLDER optimises
# for the recorded paths.
set(PRAXIS_PROFILE "" CACHE STRING "`record`, or the folder `profile` of a build that recorded (g++ only)")
if(PRAXIS_PROFILE AND NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  message(FATAL_ERROR "PRAXIS_PROFILE needs g++: ${CMAKE_CXX_COMPILER_ID} cannot read its profiles. Leave it empty.")
endif()
if(PRAXIS_PROFILE STREQUAL record)
  # Both builds name profile files relative to their own folders, so that one finds the other's.
  target_compile_options(praxis_library PRIVATE -fprofile-generate=${PROJECT_BINARY_DIR}/profile -fprofile-update=prefer-atomic
                                        -fprofile-prefix-path=${PROJECT_BINARY_DIR})
elseif(PRAXIS_PROFILE)
  # Code that the training does not reach, or that has changed since, is compiled as usual.
  target_compile_options(praxis_library PRIVATE -fprofile-use=${PRAXIS_PROFILE} -fprofile-partial-training
                                        -fprofile-prefix-path=${PROJECT_BINARY_DIR}
                                        -Wno-coverage-mismatch -Wno-missing-profile)
endif()
