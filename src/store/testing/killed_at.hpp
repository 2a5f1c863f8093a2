// Kills at each step of a work that reports its steps.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string_view>

#include "praxis/base/result.hpp"

namespace praxis::testing {

/// Ends a process at step number `at` of `work`, which gets what to call at each step. False if there are
/// fewer steps.
template <class Work>
bool killed_at(int at, Work work) {
  const pid_t child = fork();
  if (child == 0) {
    int seen = 0;
    const Status done = work([&](std::string_view) {
      if (seen++ == at) _exit(7);
    });
    _exit(done ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_NE(WEXITSTATUS(status), 1) << "step " << at;
  return WEXITSTATUS(status) == 7;
}

}  // namespace praxis::testing
