// What people need to decide a step and to branch off: the step with its rule, edited forks, branches,
// records, and the description of these answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <utility>

#include "journal/testing/locks.hpp"
#include "praxis/json/schema.hpp"
#include "server/routes.hpp"
#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using testing::Answer;
using ::testing::HasSubstr;
using testing::kAnna;
using testing::kOwner;
using ::testing::Not;
using testing::ServerTest;

class ServedSteps : public ServerTest {
 protected:
  /// Starts a run of `ask` that waits; returns its id.
  std::string waiting(std::string_view token = kOwner) const {
    const std::string run = create("ask", token);
    wait_for(run, "awaiting_user");
    return run;
  }
  static std::string step_of(const std::string& run) { return "/api/v1/runs/" + run + "/steps/p1"; }
  /// The records of a run.
  JsonArray records(const std::string& run, const std::string& query = "?limit=1000") const {
    const Answer answer = call("GET", "/api/v1/runs/" + run + "/records" + query);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json_at(answer.json, "records").as_array();
  }
  Answer fork(const std::string& run, const JsonObject& body) const {
    return call("POST", "/api/v1/runs/" + run + "/fork", to_json_text(body));
  }
};

// ---- deciding

TEST_F(ServedSteps, StepComesWithItsToolAndTheRuleThatWouldAllowIt) {
  asking_agent();
  start();
  const Answer step = call("GET", step_of(waiting()));
  ASSERT_EQ(step.status, 200) << step.body;
  EXPECT_EQ(step.text("tool"), "kv");
  EXPECT_EQ(json_string(json_at(step.json, "parameters"), "type"), "object") << step.body;
  const Json& rule = json_at(json_at(step.json, "rule"), "call");
  EXPECT_EQ(json_string(rule, "tool"), "kv") << step.body;
  EXPECT_EQ(json_at(rule, "arguments"), json_at(step.json, "arguments"));
  EXPECT_EQ(call("GET", "/api/v1/runs/" + step.text("run") + "/steps/p9").status, 404);
}

TEST_F(ServedSteps, AgreedRuleIsSavedAndHoldsFromThenOn) {
  asking_agent();
  start();
  const std::string run = waiting();
  const Answer step = call("GET", step_of(run));
  const Json rule = json_at(json_at(step.json, "rule"), "call");
  const JsonObject decision{{"decision", "allow"}, {"rule", rule}};
  const Answer decided = call("POST", step_of(run), to_json_text(decision));
  ASSERT_EQ(decided.status, 200) << decided.body;
  wait_for(run, "completed");
  wait_for(create("ask"), "completed");
}

TEST_F(ServedSteps, RuleThatDoesNotAllowTheCallIsRefusedAndDecidesNothing) {
  asking_agent();
  start();
  const std::string run = waiting();
  const JsonObject other{{"tool", "kv"}, {"arguments", JsonObject{{"op", "get"}, {"key", "k"}}}};
  const JsonObject decision{{"decision", "allow"}, {"rule", other}};
  const Answer refused = call("POST", step_of(run), to_json_text(decision));
  EXPECT_EQ(refused.status, 400) << refused.body;
  EXPECT_EQ(refused.text("field"), "rule");
  EXPECT_EQ(call("GET", step_of(run)).status, 200) << "it still waits";
  const JsonObject denied{{"decision", "deny"}, {"rule", other}};
  EXPECT_EQ(call("POST", step_of(run), to_json_text(denied)).text("field"), "rule");
}

TEST_F(ServedSteps, OthersSaveNoRules) {
  asking_agent();
  start();
  const std::string run = waiting(kAnna);
  const Answer step = call("GET", step_of(run), "", kAnna);
  ASSERT_EQ(step.status, 200) << step.body;
  EXPECT_EQ(json_at(step.json, "rule"), Json(nullptr));
  EXPECT_THAT(step.text("no_rule"), HasSubstr("this token"));
  const Json rule = json_at(json_at(call("GET", step_of(run)).json, "rule"), "call");
  const JsonObject decision{{"decision", "allow"}, {"rule", rule}};
  EXPECT_EQ(call("POST", step_of(run), to_json_text(decision), kAnna).text("field"), "rule");
  EXPECT_EQ(call("GET", step_of(run), "", kAnna).status, 200) << "it still waits";
}

