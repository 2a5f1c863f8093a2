// Who may do what: tokens, names, origins, principals; and what is refused before it reaches a run.
#include "server/access.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "server/routes.hpp"
#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using ::testing::HasSubstr;
using namespace testing;

class ServedAccess : public ServerTest {
 protected:
  /// The path of a route for a run.
  static std::string path_of(const Route& route, const std::string& run) {
    std::string path(route.path);
    if (const auto id = path.find("{id}"); id != path.npos) path.replace(id, 4, run);
    if (const auto other = path.find("{other}"); other != path.npos) path.replace(other, 7, run);
    if (const auto digest = path.find("{digest}"); digest != path.npos) path.replace(digest, 8, run);
    if (const auto step = path.find("{step}"); step != path.npos) path.replace(step, 6, "p1");
    return path;
  }
  std::size_t runs() const { return json_at(call("GET", "/api/v1/runs").json, "runs").as_array().size(); }
};

TEST_F(ServedAccess, EveryRouteNeedsATokenUnlessItSaysSo) {
  start();
  for (const Route& route : routes()) {
    const int open = route.path == "/api/v1/login" ? 403 : route.path.starts_with("/assets/") ? 404 : 200;
    for (const std::string_view token : {"", "wrong-token-of-the-tests"}) {
      const Answer answer = call(route.method, path_of(route, "x"), "", token);
      EXPECT_EQ(answer.status, route.needs_token ? 401 : open) << route.method << ' ' << route.path;
    }
  }
  EXPECT_EQ(call("GET", "/no/such/path", "", "").status, 401) << "paths are not for strangers to learn";
  EXPECT_EQ(call("GET", "/no/such/path").status, 404);
}

TEST_F(ServedAccess, EveryPathRefusesOtherMethods) {
  start();
  for (const Route& route : routes()) {
    const Answer answer = call("PATCH", path_of(route, "x"));
    EXPECT_EQ(answer.status, 405) << route.path;
    EXPECT_THAT(answer.head, HasSubstr("Allow: ")) << route.path;
    EXPECT_THAT(answer.head, HasSubstr(std::string(route.method))) << route.path;
  }
}

TEST_F(ServedAccess, WrongBodiesAreOneProblemThatNamesTheField) {
  asking_agent();
  start();
  const std::string run = create("ask");
  wait_for(run, "awaiting_user");
  for (const Route& route : routes()) {
    if (route.body.empty() || route.path.starts_with("/v1/")) continue;  // openai_test.cpp
    if (route.path.starts_with("/a2a/")) continue;                       // a2a_test.cpp
    if (route.path == "/mcp") continue;                                  // mcp_test.cpp
    const std::string path = path_of(route, run);
    for (const char* body : {"{", "[]", "null", "\"text\"", "\xff"}) {
      EXPECT_EQ(call("POST", path, body).status, 400) << path << ' ' << body;
    }
    const Answer unknown = call("POST", path, R"({"no_such_field":1})");
    EXPECT_EQ(unknown.status, 400) << path;
    EXPECT_EQ(unknown.text("field"), "no_such_field") << path;
    for (const Field& field : route.body) {
      if (field.name == "schema" || field.name == "seq") continue;  // below
      if (field.name == "after") continue;                          // a number
      JsonObject wrong;
      for (const Field& other : route.body) {
        if (other.is_required) wrong[other.name] = other.name == "decision" ? "edit" : "t1";
      }
      wrong[field.name] = 17;
      const Answer answer = call("POST", path, to_json_text(wrong));
      EXPECT_EQ(answer.status, 400) << path << ' ' << field.name << '\n' << answer.body;
      EXPECT_THAT(answer.head, HasSubstr("application/problem+json"));
      EXPECT_THAT(answer.text("detail"), HasSubstr(std::string(field.name))) << path;
    }
  }
  EXPECT_EQ(
      call("POST", "/api/v1/runs", R"({"agent":"chat","prompt":"hi","schema":{"type":17}})").text("field"),
      "schema");
  EXPECT_EQ(call("POST", "/api/v1/runs/" + run + "/fork", R"({"seq":9999})").text("field"), "seq");
  EXPECT_EQ(runs(), 1U) << "nothing of this reached the journal";
}

