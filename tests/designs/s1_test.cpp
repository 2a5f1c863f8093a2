// The programs of docs/designs.md for S1, the agent layer.
#include "design.hpp"

namespace designs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using AgentLayer = Design;

// begin s1-tool
struct Place {
  praxis::arg<std::string, "A city"> city;
};
PRAXIS_FIELDS(Place, city)

struct Sky {
  std::string sky;
  int celsius = 0;
};
PRAXIS_FIELDS(Sky, sky, celsius)

Sky look_up(praxis::ToolContext& context, const Place& place) {
  // The context holds the conversation so far, the agent's id, the session and the caller's metadata.
  if (context.conversation.messages().empty()) return {};
  return place.city == "Paris" ? Sky{"sunny", 24} : Sky{"cloudy", 12};
}
// end s1-tool

constexpr const char* kWeather = R"({"tool_calls": [{"name": "look_up", "arguments": {"city": "Paris"}}]}
{"text": "It is sunny."})";

TEST_F(AgentLayer, ConversationIsAListOfMessagesWithParts) {
  // begin s1-messages
  praxis::Message question = praxis::text_message(praxis::Role::kUser, "Weather in Paris?");
  question.id = praxis::MessageId{"q1"};
  question.metadata = {{"source", "web"}};

  praxis::Message call{.role = praxis::Role::kAssistant};
  call.parts.push_back(praxis::ToolCallPart{praxis::CallId{"c1"}, "look_up", R"({"city":"Paris"})"});
  praxis::Message answer{.role = praxis::Role::kTool};
  answer.parts.push_back(
      praxis::ToolResultPart{praxis::CallId{"c1"}, "look_up", praxis::ToolStatus::kOk, "sunny"});

  const praxis::Conversation conversation{"visit-7", {question, call, answer}, {{"tenant", "acme"}}};
  const praxis::Json json = praxis::to_json(conversation);
  const auto same = praxis::conversation_from_json(json);
  // end s1-messages
  ASSERT_TRUE(same);
  EXPECT_EQ(praxis::to_json(*same), json);
  EXPECT_EQ(same->messages.at(0).id.str(), "q1");
  EXPECT_EQ(same->messages.at(0).metadata, question.metadata);
}

TEST_F(AgentLayer, AgentHoldsModelBehaviourAndTools) {
  const std::string model = script(kWeather);
  // begin s1-agent
  const auto agent = praxis::Agent{model, "You know the weather."}
                         .id("weather")
                         .name("Weather desk")
                         .options({.temperature = 0.2, .max_output_tokens = 500})
                         .use(praxis::tool<look_up>("Looks the weather up"))
                         .metadata({{"team", "outdoors"}});
  // end s1-agent
  const auto reply = agent.run("Do I need an umbrella?");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "It is sunny.");
  EXPECT_EQ(agent.spec().options.max_output_tokens, 500);
}

TEST_F(AgentLayer, TurnStartsFromAConversationAndGivesAllMessages) {
  const std::string model = script(kWeather);
  const auto agent = praxis::Agent{model}.use(praxis::tool<look_up>("Looks the weather up"));
  // begin s1-chat
  const praxis::Conversation conversation{"visit-8",
                                          {praxis::text_message(praxis::Role::kUser, "Hello"),
                                           praxis::text_message(praxis::Role::kAssistant, "Good morning")},
                                          nullptr};
  auto session = agent.session(conversation);
  if (!session) return print(session.error());
  const auto result = session->send(praxis::text_message(praxis::Role::kUser, "Umbrella?")).result();
  if (!result) return print(result.error());
  const auto all = session->transcript();  // the call, its result and the answer follow the question
  // end s1-chat
  ASSERT_TRUE(all);
  ASSERT_EQ(all->messages.size(), 6U);
  EXPECT_EQ(all->messages.back().text(), result->text);
  EXPECT_EQ(all->messages.at(4).role, praxis::Role::kTool);
  EXPECT_EQ(session->session_id().str(), "visit-8");
}