TEST_F(ServedSteps, ChangeOfAFileIsShownToTheOwnerOnly) {
  const std::string file = (folder_ / "notes.txt").string();
  std::ofstream(file) << "one\ntwo\n";
  const JsonObject change{{"path", file}, {"content", "one\nthree\n"}};
  const JsonObject write{{"name", "file_write"}, {"arguments", change}};
  script("writes", to_json_text(JsonObject{{"tool_calls", JsonArray{write}}}));
  agent("writes", "[tools.file]\nwrite = [\"" + folder_.string() + "\"]\n[policy]\nask = [\"file_write\"]\n");
  start();
  const auto changes = [&](std::string_view token) {
    const std::string run = create("writes", token);
    wait_for(run, "awaiting_user");
    const Answer step = call("GET", step_of(run), "", token);
    return to_json_text(json_at(step.json, "changes"));
  };
  EXPECT_THAT(changes(kOwner), ::testing::AllOf(HasSubstr("\"-two\""), HasSubstr("\"+three\"")));
  EXPECT_EQ(changes(kAnna), "[]");
}

// ---- branches

/// An agent that looks something up and answers; its run, completed.
class ServedBranches : public ServedSteps {
 protected:
  void SetUp() override {
    script("looks",
           "{\"text\":\"I "
           "look.\",\"tool_calls\":[{\"name\":\"kv\",\"arguments\":{\"op\":\"get\",\"key\":\"k\"}}]}\n"
           "{\"text\":\"Seen.\"}");
    agent("looks", "[tools.kv]\n[policy]\nallow = [\"kv\"]\n");
    start();
    run_ = create("looks");
    wait_for(run_, "completed");
    before_ = records(run_);
  }
  /// The first record that settles a call of the model, or of a tool.
  const Json& settled(bool of_model) const {
    for (const Json& record : before_) {
      const bool has_answer = !json_at(json_at(record, "body"), "response").is_null();
      if (json_string(record, "kind") == "effect_settled" && has_answer == of_model) return record;
    }
    throw std::runtime_error("the run has no such record");
  }
  /// The first record of a kind.
  Json record_of(const std::string& run, std::string_view kind) const {
    for (const Json& record : records(run)) {
      if (json_string(record, "kind") == kind) return record;
    }
    ADD_FAILURE() << run << " has no record " << kind;
    return nullptr;
  }
  std::int64_t first_request() const { return json_int(record_of(run_, "effect_intended"), "seq"); }
  std::string finished_fork(const JsonObject& body) const {
    const Answer made = fork(run_, body);
    EXPECT_EQ(made.status, 201) << made.body;
    wait_for(made.text("id"), "completed");
    EXPECT_EQ(records(run_), before_) << "the original does not change";
    return made.text("id");
  }
  std::string run_;
  JsonArray before_;
};

TEST_F(ServedBranches, ResultOfAToolIsReplaced) {
  const std::string branch = finished_fork({{"seq", json_at(settled(false), "seq")},
                                            {"edit", JsonObject{{"text", "it is 7"}}},
                                            {"continue", true}});
  const Json items = json_at(call("GET", "/api/v1/runs/" + branch + "/messages").json, "items");
  EXPECT_THAT(to_json_text(items), HasSubstr("it is 7"));
  EXPECT_THAT(to_json_text(items), HasSubstr("Seen."));
  EXPECT_EQ(json_at(call("POST", "/api/v1/runs/" + branch + "/replay").json, "identical"), Json(true));
}

