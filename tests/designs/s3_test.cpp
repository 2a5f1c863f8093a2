// The programs of docs/designs.md for S3, the agent platform.
#include <praxis/memory/stores.hpp>
#include <praxis/prompts/prompt_store.hpp>

#include "design.hpp"

namespace designs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using AgentPlatform = Design;

std::string search(const std::string& text) { return text.empty() ? "" : "src/parser.cpp"; }
std::string run_test(const std::string& file) { return file + ": 1 failed"; }
std::string open_issue(const std::string& title) { return "issue 12: " + title; }

TEST_F(AgentPlatform, TwoToolsInOneRunAndTheSameRunAgain) {
  const std::string model = script(R"({"tool_calls": [{"name": "search", "arguments": {"text": "parse"}}]}
{"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "file", "value": "src/parser.cpp"}}]}
{"text": "It is in src/parser.cpp."})");
  // begin s3-criteria
  const auto journal = praxis::memory_journal();
  auto runtime = praxis::Runtime::create({.journal = journal, .environment = praxis::fixed_environment(7)});
  const auto agent = praxis::Agent{model}
                         .use(praxis::tool<search>("Searches", {"text"}))
                         .use(praxis::kv_tool())
                         .runtime(runtime);
  const auto reply = agent.run("Where is the parser?");
  if (!reply) return print(reply.error());
  const auto report = praxis::replay(*praxis::read_records(*journal, reply->session));
  // end s3-criteria
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->divergence);
  ASSERT_EQ(reply->actions.size(), 2U);
  EXPECT_EQ(reply->actions[1].tool, "kv");
  EXPECT_EQ(praxis::to_json(*reply).at("memory_deltas").at(0).at("key"), praxis::Json("file"));
}

TEST_F(AgentPlatform, PlanRunsWithoutAModel) {
  // begin s3-plan
  const praxis::Json plan =
      praxis::JsonArray{{{"id", "found"}, {"tool", "search"}, {"input", {{"text", "${prompt}"}}}},
                        {{"id", "kept"},
                         {"tool", "kv"},
                         {"input", {{"op", "put"}, {"key", "file"}, {"value", "${steps.found.text}"}}}},
                        {{"finish", "It is in ${steps.found.text}."}}};
  const auto reply = praxis::Agent{}
                         .use(praxis::tool<search>("Searches", {"text"}))
                         .use(praxis::kv_tool())
                         .plan(plan)
                         .run("parse");
  // end s3-plan
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "It is in src/parser.cpp.");
  EXPECT_EQ(reply->model_calls.size(), 0U);
}

TEST_F(AgentPlatform, RulesJudgeThePlannersStepsToo) {
  // begin s3-validate
  const praxis::Json plan = praxis::JsonArray{{{"tool", "open_issue"}, {"input", {{"title", "It fails"}}}}};
  const auto reply = praxis::Agent{}
                         .use(praxis::tool<open_issue>("Opens an issue", {"title"}))
                         .policy({.allow = {}, .deny = {"open_*"}, .ask = {}})
                         .plan(plan)
                         .run("Go");
  // end s3-validate
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("open_issue"));
}

TEST_F(AgentPlatform, FirstModelThatSupportsTheCallAnswers) {
  const std::string first = script(R"({"error": {"status": 404, "message": "no such model"}})");
  const std::string second = script(R"({"text": "Here."})");
  // begin s3-providers
  const auto services = praxis::default_runtime()->model_services();
  praxis::RouterOptions options;               // in a name: "openai:gpt-5-mini|anthropic:claude-sonnet-5"
  options.strategy = praxis::by_priority;      // or by_cost, or a function of the program
  options.max_usd = praxis::MicroUsd{200000};  // skips models whose estimate for the call is above 20 cents
  const auto model = praxis::make_router(
      {*praxis::make_model(first, services), *praxis::make_model(second, services)}, options);
  const auto reply = praxis::Agent{}.model(model).run("Who answers?");
  // end s3-providers
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "Here.");
}

TEST_F(AgentPlatform, ModelIsCalledWithoutAnAgent) {
  const std::string name = script(R"({"text": "One step at a time."})");
  std::string streamed;
  // begin s3-client
  const auto model = *praxis::make_model(name, praxis::default_runtime()->model_services());
  praxis::ModelRequest request;
  request.history = praxis::normalise({praxis::text_message(praxis::Role::kUser, "How?")}).history;
  const auto answer = praxis::complete(*model, request, {}, [&](const praxis::ModelDelta& delta) {
    if (const auto* chunk = std::get_if<praxis::TextChunk>(&delta)) streamed += chunk->text;
  });
  const praxis::ModelCapabilities capabilities = model->capabilities();
  // end s3-client
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(streamed, "One step at a time.");
  EXPECT_TRUE(capabilities.streaming);
}