TEST_F(AgentLayer, SchemaCanBeWrittenByHand) {
  const std::string model = script(R"({"tool_calls": [{"name": "add", "arguments": {"a": 2}}]}
{"tool_calls": [{"name": "add", "arguments": {"a": 2, "b": 3}}]}
{"text": "5"})");
  // begin s1-schema
  praxis::Tool add;
  add.definition.name = "add";
  add.definition.description = "Adds two numbers";
  add.definition.parameters = {
      {"type", "object"},
      {"properties", {{"a", {{"type", "number"}, {"description", "First"}}}, {"b", {{"type", "number"}}}}},
      {"required", praxis::JsonArray{"a", "b"}}};
  add.definition.safe_by_default = true;  // a tool of your own runs without a rule
  add.handler = [](praxis::ToolContext&,
                   const praxis::Json& arguments) -> praxis::Result<praxis::ToolOutput> {
    const auto sum = praxis::json_int(arguments, "a") + praxis::json_int(arguments, "b");
    return praxis::ToolOutput{.text = std::to_string(sum), .value = sum};
  };
  const auto reply = praxis::Agent{model}.use(add).run("2 + 3?");
  // end s1-schema
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "5");
  ASSERT_EQ(reply->actions.size(), 2U);  // the first call lacks an argument; the model is informed
  EXPECT_EQ(reply->actions[0].outcome, praxis::Outcome::kError);
  EXPECT_EQ(reply->actions[1].outcome, praxis::Outcome::kOk);
}

// begin s1-provider
/// A provider of the program's own: repeats the last message in capitals.
class ShoutSession : public praxis::ModelSession {
 public:
  void start(const praxis::ModelRequest& request, std::shared_ptr<praxis::ModelSink> sink,
             std::stop_token) override {
    std::string text = request.history.messages().back()->text();
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
    if (request.stream) sink->on_delta(praxis::TextChunk{text});
    sink->on_done(praxis::ModelResponse{.parts = {praxis::TextPart{text}}});
  }
};
class Shout : public praxis::Model {
 public:
  const std::string& name() const override { return name_; }
  praxis::ModelCapabilities capabilities() const override { return {.streaming = true, .tools = false}; }
  std::unique_ptr<praxis::ModelSession> open_session() override { return std::make_unique<ShoutSession>(); }
  praxis::MicroUsd price(const praxis::Usage&) const override { return {}; }

 private:
  const std::string name_ = "house:shout";
};
// end s1-provider

TEST_F(AgentLayer, ProviderOfTheProgramIsFoundByItsName) {
  // begin s1-registry
  praxis::RuntimeOptions options;
  options.providers["house"] = [](const std::string&, const praxis::ModelServices&) {
    return praxis::Result<std::shared_ptr<praxis::Model>>(std::make_shared<Shout>());
  };
  const auto runtime = praxis::Runtime::create(options);
  const auto reply = praxis::Agent{"house:shout"}.runtime(runtime).run("hello");
  // end s1-registry
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "HELLO");
}

TEST_F(AgentLayer, AskTellsWhatWasSentAndReceived) {
  const std::string model = script(kWeather);
  Lines lines;
  // begin s1-ask
  auto agent = praxis::Agent{model}.use(praxis::tool<look_up>("Looks the weather up"));
  agent.on_outgoing_message(
      [](const auto&, praxis::Message& message) { message.metadata = {{"seen", true}}; });
  agent.on("message.added", [&](const praxis::Event& event) {
    const auto& added = std::get<praxis::events::MessageAdded>(event.body);
    lines.add("sent: " + added.message->text());
  });
  agent.on("turn.completed", [&](const praxis::Event& event) {
    lines.add("received: " + std::get<praxis::events::TurnCompleted>(event.body).result.text);
  });
  const auto reply = agent.run("Weather in Paris?");
  // end s1-ask
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_THAT(lines.all(), ElementsAre("sent: Weather in Paris?", "received: It is sunny."));
  EXPECT_EQ(reply->steps, 2U);
}