TEST_F(ServedBranches, ArgumentsOfACallAreReplaced) {
  const Json& answer = settled(true);
  std::string id;
  for (const Json& part : json_at(json_at(json_at(answer, "body"), "response"), "content").as_array()) {
    if (json_string(part, "type") == "tool_call") id = json_string(part, "id");
  }
  ASSERT_FALSE(id.empty()) << to_json_text(answer);
  const JsonObject arguments{{"op", "put"}, {"key", "k"}, {"value", "from the branch"}};
  const std::string branch = finished_fork({{"seq", json_at(answer, "seq")},
                                            {"edit", JsonObject{{"call", id}, {"arguments", arguments}}},
                                            {"continue", true}});
  const Json action = json_at(call("GET", "/api/v1/runs/" + branch).json, "actions").as_array().at(0);
  EXPECT_EQ(json_at(action, "arguments"), Json(arguments)) << to_json_text(action);
}

TEST_F(ServedBranches, EditThatDoesNotFitMakesNoBranch) {
  const std::size_t runs = json_at(call("GET", "/api/v1/runs").json, "runs").as_array().size();
  const Json result = json_at(settled(false), "seq"), answer = json_at(settled(true), "seq");
  for (const JsonObject& body :
       {JsonObject{{"seq", 1}, {"edit", JsonObject{{"text", "x"}}}},
        JsonObject{{"seq", result}, {"edit", JsonObject{{"call", "c"}, {"arguments", JsonObject{}}}}},
        JsonObject{{"seq", answer}, {"edit", JsonObject{{"call", "none"}, {"arguments", JsonObject{}}}}},
        JsonObject{{"seq", answer}, {"edit", JsonObject{{"call", "none"}}}},
        JsonObject{{"seq", answer}, {"edit", JsonObject{{"words", "x"}}}},
        JsonObject{{"seq", answer}, {"edit", "x"}},
        JsonObject{{"seq", answer}, {"model", "script:/etc/passwd"}, {"continue", true}},
        JsonObject{{"seq", answer}, {"model", "llamacpp:x"}},
        JsonObject{{"seq", answer}, {"instructions", "x"}}, JsonObject{{"seq", answer}, {"once", true}},
        JsonObject{{"seq", answer}, {"once", "yes"}, {"continue", true}},
        JsonObject{{"seq", answer}, {"limits", JsonObject{{"max_steps", -1}}}, {"continue", true}},
        JsonObject{{"seq", answer}, {"prompt", "x"}, {"continue", true}}}) {
    EXPECT_EQ(fork(run_, body).status, 400) << to_json_text(body);
  }
  EXPECT_EQ(json_at(call("GET", "/api/v1/runs").json, "runs").as_array().size(), runs);
}

TEST_F(ServedBranches, RequestIsSentWithOtherInstructions) {
  const std::string branch = finished_fork(
      {{"seq", first_request() - 1}, {"instructions", "Answer in one word."}, {"continue", true}});
  const Json changed = json_at(json_at(record_of(branch, "intervened"), "body"), "agent");
  EXPECT_EQ(json_string(changed, "instructions"), "Answer in one word.");
  EXPECT_EQ(json_at(call("POST", "/api/v1/runs/" + branch + "/replay").json, "identical"), Json(true));
}

TEST_F(ServedBranches, OthersKeepTheInstructions) {
  const std::string run = create("looks", kAnna);
  wait_for(run, "completed");
  const JsonObject body{{"seq", 3}, {"instructions", "Obey."}, {"continue", true}};
  const std::string path = "/api/v1/runs/" + run + "/fork";
  EXPECT_EQ(call("POST", path, to_json_text(body), kAnna).status, 403);
  EXPECT_EQ(call("POST", path, R"({"seq":3,"continue":true})", kAnna).status, 201);
}

TEST_F(ServedBranches, OneAnswerIsAskedForAndNoToolRuns) {
  const Answer made = fork(run_, {{"seq", first_request() - 1},
                                  {"once", true},
                                  {"limits", JsonObject{{"max_usd", 0.5}}},
                                  {"continue", true}});
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string path = "/api/v1/runs/" + made.text("id");
  const Answer ended = wait_for(made.text("id"), "error");
  EXPECT_EQ(ended.text("termination"), "max_steps") << ended.body;
  for (const Json& record : records(made.text("id"))) {
    const bool is_intent = json_string(record, "kind") == "effect_intended";
    EXPECT_FALSE(is_intent && json_string(json_at(record, "body"), "kind") == "tool") << to_json_text(record);
  }
  const std::string messages = call("GET", path + "/messages").body;
  EXPECT_THAT(messages, ::testing::AllOf(HasSubstr("calls are not run"), Not(HasSubstr("Seen."))));
  const Json limits =
      json_at(json_at(json_at(record_of(made.text("id"), "intervened"), "body"), "agent"), "limits");
  EXPECT_EQ(to_json_text(json_at(limits, "max_usd")), "0.5");
}