TEST_F(ServedAccess, OddPathsAreRefused) {
  start();
  for (const char* path :
       {"/api/v1/../healthz", "/api//v1/runs", "/api/v1/runs/%2e%2e", "/api/v1/runs/a%2fb",
        "/api/v1/runs/%00", "/api/v1/runs/%zz", "/api/v1/runs/%ff", "/api/v1/runs?limit=-1",
        "/api/v1/runs?limit=1000", "/api/v1/runs?limit=x", "/API/v1/runs", "/api/v1/runs/"}) {
    const int status = call("GET", path).status;
    EXPECT_TRUE(status == 400 || status == 404) << path << ' ' << status;
  }
}

TEST_F(ServedAccess, ClientsChooseNoFilesOfTheServer) {
  start();
  for (const char* body :
       {R"({"agent":"/etc/passwd.toml","prompt":"x"})", R"({"agent":"../chat","prompt":"x"})",
        R"({"agent":"chat","model":"script:/etc/passwd","prompt":"x"})",
        R"({"agent":"chat","model":"cassette:/tmp","prompt":"x"})",
        R"({"agent":"chat","model":"openai:a|script:/etc/passwd","prompt":"x"})"}) {
    const int status = call("POST", "/api/v1/runs", body).status;
    EXPECT_TRUE(status == 400 || status == 404) << body << ' ' << status;
  }
  EXPECT_EQ(runs(), 0U);
}

TEST_F(ServedAccess, TenantsSeeNothingOfEachOther) {
  asking_agent();
  start();
  const std::string run = create("ask", kAnna);
  wait_for(run, "awaiting_user");
  for (const Route& route : routes()) {
    if (!route.path.contains("{id}") || route.path.starts_with("/agent")) continue;
    std::string body = route.body.empty() ? "" : R"({"prompt":"x"})";
    if (route.path.ends_with("commands")) body = R"({"commands":[{"verb":"interrupt"}]})";
    if (route.path.ends_with("{step}")) body = R"({"decision":"allow"})";
    if (route.path.ends_with("undo")) body = "{}";
    if (route.path.ends_with("rewind")) body = R"({"turn":"t1"})";
    EXPECT_EQ(call(route.method, path_of(route, run), body, kBert).status, 404)
        << route.method << ' ' << route.path;
  }
  EXPECT_EQ(call("GET", "/agent/" + run, "", kBert).text("error"), "Not found");
  EXPECT_EQ(call("GET", "/agent/tree", "", kBert).body, "[]\n");
  EXPECT_EQ(call("POST", "/agent/" + run + "/intervene", R"({"userComment":"delete"})", kBert).body,
            "{\"success\":false}\n");
  EXPECT_EQ(call("GET", "/api/v1/runs", "", kBert).body, "{\"runs\":[],\"next\":null}\n");
  EXPECT_EQ(call("GET", "/api/v1/pending", "", kBert).body, "{\"pending\":[]}\n");
  EXPECT_EQ(call("GET", "/metrics", "", kBert).status, 403);
  EXPECT_EQ(call("GET", "/api/v1/runs/" + run, "", kAnna).status, 200);
  EXPECT_EQ(call("GET", "/api/v1/runs/" + run).status, 200) << "the owner sees all";
  const std::string own = create("chat", kBert);
  for (const Sent& sent : stream("/api/v1/events?after=0", "turn.completed", "", kBert))
    EXPECT_THAT(sent.data, HasSubstr(own));
}

TEST_F(ServedAccess, RunStaysThatOfItsTenantWhenItIsOpenedAgain) {
  asking_agent();
  start();
  const std::string run = create("ask", kAnna);
  wait_for(run, "awaiting_user");
  restart();
  EXPECT_EQ(call("POST", "/api/v1/runs/" + run + "/steps/p1", R"({"decision":"allow"})", kAnna).status, 200);
  wait_for(run, "completed");
  restart();
  EXPECT_EQ(call("GET", "/api/v1/runs/" + run, {}, kAnna).status, 200);
  EXPECT_EQ(call("GET", "/api/v1/runs/" + run, {}, kBert).status, 404);
}

TEST_F(ServedAccess, TenantsOnlyLowerLimits) {
  agent("chat", "[limits]\nmax_steps = 3\n");
  start();
  const std::string body = R"({"agent":"chat","prompt":"hi","limits":{"max_steps":50,"max_tokens":1000000}})";
  const auto limits_of = [&](std::string_view token) {
    const std::string run = call("POST", "/api/v1/runs", body, token).text("id");
    const auto events = stream("/api/v1/runs/" + run + "/events?event=turn.started", "turn.started");
    const Json data = parse_json(events.at(0).data).value();
    return json_at(json_at(data, "config"), "limits");
  };
  EXPECT_EQ(json_int(limits_of(kAnna), "max_steps"), 3);
  EXPECT_EQ(json_int(limits_of(kAnna), "max_tokens"), 1'000'000);
  EXPECT_EQ(json_int(limits_of(kOwner), "max_steps"), 50);
}

