// What models of evaluations in tests share: the case that a request asks about, and the answer "yes".
#pragma once

#include <cstdlib>
#include <string>

#include "net/testing/test_server.hpp"

namespace praxis::testing {

/// The number in "case N" of a request; 0 without one.
inline int case_of(const TestRequest& request) {
  const auto at = request.body.find("case ");
  return at == std::string::npos ? 0 : std::atoi(request.body.c_str() + at + 5);
}

inline std::string yes_reply() {
  return http_reply(
      200,
      R"({"id":"r","model":"demo-1","choices":[{"index":0,"message":{"content":"yes"},"finish_reason":"stop"}]})");
}

}  // namespace praxis::testing
