// A model that is in the middle of its answer until a test lets it end, so that an observer surely comes in
// time.
#pragma once

#include <cstdlib>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "net/testing/test_server.hpp"

namespace praxis::server::testing {

/// Redaction would hold back the last word, which a later piece could turn into a secret.
inline constexpr const char* kExactEvents = "[policy.redact]\nevents = \"off\"\n";

/// A model whose answer is "Hello there", or other pieces, and then "." when it may end.
class WaitingModel {
 public:
  explicit WaitingModel(std::vector<std::string> pieces = {"Hello ", "there"}) : pieces_(std::move(pieces)) {
    setenv("OPENAI_BASE_URL", server_.url("/v1").c_str(), 1);
    setenv("NO_PROXY", "127.0.0.1", 1);
  }
  void end() { may_end_.set_value(); }

 private:
  static std::string piece(const std::string& text) {
    return std::string(R"(data: {"choices":[{"index":0,"delta":{"content":")") + text + "\"}}]}\n\n";
  }

  const std::vector<std::string> pieces_;
  std::promise<void> may_end_;
  TestServer server_{[this, ending = may_end_.get_future().share()](const TestRequest&, TestConnection& to) {
    std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    for (const std::string& text : pieces_) head += piece(text);
    to.write(head);
    ending.wait();
    to.write(
        piece(".") +
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    to.close();
  }};
};

}  // namespace praxis::server::testing
