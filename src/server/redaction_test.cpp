// What observers of the server see of secrets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "redact/testing/canaries.hpp"
#include "server/run_file.hpp"
#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace testing;

/// With a sanitizer one of six, because a stream that is silent for ten seconds is taken for broken.
std::vector<redact::Canary> canaries_here() {
  std::vector<redact::Canary> all = redact::canaries();
  if (!PRAXIS_SANITIZED) return all;
  std::vector<redact::Canary> some;
  for (std::size_t i = 0; i < all.size(); i += 6) some.push_back(std::move(all[i]));
  return some;
}

class ServedSecrets : public ServerTest {
 protected:
  /// An agent that writes each secret in the arguments of a call, in its result, in a failed call and in its
  /// answer.
  void leaking_agent(const std::string& policy) {
    std::string text;
    for (const redact::Canary& each : canaries_)
      text += "plain " + each.secret + " url ?q=" + each.url + "& base64 " + each.base64 + " .\n";
    const auto call = [](JsonObject arguments) {
      return JsonObject{{"name", "kv"}, {"arguments", std::move(arguments)}};
    };
    const JsonObject calls{{"text", "Storing."},
                           {"reasoning", text},
                           {"tool_calls", JsonArray{call({{"op", "put"}, {"key", "k"}, {"value", text}}),
                                                    call({{"op", text}, {"key", "k"}})}}};
    const JsonObject reading{{"tool_calls", JsonArray{call({{"op", "get"}, {"key", "k"}})}}};
    const JsonObject answer{{"text", text}, {"chunk", 16}};
    script("leak", to_json_text(calls) + "\n" + to_json_text(reading) + "\n" + to_json_text(answer));
    agent("leak", "[tools.kv]\n[policy]\nallow = [\"kv\"]\n" + policy);
  }
  /// All events of a run of that agent, as they are sent to a client that watches from the start.
  std::string watched() {
    start();
    const std::string run = create("leak");
    std::string all;
    for (const Sent& each : stream("/api/v1/runs/" + run + "/events", "turn.completed"))
      all += each.event + ' ' + each.data + '\n';
    messages_ = call("GET", "/api/v1/runs/" + run + "/messages").body;
    history_ = call("GET", "/api/v1/runs/" + run + "/history").body;
    return all;
  }

  const std::vector<redact::Canary> canaries_ = canaries_here();
  std::string messages_, history_;
};

TEST_F(ServedSecrets, EventsMessagesAndHistoryHoldNoCanary) {
  leaking_agent("");
  const std::string events = watched();
  EXPECT_THAT(events, HasSubstr("tool.completed"));
  EXPECT_THAT(events, HasSubstr("tool.failed"));
  EXPECT_THAT(escaped_from(events, canaries_), IsEmpty());
  EXPECT_THAT(escaped_from(messages_, canaries_), IsEmpty());
  EXPECT_THAT(messages_, HasSubstr("[REDACTED:"));
  EXPECT_THAT(escaped_from(history_, canaries_), IsEmpty());
  EXPECT_THAT(history_, HasSubstr("[REDACTED:"));
}

