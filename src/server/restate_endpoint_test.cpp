#include "server/restate_endpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing/played_restate.hpp"
#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::PlayedRestate;

class RestateEndpointTest : public testing::ServerTest {
 protected:
  ~RestateEndpointTest() override { server_.reset(); }  // before the engine

  ServerOptions at_engine() const {
    ServerOptions options;
    options.restate = RestateOptions{engine_.url(), engine_.url(), "", "token-of-the-engine", {}, {}};
    return options;
  }
  ServerOptions at_engine_with(std::string_view key) const {
    ServerOptions options = at_engine();
    options.restate->keys.push_back(restate::read_identity_key(key).value());
    return options;
  }
  void begin() { start(at_engine()); }
  void begin(ServerOptions options) { start(std::move(options)); }
  /// How a start ends that the engine prevents.
  static std::string failure(ServerOptions options, const std::string& journal) {
    auto workspace = app::open_workspace({.folder = "", .journal = journal});
    auto started = Server::start(*std::move(workspace), std::move(options));
    return started ? "" : started.error().message;
  }
  int status_of(const Result<HttpResponse>& answer) { return answer ? answer->status : 0; }

  PlayedRestate engine_;
};

TEST_F(RestateEndpointTest, TurnEndsAtTheEngineAndInTheJournal) {
  begin();
  const std::string run = create("chat");
  EXPECT_THAT(wait_for(run, "completed").body, HasSubstr("Hello there."));
  EXPECT_THAT(call("GET", "/api/v1/runs/" + run + "/records").body, HasSubstr("turn_settled"));
  EXPECT_THAT(call("POST", "/api/v1/runs/" + run + "/replay").body, HasSubstr(R"("identical":true)"));
  const std::string metrics = call("GET", "/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("\npraxis_engine_invocations_begun_total 1\n"));
  EXPECT_THAT(metrics, Not(HasSubstr("\npraxis_engine_log_bytes_total 0\n")));
  EXPECT_THAT(metrics, HasSubstr("\npraxis_engine_answers_held_back_total 0\n"));
  EXPECT_EQ(call("POST", "/api/v1/runs/" + run + "/messages", R"({"prompt":"again"})").status, 202);
}

TEST_F(RestateEndpointTest, PersonDecidesWhileNothingIsHeld) {
  asking_agent();
  begin();
  const std::string run = create("ask");
  wait_for(run, "awaiting_user");
  EXPECT_EQ(call("POST", "/api/v1/runs/" + run + "/steps/p1", R"({"decision":"allow"})").status, 200);
  EXPECT_THAT(wait_for(run, "completed").body, HasSubstr("Done."));
}

TEST_F(RestateEndpointTest, AnotherProcessContinuesWhatWaits) {
  asking_agent();
  begin();
  const std::string run = create("ask");
  wait_for(run, "awaiting_user");
  server_.reset();
  begin();
  EXPECT_EQ(call("POST", "/api/v1/runs/" + run + "/steps/p1", R"({"decision":"allow"})").status, 200);
  EXPECT_THAT(wait_for(run, "completed").body, HasSubstr("Done."));
}

TEST_F(RestateEndpointTest, DescribesItsHandlers) {
  begin();
  const auto manifest =
      engine_.send("GET", "/discover", {}, {{"accept", "application/vnd.restate.endpointmanifest.v4+json"}});
  ASSERT_EQ(status_of(manifest), 200);
  EXPECT_THAT(manifest->body, HasSubstr(R"("protocolMode":"REQUEST_RESPONSE")"));
  EXPECT_THAT(manifest->body, HasSubstr(R"("name":"wake","ty":"SHARED")"));
  EXPECT_EQ(status_of(engine_.send("GET", "/discover", {}, {{"accept", "application/json"}})), 415);
  EXPECT_TRUE(json_bool(engine_.registered(), "use_http_11"));
}

TEST_F(RestateEndpointTest, RefusesWhoIsNotTheEngine) {
  begin();
  for (const char* path : {"/discover", "/invoke/praxis/run"}) {
    EXPECT_EQ(status_of(engine_.send("POST", path, "x", {{"authorization", "Bearer other"}})), 401);
    EXPECT_EQ(status_of(engine_.send("POST", path, "x", {{"authorization", ""}})), 401);
  }
  EXPECT_EQ(status_of(engine_.send("POST", "/invoke/praxis/other", "x")), 404);
  EXPECT_EQ(status_of(engine_.send("POST", "/invoke/other/run", "x")), 404);
  const auto spoken = [&](const char* type) {
    return status_of(engine_.send("POST", "/invoke/praxis/run", "x", {{"content-type", type}}));
  };
  EXPECT_EQ(spoken("application/vnd.restate.invocation.v7"), 415);
  EXPECT_EQ(spoken("application/vnd.restate.invocation.v5"), 400);  // the body is no request
}

TEST_F(RestateEndpointTest, RequestsOfAKnownKeyAreCarriedOut) {
  begin(at_engine_with(restate::testing::kSigningKey));
  const std::string run = create("chat");
  EXPECT_THAT(wait_for(run, "completed").body, HasSubstr("Hello there."));
}

TEST_F(RestateEndpointTest, RefusesWhatIsNotSignedWithAKnownKey) {
  begin(at_engine_with(restate::testing::kSigningKey));
  const auto refused = [&](const char* scheme, const std::string& token) {
    testing::PlayedRestate::Engine invocation("unsigned");
    const auto answer = engine_.send("POST", "/invoke/praxis/run", invocation.body(),
                                     {{"content-type", PlayedRestate::kProtocol},
                                      {restate::kSchemeHeader, scheme},
                                      {restate::kSignatureHeader, token}});
    return std::to_string(status_of(answer)) + ' ' + (answer ? answer->body : "");
  };
  EXPECT_EQ(refused("unsigned", ""), "401 the request is not signed\n");
  EXPECT_EQ(refused("v1", "e30.e30."), "401 the token of the signature has another algorithm than EdDSA\n");
  const auto old = restate::testing::token_for("/invoke/praxis/run", restate::testing::kRecordedAt);
  EXPECT_EQ(refused("v1", old), "401 the signature is not of this time; compare the clocks\n");
  EXPECT_EQ(status_of(engine_.send("GET", "/discover", {}, {{restate::kSchemeHeader, "unsigned"}})), 401);
  EXPECT_THAT(call("GET", "/metrics").body,
              HasSubstr("\npraxis_engine_requests_refused_total{reason=\"signature\"} 4\n"));
}

TEST_F(RestateEndpointTest, SignaturesOfAnotherKeyAreRefused) {
  begin(at_engine_with("publickeyv1_5vkm1q4HQYmnwae6xTASVuaPETUS4Zt3ZJsmLa2H9R9P"));
  testing::PlayedRestate::Engine invocation("other");
  const auto answer = engine_.invoke("run", invocation.body());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "the signature is not of a key that this process knows\n");
}

TEST_F(RestateEndpointTest, InvocationOfWhatIsNoRunEnds) {
  begin();
  for (const char* key : {"unknown", "../up", "\xFF"}) {
    testing::PlayedRestate::Engine invocation(key);
    const auto answer = engine_.invoke("run", invocation.body());
    ASSERT_TRUE(answer) << answer.error().message;
    invocation.take(*answer);
    EXPECT_EQ(invocation.end(), testing::PlayedRestate::Engine::End::kEnded);
  }
}

TEST_F(RestateEndpointTest, StartSaysWhyTheEngineCannotBeUsed) {
  const std::string journal = (folder_ / "runs.db").string();
  engine_.answer_registrations(500);
  EXPECT_THAT(failure(at_engine(), journal),
              HasSubstr("Restate refused to register this process (500): the reason"));
  ServerOptions nowhere = at_engine();
  nowhere.restate->admin = "http://127.0.0.1:1";
  EXPECT_THAT(failure(std::move(nowhere), journal),
              HasSubstr("Restate does not answer at http://127.0.0.1:1"));
}

}  // namespace
}  // namespace praxis::server
