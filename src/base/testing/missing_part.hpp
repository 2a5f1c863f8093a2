// For tests that need a part that a machine may lack: a sandbox, a program, a public test suite.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

namespace praxis {

/// Returns whether a missing part fails a test: if PRAXIS_NO_SKIPS is set to 1, as in continuous integration.
inline bool missing_part_fails() {
  const char* set = std::getenv("PRAXIS_NO_SKIPS");
  return set != nullptr && *set == '1';
}

}  // namespace praxis

/// Ends the test because the machine lacks a part: skips it, or fails it if PRAXIS_NO_SKIPS=1. `why` may be
/// several values joined by `<<`.
#define PRAXIS_MISSING_PART(why)                       \
  do {                                                 \
    if (::praxis::missing_part_fails()) FAIL() << why; \
    GTEST_SKIP() << why;                               \
  } while (false)
