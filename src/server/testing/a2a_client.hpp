// Requests of a client of A2A 1.0.
#pragma once

#include <string>
#include <string_view>

#include "server/testing/served.hpp"

namespace praxis::server::testing {

class A2aClientTest : public ServerTest {
 protected:
  static constexpr std::string_view kVersionHeader = "A2A-Version: 1.0\r\n";

  Answer rest(std::string_view method, const std::string& path, std::string_view body = {},
              std::string_view token = kOwner) const {
    return call(method, "/a2a/" + path, body, token, kVersionHeader);
  }
  Answer rpc(const std::string& agent, const std::string& method, const std::string& params,
             std::string_view token = kOwner) const {
    return call("POST", "/a2a/" + agent,
                R"({"jsonrpc":"2.0","id":7,"method":")" + method + R"(","params":)" + params + "}", token,
                kVersionHeader);
  }
};

}  // namespace praxis::server::testing
