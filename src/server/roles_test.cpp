// Rights, roles and stored tokens at the HTTP boundary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>

#include "app/refusals.hpp"
#include "app/tokens.hpp"
#include "server/route_rights.hpp"
#include "server/routes.hpp"
#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace testing;

class ServedRoles : public ServerTest {
 protected:
  std::string state() const { return (folder_ / "state/praxis").string(); }
  std::string roles() const { return (folder_ / "config/praxis/roles.toml").string(); }
  app::TokenStore store() const { return app::TokenStore(state()); }
  void start_with_roles() {
    ServerOptions options;
    options.access.files = {state(), roles()};
    start(std::move(options));
  }
  void write_roles(const std::string& text) const {
    std::filesystem::create_directories(folder_ / "config/praxis");
    std::ofstream(roles() + ".new") << text;
    ::chmod((roles() + ".new").c_str(), 0600);
    std::filesystem::rename(roles() + ".new", roles());
  }
  std::string add(app::AccessToken token) const {
    auto added = store().add(std::move(token), *system_environment());
    EXPECT_TRUE(added) << added.error().message;
    return added->second;
  }
  std::string token_of(const std::string& name, const std::string& role,
                       const std::string& tenant = {}) const {
    return add({.name = name, .role = role, .tenant = tenant});
  }
  /// A path of the route whose names stand for nothing that is there.
  static std::string path_of_nothing(const Route& route) {
    std::string path(route.path);
    for (std::size_t at = path.find('{'); at != path.npos; at = path.find('{'))
      path.replace(at, path.find('}') - at + 1, "nothing");
    return path;
  }
};

TEST_F(ServedRoles, EveryOperationOfTheDescriptionHasOneRow) {
  const Json document = openapi();
  std::size_t operations = 0;
  for (const auto& path : json_at(document, "paths").get_object()) {
    for (const auto& method : path.value().get_object()) {
      std::string verb(method.key());
      for (char& c : verb) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      const auto route = std::ranges::find_if(routes(), [&](const Route& each) {
        return each.path == std::string_view(path.key()) && each.method == verb;
      });
      ASSERT_NE(route, routes().end()) << verb << ' ' << path.key();
      const auto needs = needs_of(*route);
      EXPECT_TRUE(needs) << verb << ' ' << path.key() << " has no row in route_rights.cpp";
      EXPECT_EQ(needs == std::optional<RouteNeeds>(OpenToAll{}), !route->needs_token) << path.key();
      ++operations;
    }
  }
  EXPECT_EQ(operations, routes().size());
}

TEST_F(ServedRoles, EachRoleReachesExactlyTheRoutesOfItsRights) {
  std::map<std::string, std::string> tokens;
  for (const AccessRole& role : built_in_roles()) tokens[role.name] = token_of("of-" + role.name, role.name);
  start_with_roles();
  for (const AccessRole& role : built_in_roles()) {
    for (const Route& route : routes()) {
      const auto needs = needs_of(route).value();
      const Right* const right = std::get_if<Right>(&needs);
      if (right == nullptr) continue;
      const bool is_stream = route.path == "/api/v1/events" || route.path == "/agent/stream";
      if (is_stream && role.rights.has(*right)) continue;  // has no end
      const Answer answer =
          call(route.method, path_of_nothing(route), route.body.empty() ? "" : "{}", tokens[role.name]);
      const std::string what = role.name + ' ' + std::string(route.method) + ' ' + std::string(route.path);
      if (role.rights.has(*right)) {
        EXPECT_NE(answer.status, 403) << what << answer.body;
        EXPECT_NE(answer.status, 401) << what;
      } else {
        EXPECT_EQ(answer.status, 403) << what;
        EXPECT_THAT(answer.body, HasSubstr(std::string(to_string(*right)))) << what;
      }
    }
  }
}

