// MCP over HTTP. scripts/check-clients tries the same with the clients and the conformance suite of others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/refusals.hpp"
#include "app/tokens.hpp"
#include "mcp/message.hpp"
#include "server/mcp_sessions.hpp"
#include "server/testing/served.hpp"
#include "server/testing/stateless_mcp.hpp"
#include "server/testing/waiting_model.hpp"

namespace praxis::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using namespace testing;

constexpr std::string_view kTwoKinds = "Accept: application/json, text/event-stream\r\n";

class ServedMcp : public ServerTest {
 protected:
  static std::string message(std::string_view method, const Json& params = JsonObject{}, const Json& id = 1) {
    return mcp_request(id, method, params);
  }
  static std::string in_session(const std::string& session) { return "Mcp-Session-Id: " + session + "\r\n"; }
  Answer post(const std::string& body, const std::string& headers = {},
              std::string_view token = kOwner) const {
    return call("POST", "/mcp", body, token, headers);
  }
  /// The headers of a request in a new session.
  std::string open(std::string_view token = kOwner) const {
    const Answer answer =
        post(message("initialize", JsonObject{{"protocolVersion", "2025-11-25"}}), {}, token);
    EXPECT_EQ(answer.status, 200) << answer.body;
    constexpr std::string_view kName = "Mcp-Session-Id: ";
    const std::size_t at = answer.head.find(kName);
    if (at == answer.head.npos) {
      ADD_FAILURE() << answer.head;
      return {};
    }
    const std::size_t end = answer.head.find("\r\n", at);
    return answer.head.substr(at, end == answer.head.npos ? end : end - at) + "\r\n";
  }
  static Json call_params(const std::string& tool) {
    return JsonObject{{"name", tool},
                      {"arguments", JsonObject{{"prompt", "hi"}}},
                      {"_meta", JsonObject{{"progressToken", "p"}}}};
  }
  static std::vector<Json> messages_in(std::string_view body) {
    std::vector<Json> all;
    for (const Sent& sent : events_in("\r\n\r\n" + std::string(body)))
      all.push_back(parse_json(sent.data).value_or(nullptr));
    return all;
  }
  static std::vector<std::string> names_in(const Answer& answer, const char* list) {
    std::vector<std::string> names;
    for (const Json& each : json_at(json_at(answer.json, "result"), list).as_array())
      names.push_back(json_string(each, "name"));
    return names;
  }
  static std::int64_t error_of(const Answer& answer) {
    return json_int(json_at(answer.json, "error"), "code", 0);
  }
  static std::string why(const Answer& answer) {
    return json_string(json_at(answer.json, "error"), "message");
  }
  /// The id of the newest run.
  std::string newest() const {
    const Answer answer = call("GET", "/api/v1/runs");
    const auto* runs = json_at(answer.json, "runs").if_array();
    return runs == nullptr || runs->empty() ? "" : json_string(runs->front(), "id");
  }

  // Version 2026-07-28.
  Answer ask(const std::string& method, const JsonObject& params = {}, const std::string& name = {}) const {
    return post(stateless_body(method, params), stateless_headers(method, name));
  }

  std::string token_for(app::AccessToken token) const {
    auto added =
        app::TokenStore((folder_ / "state/praxis").string()).add(std::move(token), *system_environment());
    EXPECT_TRUE(added) << added.error().message;
    return added->second;
  }
  void start_with_tokens() {
    ServerOptions options;
    options.access.files = {(folder_ / "state/praxis").string(),
                            (folder_ / "config/praxis/roles.toml").string()};
    start(std::move(options));
  }
};