TEST_F(ServedAccess, OtherNamesAndOriginsAreRefused) {
  ServerOptions options;
  options.access.origins = {"https://friend.example"};
  start(std::move(options));
  const auto status_with = [&](std::string_view host, const std::string& headers) {
    RawClient client(server_->port());
    client.send("GET /healthz HTTP/1.1\r\nHost: " + std::string(host) + "\r\n" + headers + "\r\n");
    client.send_no_more();
    return client.read_all().substr(9, 3);
  };
  EXPECT_EQ(status_with("localhost", ""), "200");
  EXPECT_EQ(status_with("LOCALHOST:80", ""), "200");
  EXPECT_EQ(status_with("evil.example", ""), "421");
  EXPECT_EQ(status_with("localhost.evil.example", ""), "421");
  EXPECT_EQ(status_with("localhost", "Origin: https://evil.example\r\n"), "403");
  EXPECT_EQ(status_with("localhost", "Origin: null\r\n"), "403");
  EXPECT_EQ(status_with("localhost", "Origin: http://localhost\r\n"), "200");
  EXPECT_EQ(status_with("localhost", "Origin: https://friend.example\r\n"), "200");
}

TEST_F(ServedAccess, PagesOfAnAllowedOriginMayReadStreamsToo) {
  ServerOptions options;
  options.access.origins = {"https://friend.example"};
  start(std::move(options));
  const std::string run = create("chat");
  for (const std::string& path : {"/api/v1/runs/" + run, "/api/v1/runs/" + run + "/events"}) {
    RawClient client(server_->port());
    client.send(request("GET", path, {}, kOwner, "Origin: https://friend.example\r\n"));
    const std::string head = client.read_until("\r\n\r\n");
    EXPECT_THAT(head, HasSubstr("Access-Control-Allow-Origin: https://friend.example\r\n")) << path;
    EXPECT_THAT(head, HasSubstr("X-Content-Type-Options: nosniff\r\n")) << path;
  }
}

// ---- the token file

class TokenFileTest : public ServerTest {
 protected:
  std::string path() const { return (folder_ / "state/praxis/tokens").string(); }
  Result<TokenFile> written(const std::string& text, mode_t mode = 0600) {
    std::filesystem::create_directories(folder_ / "state/praxis");
    std::ofstream(path()) << text;
    ::chmod(path().c_str(), mode);
    return read_tokens(path(), "unused");
  }
};

TEST_F(TokenFileTest, FirstStartMakesOneThatOnlyItsOwnerReads) {
  const auto first = read_tokens(path(), "a-token-made-at-the-first-start");
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->created, "a-token-made-at-the-first-start");
  struct stat about{};
  ASSERT_EQ(::stat(path().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
  const auto second = read_tokens(path(), "another-token-that-is-not-used");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->created, "");
  EXPECT_EQ(second->tokens.at(0).digest, first->tokens.at(0).digest);
}

TEST_F(TokenFileTest, LinesNamePrincipals) {
  const auto read = written("# comment\n\nowner-token-of-this-server\nanna anna-token-of-this-server\r\n");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->tokens.size(), 2U);
  EXPECT_TRUE(read->tokens[0].principal.sees_all);
  EXPECT_EQ(read->tokens[1].principal.name, "anna");
  EXPECT_FALSE(read->tokens[1].principal.sees_all);
}

TEST_F(TokenFileTest, UnsafeOrWrongFilesAreRefused) {
  const std::string good = "owner-token-of-this-server\n";
  for (const mode_t mode : {0640U, 0604U, 0660U, 0606U}) EXPECT_FALSE(written(good, mode)) << mode;
  EXPECT_THAT(written(good, 0644).error().message, HasSubstr("chmod 600"));
  EXPECT_THAT(written("short\n").error().message, HasSubstr(":1: a token has at least 20"));
  EXPECT_THAT(
      written(good + "anna anna-token-of-this-server\nanna other-token-of-this-server\n").error().message,
      HasSubstr(":3: the name \"anna\" is taken"));
  EXPECT_THAT(written("# nothing\n").error().message, HasSubstr("no token"));
}

}  // namespace
}  // namespace praxis::server