TEST_F(ServedRoles, RefusalsAreProblemsThatNameTheRightAndTheRole) {
  const std::string viewer = token_of("vera", "viewer");
  start_with_roles();
  const Answer answer = call("POST", "/api/v1/runs", R"({"agent":"chat","prompt":"hi"})", viewer);
  EXPECT_EQ(answer.status, 403);
  EXPECT_THAT(answer.head, HasSubstr("application/problem+json"));
  EXPECT_EQ(answer.text("right"), "run");
  EXPECT_THAT(answer.text("detail"), HasSubstr("the role \"viewer\""));
  call("POST", "/api/v1/runs", "{}", viewer);
  const auto refusals = app::RefusalLog(state()).all();
  ASSERT_TRUE(refusals) << refusals.error().message;
  ASSERT_EQ(refusals->size(), 1U) << "a repeated request does not fill the file";
  EXPECT_EQ(refusals->front().principal, "vera");
  EXPECT_EQ(refusals->front().role, "viewer");
  EXPECT_EQ(refusals->front().route, "POST /api/v1/runs");
}

TEST_F(ServedRoles, OperationsOfJsonRpcNeedTheirOwnRights) {
  const std::string viewer = token_of("vera", "viewer");
  const std::string runner = add({.name = "rob", .rights = {Right::kRun}});
  start_with_roles();
  const auto error_of = [&](const std::string& method, const std::string& token) {
    return call("POST", "/a2a/chat", R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{}})",
                token, "A2A-Version: 1.0\r\n")
        .body;
  };
  EXPECT_THAT(error_of("SendMessage", viewer), HasSubstr("needs the right \\\"run\\\""));
  EXPECT_THAT(error_of("CancelTask", viewer), HasSubstr("needs the right \\\"intervene\\\""));
  EXPECT_THAT(error_of("ListTasks", viewer), Not(HasSubstr("needs the right")));
  EXPECT_THAT(error_of("ListTasks", runner), HasSubstr("needs the right \\\"read_history\\\""));
  EXPECT_THAT(error_of("SendMessage", runner), Not(HasSubstr("needs the right")));
}

TEST_F(ServedRoles, DecisionsOfAChatNeedTheRightToApprove) {
  asking_agent();
  const std::string runner = token_of("otto", "operator");
  start_with_roles();
  const std::string run = create("ask", runner);
  wait_for(run, "awaiting_user");
  const std::string resume = R"({"threadId":")" + run +
                             R"(","runId":"r2","messages":[],"resume":[{)"
                             R"("interruptId":")" +
                             run +
                             R"(/p1","status":"resolved",)"
                             R"("payload":{"approved":true}}]})";
  const Answer refused = call("POST", "/api/agui/ask", resume, runner);
  EXPECT_EQ(refused.status, 403) << refused.body;
  EXPECT_EQ(refused.text("right"), "approve");
  EXPECT_EQ(call("GET", "/api/v1/runs/" + run).text("status"), "awaiting_user");
}

TEST_F(ServedRoles, OwnRolesAndChangesOfThemCountWithoutARestart) {
  write_roles("[roles.reader]\nrights = [\"read_history\"]\n");
  start_with_roles();
  const std::string token = token_of("rita", "reader");
  EXPECT_EQ(call("GET", "/api/v1/runs", "", token).status, 200);
  EXPECT_EQ(call("GET", "/api/v1/agents", "", token).status, 403);
  write_roles("[roles.reader]\nrights = [\"run\"]\n");
  EXPECT_EQ(call("GET", "/api/v1/runs", "", token).status, 403);
  EXPECT_EQ(call("GET", "/api/v1/agents", "", token).status, 200);
  write_roles("[roles.reader]\nrights = [\"runn\"]\n");
  EXPECT_EQ(call("GET", "/api/v1/agents", "", token).status, 200) << "a damaged file changes nothing";
  write_roles("");
  EXPECT_EQ(call("GET", "/api/v1/agents", "", token).status, 403) << "a role that is gone has no rights";
}

