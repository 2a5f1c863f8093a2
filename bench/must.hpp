// What a program does that has nobody to report to.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "praxis/base/result.hpp"

namespace praxis::bench {

/// The value; an error is printed and ends the program with status 1.
template <class T>
T must(Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

}  // namespace praxis::bench