TEST_F(ServedSteps, OneAnswerAsksNobodyAboutItsCalls) {
  asking_agent();
  start();
  const std::string run = waiting();
  std::int64_t request = 0;
  for (const Json& record : records(run)) {
    if (request == 0 && json_string(record, "kind") == "effect_intended") request = json_int(record, "seq");
  }
  const Answer made = fork(run, {{"seq", request - 1}, {"once", true}, {"continue", true}});
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(wait_for(made.text("id"), "error").text("termination"), "max_steps");
}

TEST_F(ServedBranches, FamilyOfARunIsListed) {
  const std::string child = fork(run_, {{"seq", 3}}).text("id");
  const std::string grandchild = fork(child, {{"seq", 2}}).text("id");
  create("looks");
  const Answer answer = call("GET", "/api/v1/runs/" + child + "/branches");
  std::map<std::string, std::pair<std::string, std::int64_t>> from;
  for (const Json& branch : json_at(answer.json, "branches").as_array())
    from[json_string(branch, "id")] = {json_string(branch, "from"), json_int(branch, "at")};
  const decltype(from) expected{{run_, {"", 0}}, {child, {run_, 3}}, {grandchild, {child, 2}}};
  EXPECT_EQ(from, expected) << answer.body;
}

TEST_F(ServedBranches, RecordsComeInPages) {
  const JsonArray page = records(run_, "?from=3&limit=2");
  ASSERT_EQ(page.size(), 2U);
  EXPECT_EQ(page.at(0), before_.at(2));
  EXPECT_EQ(page.at(1), before_.at(3));
  EXPECT_TRUE(records(run_, "?from=1000000").empty());
  const Answer all = call("GET", "/api/v1/runs/" + run_ + "/records?limit=0");
  EXPECT_EQ(json_int(all.json, "total"), std::ssize(before_)) << all.body;
  EXPECT_EQ(call("GET", "/api/v1/runs/" + run_ + "/records?limit=1001").text("field"), "limit");
}

// ---- agents

TEST_F(ServedSteps, RulesOfAnAgentAreTriedWithoutRunning) {
  asking_agent();
  start();
  const auto permission = [&](const std::string& body) {
    return call("POST", "/api/v1/agents/ask/policy", body).text("permission");
  };
  EXPECT_EQ(permission(R"({"tool":"kv","arguments":{"op":"get","key":"k"}})"), "ask");
  EXPECT_EQ(call("POST", "/api/v1/agents/ask/policy", R"({"tool":"other"})").text("field"), "tool");
  EXPECT_EQ(call("POST", "/api/v1/agents/absent/policy", R"({"tool":"kv"})").status, 404);
  EXPECT_EQ(call("GET", "/api/v1/agents/absent").status, 404);
  EXPECT_THAT(call("GET", "/api/v1/agents/ask").body, HasSubstr("\"kv\""));
  EXPECT_TRUE(json_at(call("GET", "/api/v1/runs").json, "runs").as_array().empty());
}

TEST_F(ServedSteps, DoctorChecksTheServerForTheOwner) {
  start();
  const Answer answer = call("GET", "/api/v1/doctor");
  ASSERT_EQ(answer.status, 200) << answer.body;
  std::map<std::string, std::string> found;
  for (const Json& check : json_at(answer.json, "checks").as_array())
    found.emplace(json_string(check, "name"), json_string(check, "status"));
  EXPECT_EQ(found["journal"], "ok") << answer.body;
  EXPECT_EQ(found["configuration"], "ok") << answer.body;
  EXPECT_TRUE(found.contains("sandbox")) << answer.body;
  EXPECT_EQ(call("GET", "/api/v1/doctor", "", kAnna).status, 403);
}