TEST_F(ServedMcp, HandshakeOpensASessionThatAClientEnds) {
  start();
  const Answer hello = post(message("initialize", JsonObject{{"protocolVersion", "2025-06-18"}}));
  ASSERT_EQ(hello.status, 200) << hello.body;
  EXPECT_EQ(json_string(json_at(hello.json, "result"), "protocolVersion"), "2025-06-18");
  for (const char* offered : {"tools", "resources", "prompts"})
    EXPECT_TRUE(json_at(json_at(json_at(hello.json, "result"), "capabilities"), offered).is_object());
  const std::string session = open();
  EXPECT_NE(session, open());
  EXPECT_EQ(post(mcp_notification("notifications/initialized", nullptr), session).status, 202);
  EXPECT_EQ(post(message("ping"), session).body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
  EXPECT_THAT(names_in(post(message("tools/list"), session), "tools"), IsSupersetOf({"chat", "slow"}));
  EXPECT_EQ(error_of(post(message("no/method"), session)), kRpcUnknownMethod);
  EXPECT_EQ(call("DELETE", "/mcp", "", kOwner, session).status, 204);
  const Answer ended = post(message("ping", JsonObject{}, "seven"), session);
  EXPECT_EQ(ended.status, 404) << "the client opens another one";
  EXPECT_EQ(ended.text("id"), "seven");
  EXPECT_EQ(call("DELETE", "/mcp", "", kOwner, session).status, 404);
}

TEST_F(ServedMcp, CallIsARunThatAStreamFollows) {
  start();
  const std::string session = open(kAnna);
  const Answer answer =
      post(message("tools/call", call_params("chat"), 7), session + std::string(kTwoKinds), kAnna);
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(answer.head, HasSubstr("text/event-stream"));
  const auto all = messages_in(answer.body);
  ASSERT_EQ(all.size(), 2U) << answer.body;
  EXPECT_EQ(json_string(all[0], "method"), "notifications/progress");
  EXPECT_EQ(to_json_text(json_at(all[0], "params")),
            R"({"progressToken":"p","progress":1,"message":"step 1"})");
  EXPECT_EQ(json_int(all[1], "id", 0), 7);
  const Json& result = json_at(all[1], "result");
  EXPECT_EQ(json_string(json_at(result, "content").as_array().front(), "text"), "Hello there.");
  const std::string run = json_string(json_at(result, "structuredContent"), "run");
  EXPECT_EQ(call("GET", "/api/v1/runs/" + run, "", kAnna).text("result"), "Hello there.");
  EXPECT_EQ(call("GET", "/api/v1/runs/" + run, "", kBert).status, 404) << "it is a run of its principal";
}

TEST_F(ServedMcp, ClientThatTakesNoStreamGetsOneAnswer) {
  asking_agent();
  start();
  const std::string session = open();
  const Answer answer = post(message("tools/call", call_params("chat")), session);
  EXPECT_THAT(answer.head, HasSubstr("application/json"));
  EXPECT_FALSE(json_at(json_at(answer.json, "result"), "isError").as_bool()) << answer.body;
  const Answer waits = post(message("tools/call", call_params("ask")), session);
  EXPECT_THAT(waits.body, HasSubstr("The run waits for a human"));
  const std::string run = json_string(json_at(json_at(waits.json, "result"), "structuredContent"), "run");
  call("POST", "/api/v1/runs/" + run + "/steps/p1", R"({"decision":"allow"})");
  wait_for(run, "completed");
}

TEST_F(ServedMcp, MessagesThatAreWrongStartNothing) {
  start();
  const std::string session = open();
  for (const char* body : {"", "{", "[]", "17", R"({"id":1,"method":"ping"})"}) {
    const Answer answer = post(body, session);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_EQ(error_of(answer), kRpcParseError) << body;
  }
  const auto refused = [&](const Json& params) { return why(post(message("tools/call", params), session)); };
  EXPECT_THAT(refused(JsonObject{{"name", "nobody"}}), HasSubstr("no tool"));
  EXPECT_THAT(refused(JsonObject{{"name", "chat"}, {"arguments", "hi"}}), HasSubstr("object"));
  for (const Json& arguments : {Json(JsonObject{}), Json(JsonObject{{"prompt", 7}})}) {
    const Answer corrects =
        post(message("tools/call", JsonObject{{"name", "chat"}, {"arguments", arguments}}), session);
    EXPECT_TRUE(json_at(json_at(corrects.json, "result"), "isError").as_bool()) << corrects.body;
    EXPECT_THAT(corrects.body, HasSubstr("prompt")) << "the model can correct it";
  }
  EXPECT_THAT(refused(JsonObject{{"name", "../chat"}, {"arguments", JsonObject{{"prompt", "x"}}}}),
              HasSubstr("no tool"));
  EXPECT_EQ(newest(), "");
}

TEST_F(ServedMcp, SessionIsThatOfItsPrincipal) {
  start();
  const std::string annas = open(kAnna);
  EXPECT_EQ(post(message("ping"), annas, kAnna).status, 200);
  EXPECT_EQ(post(message("ping"), annas, kBert).status, 404);
  EXPECT_EQ(call("DELETE", "/mcp", "", kBert, annas).status, 404);
  EXPECT_EQ(post(message("ping"), in_session("0123456789abcdef"), kAnna).status, 404);
  const Answer missing = post(message("ping"), "", kAnna);
  EXPECT_EQ(missing.status, 400);
  EXPECT_THAT(why(missing), HasSubstr("Mcp-Session-Id"));
  EXPECT_EQ(post(message("ping"), annas + "MCP-Protocol-Version: 2025-11-25\r\n", kAnna).status, 200);
  const Answer version = post(message("ping"), annas + "MCP-Protocol-Version: 1999-01-01\r\n", kAnna);
  EXPECT_EQ(version.status, 400);
  EXPECT_EQ(error_of(version), kRpcUnsupportedVersion);
}

TEST_F(ServedMcp, RefusalsBeforeAMessageAreErrorsOfTheProtocol) {
  start();
  const auto expect = [](const Answer& answer, int status) {
    EXPECT_EQ(answer.status, status) << answer.body;
    EXPECT_EQ(answer.text("jsonrpc"), "2.0") << answer.body;
    EXPECT_EQ(error_of(answer), status) << answer.body;
    EXPECT_TRUE(json_at(answer.json, "id").is_null());
  };
  const Answer stranger = post(message("ping"), "", "");
  expect(stranger, 401);
  EXPECT_THAT(stranger.head, HasSubstr("WWW-Authenticate: Bearer"));
  expect(post(message("ping"), "Origin: https://evil.example\r\n"), 403);
  const Answer stream = call("GET", "/mcp", "", kOwner, "Accept: text/event-stream\r\n");
  expect(stream, 405);
  EXPECT_THAT(stream.head, HasSubstr("Allow: DELETE, POST"));
  RawClient other(server_->port());
  other.send("POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\nAuthorization: Bearer " +
             std::string(kOwner) + "\r\n\r\n");
  EXPECT_THAT(other.read_all(), AllOf(HasSubstr(" 421 "), HasSubstr("\"jsonrpc\":\"2.0\"")));
}

TEST_F(ServedMcp, PagesThatAreAllowedReadTheSession) {
  ServerOptions options;
  options.access.origins = {"https://good.example"};
  start(std::move(options));
  const std::string origin = "Origin: https://good.example\r\n";
  EXPECT_THAT(call("OPTIONS", "/mcp", "", "", origin).head, HasSubstr("Mcp-Session-Id"));
  EXPECT_THAT(post(message("initialize"), origin).head,
              HasSubstr("Access-Control-Expose-Headers: Mcp-Session-Id"));
}

// ---- version 2026-07-28

TEST_F(ServedMcp, WithoutAHandshakeEachRequestSaysAll) {
  start();
  const Answer found = ask("server/discover");
  ASSERT_EQ(found.status, 200) << found.body;
  EXPECT_THAT(found.head, Not(HasSubstr("Mcp-Session-Id")));
  EXPECT_THAT(names_in(ask("tools/list"), "tools"), IsSupersetOf({"chat", "slow"}));
  const Answer called = ask("tools/call", call_params("chat").get_object(), "chat");
  EXPECT_EQ(json_string(json_at(called.json, "result"), "resultType"), "complete") << called.body;
  EXPECT_THAT(called.body, HasSubstr("Hello there."));
  EXPECT_EQ(ask("no/method").status, 404);
  EXPECT_EQ(error_of(ask("no/method")), kRpcUnknownMethod);
  EXPECT_EQ(ask("tools/call", {{"name", "nobody"}}, "nobody").status, 400);
  EXPECT_EQ(post(mcp_notification("notifications/cancelled", JsonObject{{"requestId", 1}})).status, 202);
}

TEST_F(ServedMcp, HeadersMustRepeatTheMessage) {
  start();
  const JsonObject chat = call_params("chat").get_object();
  const auto status = [&](const std::string& headers, const std::string& body) {
    const Answer answer = post(body, headers);
    EXPECT_EQ(error_of(answer), answer.status == 400 ? kRpcHeaderMismatch : 0) << answer.body;
    return answer.status;
  };
  const std::string version = "MCP-Protocol-Version: 2026-07-28\r\n";
  const std::string list = stateless_body("tools/list"), called = stateless_body("tools/call", chat);
  EXPECT_EQ(status("Mcp-Method: tools/list\r\n", list), 400);
  EXPECT_EQ(status("MCP-Protocol-Version: 2025-11-25\r\nMcp-Method: tools/list\r\n", list), 400);
  EXPECT_EQ(status(version, list), 400);
  EXPECT_EQ(status(version + "Mcp-Method: TOOLS/LIST\r\n", list), 400);
  EXPECT_EQ(status(stateless_headers("tools/list"), list), 200);
  EXPECT_EQ(status(stateless_headers("tools/call"), called), 400);
  EXPECT_EQ(status(stateless_headers("tools/call", "slow"), called), 400);
  EXPECT_EQ(status(stateless_headers("tools/call", "=?base64?Y2hhdA?="), called), 400);
  EXPECT_EQ(newest(), "");
  EXPECT_EQ(status(stateless_headers("tools/call", "=?base64?Y2hhdA==?="), called), 200);
  EXPECT_EQ(status(stateless_headers("tools/call", "  chat  "), called), 200);
  const Answer unknown = post(stateless_body("tools/list", {}, "2031-01-01"),
                              "MCP-Protocol-Version: 2031-01-01\r\nMcp-Method: tools/list\r\n");
  EXPECT_EQ(unknown.status, 400);
  EXPECT_EQ(error_of(unknown), kRpcUnsupportedVersion);
  EXPECT_EQ(error_of(post(message("tools/list"), stateless_headers("tools/list"))), kRpcInvalidParams);
}

// ---- who may

TEST_F(ServedMcp, TenantsReadTheirOwnRunsOnly) {
  start();
  const std::string run = create("chat", kAnna);
  wait_for(run, "completed");
  const std::string annas = open(kAnna), berts = open(kBert);
  const std::string uri = "praxis://runs/" + run;
  EXPECT_THAT(names_in(post(message("resources/list"), annas, kAnna), "resources"), ElementsAre(run));
  EXPECT_THAT(names_in(post(message("resources/list"), berts, kBert), "resources"), ElementsAre());
  const std::string read = message("resources/read", JsonObject{{"uri", uri}});
  EXPECT_THAT(post(read, annas, kAnna).body, HasSubstr("Hello there."));
  const Answer refused = post(read, berts, kBert);
  EXPECT_THAT(why(refused), HasSubstr("no resource"));
  const std::string none = message("resources/read", JsonObject{{"uri", "praxis://runs/none"}});
  EXPECT_EQ(error_of(refused), error_of(post(none, berts, kBert))) << "as if it were not there";
}

TEST_F(ServedMcp, RightsDecideWhatIsOffered) {
  const std::string viewer = token_for({.name = "vera", .role = "viewer"});
  const std::string user = token_for({.name = "uwe", .rights = {Right::kRun}, .agents = {"chat"}});
  start_with_tokens();
  const Answer hello = post(message("initialize"), "", viewer);
  EXPECT_THAT(hello.body,
              AllOf(HasSubstr("\"resources\""), Not(HasSubstr("\"tools\"")), Not(HasSubstr("\"prompts\""))));
  const std::string vera = open(viewer), uwe = open(user);
  for (const char* method : {"tools/list", "tools/call", "prompts/list"}) {
    const Answer refused = post(message(method, call_params("chat"), "seven"), vera, viewer);
    EXPECT_EQ(refused.status, 403) << refused.body;
    EXPECT_EQ(refused.text("id"), "seven");
    EXPECT_THAT(json_string(json_at(json_at(refused.json, "error"), "data"), "right"),
                std::string(method).starts_with("tools/") ? "run" : "change_prompts");
  }
  EXPECT_EQ(post(message("resources/list"), vera, viewer).status, 200);
  EXPECT_EQ(post(message("resources/list"), uwe, user).status, 403);
  EXPECT_THAT(names_in(post(message("tools/list"), uwe, user), "tools"), ElementsAre("chat"));
  EXPECT_THAT(why(post(message("tools/call", call_params("slow")), uwe, user)), HasSubstr("no tool"));
  EXPECT_THAT(post(message("tools/call", call_params("chat")), uwe, user).body, HasSubstr("Hello there."));
  const auto refusals = app::RefusalLog((folder_ / "state/praxis").string()).all();
  ASSERT_TRUE(refusals && !refusals->empty()) << "the audit has them";
  EXPECT_EQ(refusals->front().route, "POST /mcp");
}

TEST_F(ServedMcp, LoadIsBounded) {
  ServerOptions options;
  options.load.token.turns = 1;
  start(std::move(options));
  const std::string session = open();
  create("slow");
  const Answer refused = post(message("tools/call", call_params("chat"), 9), session);
  EXPECT_EQ(refused.status, 429) << refused.body;
  EXPECT_EQ(error_of(refused), 429);
  EXPECT_EQ(json_int(refused.json, "id", 0), 9);
  EXPECT_THAT(refused.head, HasSubstr("Retry-After: "));
}

// ---- cancelling, and what does not cancel

TEST_F(ServedMcp, CancelledCallIsInterruptedAndHasNoAnswer) {
  start();
  const std::string session = open();
  RawClient client(server_->port());
  client.send(request("POST", "/mcp", message("tools/call", call_params("slow"), 7), kOwner,
                      session + std::string(kTwoKinds)));
  client.read_until("step 1");
  EXPECT_THAT(why(post(message("tools/call", call_params("slow"), 7), session)), HasSubstr("is running"));
  const auto cancel = [](const Json& id) {
    return mcp_notification("notifications/cancelled", JsonObject{{"requestId", id}});
  };
  const std::string run = newest();
  EXPECT_EQ(post(cancel("7"), session).status, 202);
  EXPECT_EQ(post(cancel(7), open()).status, 202);
  EXPECT_EQ(call("GET", "/api/v1/runs/" + run).text("status"), "running") << "other requests were meant";
  EXPECT_EQ(post(cancel(7), session).status, 202);
  EXPECT_THAT(client.read_all(), Not(HasSubstr("\"result\"")));
  wait_for(run, "cancelled");
  EXPECT_EQ(post(cancel(7), session).status, 202) << "too late, which is not an error";
}

TEST_F(ServedMcp, ConnectionThatBreaksLeavesTheRunOfASession) {
  WaitingModel model;
  agent("live", kExactEvents, "compatible:m");
  start();
  const std::string session = open();
  RawClient client(server_->port());
  client.send(request("POST", "/mcp", message("tools/call", call_params("live"), 7), kOwner,
                      session + std::string(kTwoKinds)));
  client.read_until("step 1");
  const std::string run = newest();
  client.close();
  model.end();
  EXPECT_EQ(wait_for(run, "completed").text("result"), "Hello there.");
  const std::string read = message("resources/read", JsonObject{{"uri", "praxis://runs/" + run}});
  EXPECT_THAT(post(read, session).body, HasSubstr("Hello there."));
}

TEST_F(ServedMcp, ConnectionThatBreaksCancelsARequestWithoutASession) {
  start();
  RawClient client(server_->port());
  client.send(request("POST", "/mcp", stateless_body("tools/call", call_params("slow").get_object()), kOwner,
                      stateless_headers("tools/call", "slow") + std::string(kTwoKinds)));
  client.read_until("step 1");
  const std::string run = newest();
  client.close();
  wait_for(run, "cancelled");
}

TEST_F(ServedMcp, RestartEndsSessionsAndNoRuns) {
  script("later", R"({"text":"At last.","delay_ms":300})");
  agent("later", "");
  start();
  const std::string session = open();
  RawClient old(server_->port()), stateless(server_->port());
  old.send(request("POST", "/mcp", message("tools/call", call_params("later"), 7), kOwner,
                   session + std::string(kTwoKinds)));
  old.read_until("step 1");
  const std::string first = newest();
  stateless.send(request("POST", "/mcp", stateless_body("tools/call", call_params("later").get_object()),
                         kOwner, stateless_headers("tools/call", "later") + std::string(kTwoKinds)));
  stateless.read_until("step 1");
  std::string second;
  const Answer listed = call("GET", "/api/v1/runs");
  for (const Json& each : json_at(listed.json, "runs").as_array()) {
    if (json_string(each, "id") != first) second = json_string(each, "id");
  }
  restart();
  EXPECT_EQ(post(message("ping"), session).status, 404);
  for (const std::string& run : {first, second})
    EXPECT_EQ(wait_for(run, "completed").text("result"), "At last.");
  const std::string read = message("resources/read", JsonObject{{"uri", "praxis://runs/" + first}});
  EXPECT_THAT(post(read, open()).body, HasSubstr("At last."));
}

TEST(McpSessionsOf, AnAccountAreBounded) {
  McpSessions sessions(fixed_environment(1));
  const std::string annas = sessions.open("anna");
  const std::string first = sessions.open("bert"), second = sessions.open("bert");
  EXPECT_TRUE(sessions.use(first, "bert"));
  for (std::size_t i = 2; i < McpSessions::kMostOfAccount + 1; ++i) sessions.open("bert");
  EXPECT_TRUE(sessions.use(first, "bert"));
  EXPECT_FALSE(sessions.use(second, "bert")) << "unused for the longest time";
  EXPECT_TRUE(sessions.use(annas, "anna"));
}

}  // namespace
}  // namespace praxis::server
