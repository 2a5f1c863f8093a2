// Error handling for programs that only report to the terminal.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "praxis/base/result.hpp"

namespace praxis::bench {

/// Returns the value; prints an error and ends the program with status 1.
template <class T>
T must(Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

/// The same without a value.
inline void must(const Status& status) {
  if (status) return;
  std::fprintf(stderr, "%s\n", status.error().message.c_str());
  std::exit(1);
}

}  // namespace praxis::bench