TEST_F(ServedSteps, DoctorLeavesTheJournalLocked) {
  start();
  ASSERT_TRUE(praxis::testing::keeps_locks((folder_ / "runs.db").string()));
  ASSERT_EQ(call("GET", "/api/v1/doctor").status, 200);
  EXPECT_TRUE(praxis::testing::keeps_locks((folder_ / "runs.db").string()))
      << "or the next process that ends takes the log away";
}

TEST_F(ServedSteps, FilesThatARunChangedAreShownToTheOwner) {
  const std::string file = (folder_ / "notes.txt").string();
  std::ofstream(file) << "one\ntwo\n";
  const JsonObject change{{"path", file}, {"content", "one\nthree\n"}};
  const JsonObject write{{"name", "file_write"}, {"arguments", change}};
  script("writes",
         to_json_text(JsonObject{{"tool_calls", JsonArray{write}}}) + "\n" + R"({"text":"Written."})");
  agent("writes",
        "[tools.file]\nwrite = [\"" + folder_.string() + "\"]\n[policy]\nallow = [\"file_write\"]\n");
  start();
  const std::string run = create("writes");
  wait_for(run, "completed");
  const Answer diff = call("GET", "/api/v1/runs/" + run + "/diff");
  ASSERT_EQ(diff.status, 200) << diff.body;
  const JsonArray files = json_at(diff.json, "files").as_array();
  ASSERT_EQ(files.size(), 1U) << diff.body;
  EXPECT_EQ(json_string(files[0], "status"), "modified");
  const std::string lines = to_json_text(json_at(files[0], "lines"));
  EXPECT_THAT(lines, ::testing::AllOf(HasSubstr("\"-two\""), HasSubstr("\"+three\"")));
  const Answer later = call("GET", "/api/v1/runs/" + run + "/diff?after=1000");
  EXPECT_TRUE(json_at(later.json, "files").as_array().empty()) << later.body;
  EXPECT_EQ(call("GET", "/api/v1/runs/" + run + "/diff", "", kAnna).status, 404);
  const std::string own = create("writes", kAnna);
  wait_for(own, "completed");
  EXPECT_EQ(call("GET", "/api/v1/runs/" + own + "/diff", "", kAnna).status, 403);
}

TEST_F(ServedSteps, SettingsAreForTheOwner) {
  start();
  EXPECT_EQ(call("GET", "/api/v1/settings").status, 200);
  EXPECT_EQ(call("GET", "/api/v1/settings", "", kAnna).status, 403);
}

TEST_F(ServedSteps, ModelsOfAProviderAreListedWithWhatIsKnownOfThem) {
  start();
  const Json one = call("GET", "/api/v1/models?provider=openai").json;
  ASSERT_EQ(json_at(one, "providers").as_array().size(), 1U);
  EXPECT_THAT(to_json_text(json_at(json_at(one, "providers").at(0), "models")), HasSubstr("context_window"));
  EXPECT_EQ(call("GET", "/api/v1/models?provider=nowhere").status, 404);
  EXPECT_EQ(call("GET", "/api/v1/models").status, 200);
}

TEST_F(ServedBranches, BranchWhoseTurnCannotBeginIsTakenBack) {
  const std::size_t before = json_at(call("GET", "/api/v1/runs").json, "runs").as_array().size();
  const std::string path = "/api/v1/runs/" + run_ + "/fork";
  EXPECT_EQ(call("POST", path, R"({"seq":3,"prompt":"again"})").status, 409) << "in the middle of a turn";
  EXPECT_EQ(call("POST", path, R"({"continue":true})").status, 409) << "without a turn to continue";
  EXPECT_EQ(json_at(call("GET", "/api/v1/runs").json, "runs").as_array().size(), before);
}

// ---- the description

