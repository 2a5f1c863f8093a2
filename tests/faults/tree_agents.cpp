#include "tree_agents.hpp"

#include <stdexcept>
#include <string_view>
#include <utility>

namespace praxis::faults {
namespace {

/// Hears everything that the model is sent.
class HeardModel final : public Model {
 public:
  HeardModel(std::shared_ptr<Model> inner, std::shared_ptr<Outside> outside)
      : inner_(std::move(inner)), outside_(std::move(outside)) {}

  const std::string& name() const override { return inner_->name(); }
  ModelCapabilities capabilities() const override { return inner_->capabilities(); }
  MicroUsd price(const Usage& usage) const override { return inner_->price(usage); }
  std::unique_ptr<ModelSession> open_session() override {
    return std::make_unique<Session>(inner_->open_session(), outside_);
  }

 private:
  struct Session final : ModelSession {
    Session(std::unique_ptr<ModelSession> session, std::shared_ptr<Outside> heard_by)
        : inner(std::move(session)), outside(std::move(heard_by)) {}
    void start(const ModelRequest& request, std::shared_ptr<ModelSink> sink, std::stop_token stop) override {
      outside->hear(request.instructions);
      for (const MessagePtr& message : request.history.messages())
        outside->hear(to_json_text(to_json(*message)));
      inner->start(request, std::move(sink), std::move(stop));
    }
    const std::unique_ptr<ModelSession> inner;
    const std::shared_ptr<Outside> outside;
  };

  const std::shared_ptr<Model> inner_;
  const std::shared_ptr<Outside> outside_;
};

/// What the agents of one process share.
struct Ground {
  std::shared_ptr<Runtime> runtime;
  std::shared_ptr<Outside> outside;
  InDoubt in_doubt = InDoubt::kTell;