TEST_F(AgentPlatform, CallbacksFollowTheRun) {
  const std::string model = script(R"({"tool_calls": [{"name": "search", "arguments": {"text": "parse"}}]}
{"text": "Found."})");
  Lines lines;
  std::string tokens;
  // begin s3-callbacks
  auto session = *praxis::Agent{model}.use(praxis::tool<search>("Searches", {"text"})).session();
  const auto steps = session.on(
      "step.started", [&](const praxis::Event& event) { lines.add("step " + std::to_string(event.step)); });
  const auto text = session.on("text.delta", [&](const praxis::Event& event) {
    tokens += std::get<praxis::events::TextDelta>(event.body).text;
  });
  const auto calls = session.on("tool.called", [&](const praxis::Event& event) {
    lines.add("call " + std::get<praxis::events::ToolCalled>(event.body).name);
  });
  const auto errors = session.on("turn.failed", [&](const praxis::Event&) { lines.add("error"); });
  const auto reply = session.ask("Where is it?");
  // end s3-callbacks
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_THAT(lines.all(), ElementsAre("step 1", "call search", "step 2"));
  EXPECT_EQ(tokens, "Found.");
}

TEST_F(AgentPlatform, ResultSaysWhatWasDone) {
  const std::string model = script(R"({"tool_calls": [{"name": "run_test", "arguments": {"file": "a_test"}}]}
{"text": "It fails.", "usage": {"input": 90, "output": 10, "cost_usd": 0.002}})");
  // begin s3-result
  const auto agent = praxis::Agent{model}.id("tester").use(praxis::tool<run_test>("Runs a test", {"file"}));
  const auto result = agent.run("Does it work?");
  if (!result) return print(result.error());
  std::string report = result->id + (result->success ? " finished" : " failed") + ": " + result->text;
  for (const praxis::ActionResult& action : result->actions)
    report += "\n" + action.tool + ' ' + std::string(praxis::to_string(action.outcome));
  for (const praxis::ModelCall& call : result->model_calls)
    report += "\nmodel call of step " + std::to_string(call.step);
  report +=
      "\n" + std::to_string(result->usage.total()) + " tokens, $" + std::to_string(result->usage.cost.usd());
  const praxis::Json whole = praxis::to_json(*result);  // schema_version, run_id, status, usage, metrics, ...
  // end s3-result
  EXPECT_THAT(
      report,
      HasSubstr("/t1 finished: It fails.\nrun_test ok\nmodel call of step 1\nmodel call of step 2\n"));
  EXPECT_THAT(report, HasSubstr(", $0.002"));
  EXPECT_GT(result->finished_at.value, 0);
  EXPECT_GE(result->finished_at.value, result->started_at.value);
  EXPECT_TRUE(whole.at("metrics").is_object());
}

TEST_F(AgentPlatform, RuntimeMakesSessionsAndRunsOnce) {
  const std::string model = script(R"({"text": "Done."})");
  // begin s3-session
  const auto runtime = praxis::Runtime::create();
  const praxis::Agent agent{model};
  auto session = *runtime->create_session(agent);  // holds all state of its run
  std::ignore = session.add_user_turn("Do it");
  const auto first = session.run().result();              // Session::interrupt aborts it
  const auto second = runtime->run_once(agent, "Again");  // a new session
  runtime->stop();
  // end s3-session
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->session, second->session);
}

TEST_F(AgentPlatform, PolicyAllowsDeniesAndAsks) {
  const std::string model =
      script(R"({"tool_calls": [{"name": "open_issue", "arguments": {"title": "It fails"}}]}
{"text": "Asked for."})");
  // begin s3-policy
  const auto agent = praxis::Agent{model}
                         .use(praxis::tool<search>("Searches", {"text"}))
                         .use(praxis::tool<open_issue>("Opens an issue", {"title"}))
                         .policy({.allow = {"search"}, .deny = {"delete_*"}, .ask = {"open_issue"}});
  auto reply = agent.run("Report it");
  const praxis::ParkedStep parked = reply->pending.at(0);  // durable: decide it in this or another process
  reply = agent.resume(reply->session, {{parked.id, praxis::approve()}});
  // end s3-policy
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "Asked for.");
  EXPECT_EQ(parked.tool, "open_issue");
}