TEST(OpenApiFile, IsThePublishedOne) {
  const std::string name = PRAXIS_SOURCE_DIR "/share/praxis/openapi.json";
  if (std::getenv("PRAXIS_UPDATE_OPENAPI") != nullptr) std::ofstream(name) << to_json_text(openapi()) << '\n';
  std::ifstream file(name);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, to_json_text(openapi()) + '\n')
      << "PRAXIS_UPDATE_OPENAPI=1 with this test writes share/praxis/openapi.json";
}

TEST_F(ServedBranches, AnswersFollowTheirDescription) {
  asking_agent();
  const std::string asks = waiting(), other = fork(run_, {{"seq", 3}}).text("id");
  const Json description = openapi();
  const auto check = [&](std::string_view method, std::string_view path, const std::string& at,
                         std::string_view body = "") {
    const Answer answer = call(method, at, body);
    const Json& operation =
        json_at(json_at(json_at(description, "paths"), path), method == "GET" ? "get" : "post");
    for (const auto& [status, response] : json_at(operation, "responses").as_object()) {
      if (status == "default" || status == "101") continue;
      EXPECT_EQ(std::to_string(answer.status), status) << path << ": " << answer.body;
      Json schema = json_at(json_at(json_at(response, "content"), "application/json"), "schema");
      schema.as_object()["components"] = json_at(description, "components");
      const auto compiled = JsonSchema::compile(schema);
      ASSERT_TRUE(compiled.has_value()) << path << ": " << compiled.error().message;
      const auto problems = compiled->validate(answer.json);
      EXPECT_TRUE(problems.empty()) << path << ": " << (problems.empty() ? "" : problems.front().message)
                                    << '\n'
                                    << answer.body;
    }
  };
  const std::string runs = "/api/v1/runs/", at = runs + run_;
  check("GET", "/api/v1/agents", "/api/v1/agents");
  check("GET", "/api/v1/agents/{agent}", "/api/v1/agents/looks");
  check("POST", "/api/v1/agents/{agent}/policy", "/api/v1/agents/looks/policy", R"({"tool":"kv"})");
  check("GET", "/api/v1/runs", "/api/v1/runs");
  check("GET", "/api/v1/runs/{id}", at);
  check("GET", "/api/v1/runs/{id}", runs + asks);
  check("GET", "/api/v1/runs/{id}/messages", at + "/messages");
  check("GET", "/api/v1/runs/{id}/history", at + "/history?limit=2");
  check("GET", "/api/v1/runs/{id}/tree", at + "/tree");
  check("GET", "/api/v1/runs/{id}/tree/rows", at + "/tree/rows");
  check("GET", "/api/v1/tree", "/api/v1/tree");
  check("GET", "/api/v1/runs/{id}/branches", at + "/branches");
  check("GET", "/api/v1/runs/{id}/records", at + "/records");
  check("POST", "/api/v1/runs/{id}/replay", at + "/replay");
  check("GET", "/api/v1/runs/{id}/compare/{other}", at + "/compare/" + other);
  check("GET", "/api/v1/pending", "/api/v1/pending");
  check("GET", "/api/v1/runs/{id}/steps/{step}", step_of(asks));
  check("GET", "/api/v1/usage", "/api/v1/usage");
  check("GET", "/api/v1/settings", "/api/v1/settings");
  check("GET", "/api/v1/doctor", "/api/v1/doctor");
  check("GET", "/api/v1/models", "/api/v1/models?provider=openai");
  check("GET", "/api/v1/runs/{id}/diff", at + "/diff");
  check("GET", "/api/v1/prompts", "/api/v1/prompts");
  check("GET", "/api/v1/memory", "/api/v1/memory");
  check("POST", "/api/v1/runs/{id}/commands", runs + asks + "/commands",
        R"({"commands":[{"verb":"annotate","text":"x"}]})");
  check("POST", "/api/v1/runs/{id}/steps/{step}", step_of(asks), R"({"decision":"deny"})");
  check("POST", "/api/v1/runs/{id}/fork", at + "/fork");
  check("POST", "/api/v1/runs/{id}/messages", at + "/messages", R"({"prompt":"again"})");
  check("POST", "/api/v1/runs", "/api/v1/runs", R"({"agent":"chat","prompt":"hi"})");
}

}  // namespace
}  // namespace praxis::server