  Tool tool(const std::string& name, bool idempotent) const {
    Tool tool;
    tool.definition = {
        name, "Does " + name, JsonObject{{"type", "object"}}, std::chrono::seconds(30), idempotent, true};
    tool.handler = [name, outside = outside](ToolContext& context, const Json&) -> Result<ToolOutput> {
      outside->act(context.idempotency_key);
      return ToolOutput{name + " done", nullptr, {}, {}};
    };
    return tool;
  }
  Agent agent(const std::string& id, std::string_view script) const {
    auto model = script_model(script, id, runtime->model_services().executor);
    if (!model) throw std::runtime_error(model.error().message);
    Agent made("", "Be careful.");
    made.id(id).model(std::make_shared<HeardModel>(*std::move(model), outside)).in_doubt(in_doubt);
    return made.use(tool("put", true)).use(tool("pay", false));
  }
};

const PolicyRules kMayProgram{.allow = {"python"}, .deny = {}, .ask = {}};

std::string call_of(const std::string& tool, int number = 0) {
  return R"({"name": ")" + tool + R"(", "arguments": {"prompt": "part )" + std::to_string(number) + "\"}}";
}

/// A model's answer that makes these calls.
std::string asking_for(const std::vector<std::string>& calls) {
  std::string text;
  for (const std::string& call : calls) text += (text.empty() ? "" : ", ") + call;
  return R"({"tool_calls": [)" + text + "]}\n";
}

/// `count` calls of `clerk`, and a payment.
std::string work_for(int count) {
  std::vector<std::string> calls;
  for (int i = 0; i < count; ++i) calls.push_back(call_of("clerk", i));
  calls.push_back(R"({"name": "pay", "arguments": {}})");
  return asking_for(calls);
}

Agent clerk(const Ground& ground) {
  return ground.agent(
      "clerk", asking_for({R"({"name": "pay", "arguments": {}})", R"({"name": "put", "arguments": {}})"}) +
                   asking_for({R"({"name": "pay", "arguments": {}})"}) + R"({"text": "I did it."})");
}

Agent manager(const Ground& ground) {
  Agent agent = ground.agent("manager", work_for(8) + R"({"text": "They did it."})");
  return agent.use(clerk(ground).as_tool("clerk", "Does a part"));
}

Agent stepper(const Ground& ground) {
  Agent agent = ground.agent("stepper", R"({"text": "{\"ambiguous\": false, \"question\": \"\"}"}
)" + work_for(5) + R"({"text": "They did it."}
{"text": "{\"answer\": \"Done in steps.\", \"uncertain\": false, \"question\": \"\"}"})");
  agent.plan(JsonObject{{"kind", "six_steps"}});
  return agent.use(clerk(ground).as_tool("clerk", "Does a part"));
}

Agent planned(const Ground& ground) {
  Agent agent("", "Be careful.");
  agent.id("planned").in_doubt(ground.in_doubt).plan(*parse_json(R"([
  {"id": "put", "tool": "put"},
  {"id": "both", "tools": [{"tool": "put"}, {"tool": "pay"}], "on_error": "continue"},
  {"id": "end", "finish": "Done as planned."}])"));
  return agent.use(ground.tool("put", true)).use(ground.tool("pay", false));
}

/// A tool whose handler swallows every error of its sub-agent and of the calls within its call.
Tool errand(const Ground& ground) {
  Tool tool = ground.tool("errand", true);
  tool.definition.timeout = Millis{0};
  tool.handler = [put = ground.tool("put", true)](ToolContext& context, const Json&) -> Result<ToolOutput> {
    AgentSpec spec;
    spec.id = "twin";
    spec.plan =
        *parse_json(R"([{"id": "put", "tool": "put"}, {"id": "end", "finish": "${steps.put.text}"}])");
    SubAgent twin = context.spawn(spec, {put});
    const auto begun = twin.start("go");
    const auto paid = context.call_tool("pay", JsonObject{});
    const auto done = begun ? twin.wait() : Result<AgentResult>(fail(begun.error()));
    return ToolOutput{
        (paid ? paid->text : paid.error().message) + ", " + (done ? done->text : done.error().message),
        nullptr,
        {},
        {}};
  };
  return tool;
}

Agent errander(const Ground& ground) {
  Agent agent = ground.agent("errander", asking_for({R"({"name": "errand", "arguments": {}})"}) +
                                             R"({"text": "The errand is done."})");
  return agent.use(errand(ground));
}

/// Writes two programs in one session of Python: the first pays three times at once. Without a sandbox, which
/// has its own tests; the code here is trusted.
Agent coder(const Ground& ground) {
  const auto runs = [](const char* code) {
    return R"({"name": "python", "arguments": )" + to_json_text(JsonObject{{"code", code}}) + "}";
  };
  Agent agent = ground.agent(
      "coder",
      asking_for({runs("said = gather([('pay', {'what': w}) for w in 'abc'], return_exceptions=True)")}) +
          asking_for({runs("print(len(said), 'payments')")}) + R"({"text": "It is computed."})");
  PythonToolOptions unsandboxed;
  unsandboxed.sandbox = std::nullopt;
  return agent.use(python_tool(std::move(unsandboxed))).policy(kMayProgram);
}

}  // namespace

Agent tree_of_twenty(const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<Outside>& outside,
                     InDoubt in_doubt) {
  const Ground ground{runtime, outside, in_doubt};
  Agent lead = ground.agent(
      "lead", asking_for({call_of("manager"), call_of("stepper"), call_of("planned"), call_of("errander"),
                          call_of("coder"), R"({"name": "pay", "arguments": {}})"}) +
                  R"({"text": ")" + kTreeAnswer + "\"}");
  lead.use(manager(ground).as_tool("manager", "Has it done"));
  lead.use(stepper(ground).as_tool("stepper", "Has it done"));
  lead.use(planned(ground).as_tool("planned", "Does it"));
  lead.use(errander(ground).as_tool("errander", "Does it"));
  lead.use(coder(ground).as_tool("coder", "Computes it"));
  return lead.policy(kMayProgram).runtime(runtime);
}

}  // namespace praxis::faults