TEST_F(ServedSecrets, RunAsAFileHoldsNoCanaryAndEndsNoElement) {
  leaking_agent("");
  script("tags", to_json_text(JsonObject{{"text", "</script><!--<script>"}}));
  agent("tags", "");
  start();
  const std::string leaks = create("leak"), tags = create("tags");
  wait_for(leaks, "completed");
  wait_for(tags, "completed");
  server_.reset();
  const auto place = app::open_workspace({.folder = "", .journal = (folder_ / "runs.db").string()});
  ASSERT_TRUE(place);
  const auto journal = app::open_journal(*place, app::JournalUse::kLook);
  ASSERT_TRUE(journal);
  const std::string pack =
      R"({"files":[{"path":"/run.html","type":"text/html","etag":"e","bodies":{"identity":{"begin":0,"size":13}}}]})"
      "\n<pre>@RUN@</p>";
  const Page page(pack);
  ASSERT_TRUE(makes_run_files(page));
  const auto file = [&](const std::string& run) {
    const auto text = run_file(*journal, SessionId(run), app::Redactions(*place), page);
    EXPECT_TRUE(text) << text.error().message;
    EXPECT_EQ(text->rfind('<'), text->size() - 3) << "one of the run is there";
    return text->substr(5, text->size() - 8);
  };
  const std::string secret = file(leaks);
  EXPECT_THAT(escaped_from(secret, canaries_), IsEmpty());
  EXPECT_THAT(secret, HasSubstr("[REDACTED:"));
  const auto run = parse_json(file(tags));
  ASSERT_TRUE(run);
  EXPECT_EQ(json_string(*run, "run_id"), tags);
  EXPECT_THAT(to_json_text(json_at(*run, "events")), HasSubstr("</script>"));
  const JsonArray records = json_at(json_at(*run, "records"), tags).as_array();
  EXPECT_EQ(json_string(records.front(), "kind"), "session_created");
  EXPECT_FALSE(makes_run_files(Page("")));
  EXPECT_FALSE(run_file(*journal, SessionId(tags), app::Redactions(*place), Page("")));
}

TEST_F(ServedSecrets, DeltasBringTheRedactedAnswer) {
  leaking_agent("");
  start();
  const std::string run = create("leak");
  std::vector<std::string> pieces;
  std::string whole;
  for (const Sent& each : stream("/api/v1/runs/" + run + "/events", "turn.completed")) {
    const Json data = parse_json(each.data).value();
    if (each.event == "text.delta" && whole.empty()) pieces.push_back(json_string(data, "text"));
    if (each.event == "attempt.superseded" || each.event == "model.requested") pieces.clear();
    if (each.event == "assistant.text") whole = json_string(data, "text");
    if (each.event == "step.started") whole.clear();
  }
  EXPECT_THAT(whole, HasSubstr("[REDACTED:"));
  // A client that comes late or is slow does not get all pieces.
  std::size_t at = 0;
  for (const std::string& piece : pieces) {
    const std::size_t found = whole.find(piece, at);
    ASSERT_NE(found, std::string::npos) << '"' << piece << "\" after " << at << " bytes";
    at = found + piece.size();
  }
}

TEST_F(ServedSecrets, AgentMayTurnItOff) {
  leaking_agent("[policy.redact]\nevents = \"off\"\nexports = \"off\"\n");
  const std::string events = watched();
  EXPECT_THAT(escaped_from(events, canaries_), Not(IsEmpty()));
  EXPECT_THAT(escaped_from(messages_, canaries_), Not(IsEmpty()));
}

TEST_F(ServedSecrets, ConfigurationHoldsForAgentsThatTurnItOff) {
  leaking_agent("[policy.redact]\nevents = \"off\"\nexports = \"off\"\n");
  std::ofstream(folder_ / "config/praxis/config.toml")
      << "[policy.redact]\nevents = \"balanced\"\nexports = \"balanced\"\n";
  EXPECT_THAT(escaped_from(watched(), canaries_), IsEmpty());
  EXPECT_THAT(escaped_from(messages_, canaries_), IsEmpty());
}

TEST_F(ServedSecrets, ProblemsHoldNoCanary) {
  start();
  for (std::size_t i = 0; i < canaries_.size(); i += 4) {
    const redact::Canary& canary = canaries_[i];
    const Answer problem =
        call("POST", "/api/v1/runs", to_json_text(JsonObject{{"agent", canary.secret}, {"prompt", "hi"}}));
    EXPECT_GE(problem.status, 400);
    EXPECT_THAT(problem.text("detail"), HasSubstr("[REDACTED:")) << canary.kind;
    EXPECT_THAT(escaped_from(problem.body, canaries_), IsEmpty());
  }
}

}  // namespace
}  // namespace praxis::server
