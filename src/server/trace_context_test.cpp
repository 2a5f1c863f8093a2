// Runs that are started over HTTP belong to the trace of the client that names its span.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "praxis/core/records.hpp"
#include "praxis/journal/journal.hpp"
#include "praxis/logs/logs.hpp"
#include "server/testing/served.hpp"
#include "server/testing/stateless_mcp.hpp"

namespace praxis::server {
namespace {

using namespace testing;

constexpr const char* kSpan = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
constexpr const char* kCaller =
    "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n"
    "tracestate: rojo=1\r\nTracestate: congo=t61\r\n";

class TraceContextTest : public ServerTest {
 protected:
  /// The contexts of all roots in the journal.
  std::vector<TraceContext> roots() {
    server_.reset();
    auto workspace = app::open_workspace({.folder = "", .journal = (folder_ / "runs.db").string()});
    auto journal = app::open_journal(*workspace, app::JournalUse::kLook);
    std::vector<TraceContext> found;
    const auto rows = (*journal)->sessions();
    for (const SessionRow& row : *rows) {
      const auto records = read_records(**journal, row.id);
      found.push_back(std::get<records::SessionCreated>(records->front().record.body).trace);
    }
    return found;
  }
};

TEST_F(TraceContextTest, EachDoorStartsRunsInTheTraceOfItsClient) {
  start();
  const std::string headers = std::string("Content-Type: application/json\r\nA2A-Version: 1.0\r\n") + kCaller;
  const auto post = [&](const char* path, const char* body) {
    const Answer answer = call("POST", path, body, kOwner, headers);
    EXPECT_LT(answer.status, 300) << path << ": " << answer.body;
  };
  post("/api/v1/runs", R"({"agent":"chat","prompt":"hi"})");
  post("/v1/chat/completions", R"({"model":"chat","messages":[{"role":"user","content":"hi"}]})");
  post("/v1/responses", R"({"model":"chat","input":"hi"})");
  post("/a2a/chat/message:send",
       R"({"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}})");
  EXPECT_EQ(call("POST", "/mcp",
                 stateless_body("tools/call", {{"name", "chat"},
                                               {"arguments", JsonObject{{"prompt", "hi"}}},
                                               {"_meta", JsonObject{{"traceparent", kSpan},
                                                                    {"tracestate", "rojo=1,congo=t61"}}}}),
                 kOwner, stateless_headers("tools/call", "chat"))
                .status,
            200);
  const auto contexts = roots();
  ASSERT_EQ(contexts.size(), 5U);
  for (const TraceContext& context : contexts) {
    EXPECT_EQ(to_hex(context.trace), "4bf92f3577b34da6a3ce929d0e0e4736");
    EXPECT_EQ(span_hex(context.parent), "00f067aa0ba902b7");
    EXPECT_EQ(context.state, "rojo=1,congo=t61");
    EXPECT_NE(context.span, context.parent);
  }
}

TEST_F(TraceContextTest, InvalidHeader_StartsANewTrace) {
  start();
  const Answer made = call("POST", "/api/v1/runs", R"({"agent":"chat","prompt":"hi"})", kOwner,
                           "traceparent: 00-zz-00f067aa0ba902b7-01\r\n");
  EXPECT_EQ(made.status, 201) << made.body;
  const auto contexts = roots();
  ASSERT_EQ(contexts.size(), 1U);
  EXPECT_FALSE(contexts[0].trace.empty());
  EXPECT_EQ(contexts[0].parent, 0U);
}

}  // namespace
}  // namespace praxis::server