TEST_F(ServedRoles, ExpiredAndRevokedTokensAreRefused) {
  const std::string expired = add({.name = "eva", .role = "viewer", .expires = {1'000}});
  const std::string token = token_of("vera", "viewer");
  start_with_roles();
  EXPECT_EQ(call("GET", "/api/v1/runs", "", expired).status, 401);
  EXPECT_THAT(call("GET", "/api/v1/runs", "", expired).text("detail"), HasSubstr("expired"));
  EXPECT_EQ(call("GET", "/api/v1/runs", "", token).status, 200);
  EXPECT_EQ(store().revoke("vera", {2'000}, "test").value_or(0), 1U);
  EXPECT_EQ(call("GET", "/api/v1/runs", "", token).status, 401);
}

TEST_F(ServedRoles, RevocationAndExpiryEndOpenStreams) {
  const std::string revoked = token_of("vera", "viewer");
  start_with_roles();
  const std::string run = create("slow");
  RawClient events(server_->port());
  events.send(request("GET", "/api/v1/runs/" + run + "/events", {}, revoked));
  events.read_until("event: turn.started");
  RawClient socket(server_->port());
  socket.send(request("GET", "/api/v1/events", {}, revoked,
                      "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"));
  socket.read_until("101 ");
  EXPECT_EQ(store().revoke("vera", {2'000}, "test").value_or(0), 1U);
  events.read_all();
  EXPECT_THAT(socket.read_all(), HasSubstr("\x03\xf0the token was revoked")) << "the code 1008";
  const auto soon = system_environment()->now() + std::chrono::milliseconds(1'500);
  const std::string expiring = add({.name = "eva", .role = "viewer", .expires = soon});
  RawClient last(server_->port());
  last.send(request("GET", "/api/v1/events", {}, expiring));
  last.read_all();
}

TEST_F(ServedRoles, FourEyesKeepStartersFromApproving) {
  asking_agent();
  write_roles("four_eyes = true\n");
  const std::string anna = token_of("anna-d", "developer"), bert = token_of("bert-a", "approver");
  start_with_roles();
  const std::string run = create("ask", anna);
  wait_for(run, "awaiting_user");
  const std::string step = "/api/v1/runs/" + run + "/steps/p1";
  const Answer own = call("POST", step, R"({"decision":"allow"})", anna);
  EXPECT_EQ(own.status, 403);
  EXPECT_THAT(own.text("detail"), HasSubstr("another principal must approve"));
  const Answer branch = call("POST", "/api/v1/runs/" + run + "/fork", "{}", anna);
  EXPECT_EQ(branch.status, 201) << branch.body;
  EXPECT_EQ(
      call("POST", "/api/v1/runs/" + branch.text("id") + "/steps/p1", R"({"decision":"allow"})", anna).status,
      403);
  server_.reset();
  start_with_roles();  // who started it is in the journal
  EXPECT_EQ(call("POST", step, R"({"decision":"allow"})", anna).status, 403);
  EXPECT_EQ(call("POST", step, R"({"decision":"allow"})", bert).status, 200);
  wait_for(run, "completed");
  const Answer log = call("GET", "/api/v1/runs/" + run + "/records");
  EXPECT_THAT(log.body, HasSubstr("\"role\":\"approver\""));
}

TEST_F(ServedRoles, WhatIsOfAnotherTenantIsAsIfItWereNotThere) {
  asking_agent();
  const std::string acme = token_of("same-name", "developer", "acme");
  const std::string other = token_of("same-name", "developer", "other");
  start_with_roles();
  const std::string run = create("ask", acme);
  wait_for(run, "awaiting_user");
  const std::string missing(run.size(), '0');
  for (const Route& route : routes()) {
    if (!route.path.contains("{id}")) continue;
    std::string body = route.body.empty() ? "" : R"({"prompt":"x"})";
    if (route.path.ends_with("commands")) body = R"({"commands":[{"verb":"interrupt"}]})";
    if (route.path.ends_with("{step}")) body = R"({"decision":"allow"})";
    if (route.path.ends_with("rewind")) body = R"({"turn":"t1"})";
    if (route.path.ends_with("intervene")) body = R"({"userComment":"delete"})";
    const auto ask = [&](const std::string& id) {
      std::string path(route.path);
      for (const auto& [name, value] : std::map<std::string, std::string>{
               {"{id}", id}, {"{step}", "p1"}, {"{other}", id}, {"{digest}", id}}) {
        if (const auto at = path.find(name); at != path.npos) path.replace(at, name.size(), value);
      }
      Answer answer = call(route.method, path, body, other);
      for (auto at = answer.body.find(id); at != answer.body.npos; at = answer.body.find(id))
        answer.body.replace(at, id.size(), "ID");
      return std::pair(answer.status, answer.body);
    };
    EXPECT_EQ(ask(run), ask(missing)) << route.method << ' ' << route.path;
  }
  EXPECT_EQ(call("GET", "/api/v1/runs", "", other).body, "{\"runs\":[],\"next\":null}\n");
  EXPECT_EQ(call("GET", "/api/v1/runs/" + run, "", acme).status, 200);
  EXPECT_EQ(call("GET", "/api/v1/memory", "", acme).status, 403) << "the memory is that of the server's user";
}

TEST_F(ServedRoles, AScopeLeavesNoOtherAgent) {
  const std::string scoped = add({.name = "sam", .role = "developer", .agents = {"chat"}});
  start_with_roles();
  const std::string hidden = create("slow");
  EXPECT_EQ(call("GET", "/api/v1/agents", "", scoped).body, "{\"agents\":[{\"name\":\"chat\"}]}\n");
  EXPECT_EQ(call("GET", "/api/v1/agents/slow", "", scoped).status, 404);
  EXPECT_EQ(call("GET", "/v1/models/slow", "", scoped).status, 404);
  EXPECT_EQ(call("POST", "/api/v1/runs", R"({"agent":"slow","prompt":"x"})", scoped).status, 404);
  EXPECT_EQ(call("POST", "/api/v1/runs", R"({"prompt":"x"})", scoped).status, 400);
  EXPECT_EQ(call("GET", "/api/v1/runs/" + hidden, "", scoped).status, 404);
  const std::string run = create("chat", scoped);
  EXPECT_EQ(call("GET", "/api/v1/runs/" + run, "", scoped).status, 200);
}

TEST_F(ServedRoles, FilesOpenToOthersAreRefusedAtTheStart) {
  token_of("vera", "viewer");
  write_roles("");
  const auto problem = [&] {
    TokenBook book({}, {state(), roles()}, system_environment(), nullptr);
    const auto loaded = book.load();
    return loaded ? std::string() : loaded.error().message;
  };
  EXPECT_EQ(problem(), "");
  const std::string tokens = store().path();
  ::chmod(tokens.c_str(), 0640);
  EXPECT_THAT(problem(), HasSubstr("chmod 600"));
  ::chmod(tokens.c_str(), 0600);
  std::filesystem::rename(roles(), roles() + ".real");
  std::filesystem::create_symlink(roles() + ".real", roles());
  EXPECT_THAT(problem(), HasSubstr("is a link"));
  std::filesystem::remove(roles());
  write_roles("[roles.admin]\nrights = [\"run\"]\n");
  EXPECT_THAT(problem(), HasSubstr("roles.toml:1:8: \"admin\" is a built-in role")) << problem();
  write_roles("[roles.x]\nrights = [\"aprove\"]\n");
  EXPECT_THAT(problem(), HasSubstr("\"aprove\" is not a right; did you mean \"approve\"?"));
}

}  // namespace
}  // namespace praxis::server