TEST_F(AgentPlatform, NotesBelongToTheirSession) {
  const std::string model =
      script(R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "card", "value": "4111"}}]}
{"text": "Noted."})");
  const std::string reader =
      script(R"({"tool_calls": [{"name": "kv", "arguments": {"op": "get", "key": "card"}}]}
{"text": "Nothing."})");
  // begin s3-memory
  const praxis::Tool notes = praxis::kv_tool();  // of each session; shared_kv_tool() is one for all
  auto first = *praxis::Agent{model}.use(notes).session();
  auto second = *praxis::Agent{reader}.use(notes).session();
  std::ignore = first.ask("My card is 4111");
  std::ignore = second.ask("What is the card?");
  // end s3-memory
  const auto result = std::get<praxis::ToolResultPart>(second.history().messages().at(2)->parts.at(0));
  EXPECT_THAT(result.text, testing::Not(HasSubstr("4111")));
}

TEST_F(AgentPlatform, MemoryAndDatabaseClientsKeepAndFind) {
  // begin s3-clients
  const auto [memory, database] = praxis::memory_in_process();
  std::ignore = memory->append("run/7", {{"step", 1}, {"thought", "read the parser first"}});
  const auto scratch = memory->read("run/7", {.limit = 10});
  std::ignore = database->write("profiles", "ann", {{"name", "Ann"}, {"language", "Portuguese"}});
  const auto ann = database->read("profiles", "ann");
  const auto some = database->query("profiles", *praxis::Filter::parse({{"eq", {"language", "Portuguese"}}}));
  const auto hits = database->search("who speaks Portuguese?", {.top_k = 3});
  std::ignore = memory->clear("run/7");
  // end s3-clients
  EXPECT_EQ(scratch->at(0).value.at("step"), praxis::Json(1));
  EXPECT_EQ(ann.value()->value.at("name"), praxis::Json("Ann"));
  EXPECT_EQ(some->at(0).key, "ann");
  EXPECT_THAT(hits->at(0).terms, ElementsAre("portuguese"));
  EXPECT_TRUE(memory->read("run/7")->empty());
}

TEST_F(AgentPlatform, PromptsHaveVersionsAuthorsAndChecks) {
  std::vector<std::string> audit;
  // begin s3-prompts
  praxis::PromptStoreOptions options;
  options.on_change = [&](const praxis::PromptChange& change) { audit.push_back(change.author); };
  const auto prompts = praxis::memory_prompts(std::move(options));
  std::ignore = prompts->put({.id = "review", .text = "Review {what}.", .required_vars = {"what"}}, "ann");
  std::ignore = prompts->put({.id = "review", .text = "Review {what}. Be brief."}, "bob");
  const auto first = prompts->render("review", {{"what", "{this}"}}, {.version = "1"});
  const auto missing = prompts->render("review", praxis::JsonObject{});
  const auto check = praxis::PromptStore::validate("Review {what");
  // end s3-prompts
  EXPECT_EQ(first->text, "Review {this}.");
  EXPECT_THAT(missing.error().message, HasSubstr("\"what\""));
  EXPECT_FALSE(check.ok);
  EXPECT_THAT(audit, ElementsAre("ann", "bob"));
  EXPECT_EQ(prompts->get("review").value()->created_by, "bob");
}

TEST_F(AgentPlatform, IssueWithAFailingTestIsOpened) {
  const std::string model = script(R"({"tool_calls": [{"name": "search", "arguments": {"text": "parse"}}]}
{"tool_calls": [{"name": "run_test", "arguments": {"file": "src/parser.cpp"}}]}
{"tool_calls": [{"name": "open_issue", "arguments": {"title": "src/parser.cpp: 1 failed"}}]}
{"text": "Opened issue 12."})");
  // begin s3-example
  const auto agent = praxis::Agent{model, "Find the test that shows the fault, run it, and report it."}
                         .id("create-issue")
                         .use(praxis::tool<search>("Searches the repository", {"text"}))
                         .use(praxis::tool<run_test>("Runs one test", {"file"}))
                         .use(praxis::tool<open_issue>("Opens an issue", {"title"}))
                         .limits({.max_steps = 8});
  const auto result = agent.run("The parser loses a line");
  // end s3-example
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "Opened issue 12.");
  EXPECT_EQ(result->steps, 4U);
}

}  // namespace
}  // namespace designs