TEST_F(AgentLayer, StreamKeepsOneIdOverToolCalls) {
  const std::string model =
      script(R"({"text": "Let me see. ", "tool_calls": [{"name": "look_up", "arguments": {"city": "Oslo"}}]}
{"text": "Cloudy."})");
  Lines lines;
  std::string text;
  // begin s1-stream
  const auto agent = praxis::Agent{model}.use(praxis::tool<look_up>("Looks the weather up"));
  auto run = agent.stream("Weather in Oslo?");
  std::string turn;
  for (const praxis::Event& event : run) {
    turn = event.turn.str();  // the same for all model calls of the turn
    std::visit(praxis::match{
                   [&](const praxis::events::TextDelta& delta) { text += delta.text; },
                   [&](const praxis::events::ToolCalled& call) { lines.add("called " + call.name); },
                   [&](const praxis::events::ToolCompleted& done) { lines.add("result " + done.text); },
                   [&](const praxis::events::TurnCompleted&) { lines.add("end of " + turn); },
                   [](const auto&) {},
               },
               event.body);
  }
  const auto reply = run.result();  // full_text: all text of the turn; text: the final answer
  // end s1-stream
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(text, "Let me see. Cloudy.");
  EXPECT_EQ(reply->full_text, text);
  EXPECT_EQ(reply->text, "Cloudy.");
  EXPECT_THAT(lines.all(),
              ElementsAre("called look_up", R"(result {"sky":"cloudy","celsius":12})", "end of t1"));
}

TEST_F(AgentLayer, RuntimeHasSeveralAgentsAndOneThatAnswers) {
  const std::string model = script(R"({"agent": "code", "asked": "crash", "text": "A bug."}
{"agent": "product", "asked": "fixed", "text": "Next week."})");
  // begin s1-agents
  const auto runtime = praxis::Runtime::create();
  praxis::Team& team = runtime->team();
  team.register_agent(praxis::Agent{model, "You know the code."}.id("code"));
  team.register_agent(praxis::Agent{model, "You know the plans."}.id("product"));

  const auto first = team.send("Why does it crash?");  // the first one registered answers
  if (const auto set = team.set_agent_by_id("product"); !set) return print(set.error());
  const auto second = team.send("When is it fixed?");
  const std::string speaker = team.current_agent().spec().id;
  // end s1-agents
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->text, "A bug.");
  EXPECT_EQ(second->text, "Next week.");
  EXPECT_EQ(speaker, "product");
  EXPECT_FALSE(team.set_agent_by_id("sales"));
}

TEST_F(AgentLayer, StrategiesRouteMessages) {
  const std::string model = script(R"({"agent": "code", "asked": "error", "text": "A bug."}
{"agent": "code", "asked": "Fix it", "text": "Fixed."}
{"agent": "product", "asked": "answer above", "text": "Said to the customers."}
{"agent": "product", "asked": "What next", "text": "Planned."})");
  praxis::Team team{{praxis::Agent{model}.id("code"), praxis::Agent{model}.id("product")}};
  // begin s1-routing
  std::ignore = team.route_message(praxis::route_by_role({{"code", "code"}, {"roadmap", "product"}}));
  const auto by_role = team.send("There is an error in the code");
  std::ignore = team.route_message(praxis::route_chain({"code", "product"}));
  const auto chain = team.send("Fix it, then say so");
  std::ignore = team.route_message(praxis::Strategy([](const praxis::Routing& routing) {
    const bool long_one = routing.said.messages().size() > 2;  // the whole conversation is there
    return praxis::Result<std::vector<std::string>>({long_one ? "product" : "code"});
  }));
  std::ignore = team.inject("A customer is waiting.");  // a message of a third party
  const auto own = team.send("What next?");
  // end s1-routing
  ASSERT_TRUE(by_role) << by_role.error().message;
  ASSERT_TRUE(chain) << chain.error().message;
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(by_role->text, "A bug.");
  EXPECT_EQ(chain->text, "Said to the customers.");
  EXPECT_EQ(own->agent, "product");
}

TEST_F(AgentLayer, SupervisorChoosesTheAgent) {
  const std::string model = script(R"({"agent": "product", "text": "In May."}
{"agent": "router", "text": "{\"agent\":\"product\"}"})");
  // begin s1-supervisor
  praxis::Team team{{praxis::Agent{model}.id("code"), praxis::Agent{model}.id("product").name("Plans")}};
  std::ignore = team.route_message(
      praxis::route_by_supervisor(praxis::Agent{model, "Choose who answers."}.id("router")));
  const auto reply = team.send("When does it ship?");
  // end s1-supervisor
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "In May.");
}

TEST_F(AgentLayer, NamesOfToolsAreUniqueWithinAnAgent) {
  // begin s1-unique
  auto agent = praxis::Agent{script(kWeather)}.use(praxis::tool<look_up>("Looks the weather up"));
  agent.use(praxis::make_tool("look_up", "Another one",
                              [](const Place& place) { return std::string(place.city); }));
  const auto reply = agent.run("Weather?");  // an error of the description; no model is called
  // end s1-unique
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("two tools named \"look_up\""));
}

TEST_F(AgentLayer, WindowCutsRequestsAndKeepsTheTranscript) {
  std::string lines;
  for (int i = 0; i < 8; ++i)
    lines += R"({"text": "Yes."})"
             "\n";
  // begin s1-window
  const auto agent = praxis::Agent{script(lines)}.limits({.max_messages = 4});
  auto session = agent.session();
  for (int i = 0; i < 8; ++i) std::ignore = session->ask("Question " + std::to_string(i));
  const std::size_t sent = session->history().messages().size();    // what the model sees
  const std::size_t said = session->transcript()->messages.size();  // what was said
  // end s1-window
  EXPECT_LE(sent, 6U);
  EXPECT_EQ(said, 16U);
}

TEST_F(AgentLayer, HandlerThatThrowsGivesTheModelAnError) {
  const std::string model = script(R"({"tool_calls": [{"name": "fetch", "arguments": {}}]}
{"text": "It is offline."})");
  // begin s1-throws
  const auto fetch = praxis::make_tool("fetch", "Fetches it",
                                       []() -> std::string { throw std::runtime_error("the cable is cut"); });
  auto session = *praxis::Agent{model}.use(fetch).session();
  const auto reply = session.ask("Fetch it");
  // end s1-throws
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->text, "It is offline.");
  const auto result = std::get<praxis::ToolResultPart>(session.history().messages().at(2)->parts.at(0));
  EXPECT_EQ(result.status, praxis::ToolStatus::kError);
  EXPECT_THAT(result.text, HasSubstr("the cable is cut"));
}

TEST_F(AgentLayer, ErrorOfAProviderIsAnErrorAndAnEvent) {
  const std::string model =
      script(R"({"error": {"code": "auth", "status": 401, "message": "the key was refused"}})");
  Lines lines;
  // begin s1-error
  auto agent = praxis::Agent{model};
  agent.on("turn.failed", [&](const praxis::Event& event) {
    lines.add(std::get<praxis::events::TurnFailed>(event.body).result.error->message);
  });
  const auto reply = agent.run("Hello");
  if (!reply) lines.add("error: " + reply.error().message);
  // end s1-error
  EXPECT_THAT(lines.all(), ElementsAre(HasSubstr("the key was refused"), HasSubstr("error: ")));
}

TEST_F(AgentLayer, CancelledStreamStartsNoFurtherTool) {
  const std::string model = script(R"({"tool_calls": [{"name": "slow", "arguments": {}}]}
{"tool_calls": [{"name": "slow", "arguments": {}}]})");
  Lines lines;
  // begin s1-cancel
  const auto slow = praxis::make_tool("slow", "Waits until it is stopped", [](praxis::ToolContext& context) {
    std::promise<void> stopped;
    const std::stop_callback wake(context.stop, [&] { stopped.set_value(); });
    stopped.get_future().wait();
    return std::string("stopped");
  });
  auto run = praxis::Agent{model}.use(slow).stream("Start");
  for (const praxis::Event& event : run) {
    if (std::holds_alternative<praxis::events::ToolStarted>(event.body)) run.interrupt();
    lines.add(std::string(praxis::event_name(event.body)));
  }
  const auto report = run.report();
  // end s1-cancel
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->aborted());
  EXPECT_EQ(count_of(lines.all(), "tool.started"), 1);
  EXPECT_EQ(count_of(lines.all(), "turn.cancelled"), 1);
}

}  // namespace
}  // namespace designs
