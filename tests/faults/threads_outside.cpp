#include "threads_outside.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "praxis/tools/ask_user_tool.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::faults::threads {
namespace {

using namespace std::chrono_literals;
using testing::host_tool;
using testing::says;
using OutsidePtr = std::shared_ptr<Outside>;

// ---- the model

std::unexpected<Error> vendor_error(Outside& outside) {
  static const std::array<const char*, 5> kKinds{"overloaded", "rate_limit", "network", "timeout", "server"};
  const char* kind = kKinds[outside.random().below(kKinds.size())];
  Error error =
      make_error(ErrorCode::kModel, error_kind_from(kind), std::string("the vendor says: ") + kind, true);
  if (outside.random().once_in(2)) error.set("retry_after_ms", 5);
  return fail(std::move(error));
}

/// One call in progress: some deltas, one at a time, then the answer.
class SimCall : public std::enable_shared_from_this<SimCall> {
 public:
  SimCall(OutsidePtr outside, ModelRequest request, std::shared_ptr<ModelSink> sink, std::stop_token stop)
      : outside_(std::move(outside)),
        request_(std::move(request)),
        sink_(std::move(sink)),
        stop_(std::move(stop)),
        deltas_(outside_->random().below(4)) {}

  void begin() {
    on_stop_.emplace(stop_, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->outside_->schedule.post([self] { self->end_stopped(); });
    });
    go_on();
  }

 private:
  void go_on() {
    const Millis delay{outside_->random().below(outside_->random().once_in(8) ? 200 : 20)};
    outside_->schedule.after(delay, [self = shared_from_this()] { self->speak(); });
  }

  void speak() {
    if (over_ || stop_.stop_requested()) return end_stopped();
    if (deltas_ == 0) return end(answer());
    --deltas_;
    if (outside_->mishap(10)) {
      sink_->on_delta(Restarted{"again"});
    } else {
      sink_->on_delta(TextChunk{"piece ", 0});
    }
    go_on();
  }

  void end_stopped() { end(fail(ErrorCode::kCancelled, "cancelled")); }

  void end(Result<ModelResponse> response) {
    if (std::exchange(over_, true)) return;
    sink_->on_done(std::move(response));
    outside_->schedule.post([self = shared_from_this()] { self->on_stop_.reset(); });
  }

  Result<ModelResponse> answer();
  ToolCallPart call(const ToolDefinition& tool);
  std::size_t rounds() const;

  const OutsidePtr outside_;
  const ModelRequest request_;
  const std::shared_ptr<ModelSink> sink_;
  const std::stop_token stop_;
  std::uint64_t deltas_;
  bool over_ = false;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

/// Counts the model's rounds of tool calls since the last user message.
std::size_t SimCall::rounds() const {
  std::size_t count = 0;
  for (const MessagePtr& message : request_.history.messages()) {
    if (message->role == Role::kUser) count = 0;
    if (message->role == Role::kTool) ++count;
  }
  return count;
}

ToolCallPart SimCall::call(const ToolDefinition& tool) {
  ToolCallPart part;
  part.id = CallId("c" + outside_->number());
  part.name = tool.name;
  part.arguments = R"({"text":")" + outside_->number() + R"("})";
  if (tool.name == "ask_user") part.arguments = R"({"question":")" + outside_->number() + R"("})";
  if (tool.name == "helper") part.arguments = R"({"prompt":")" + outside_->number() + R"("})";
  if (outside_->mishap(40)) {
    part.arguments = "{\"text\":";
    part.valid = false;
  }
  return part;
}

Result<ModelResponse> SimCall::answer() {
  Random& random = outside_->random();
  if (outside_->mishap(12)) return vendor_error(*outside_);
  if (outside_->mishap(80)) {
    return fail(ErrorCode::kModel, ErrorKind::kNotFound, "no such model");
  }
  ModelResponse response;
  response.model = "sim:model";
  response.usage.input = 10 + request_.history.estimated_tokens();
  response.usage.output = 1 + static_cast<std::int64_t>(random.below(20));
  const bool tools = request_.tools && !request_.tools->empty();
  if (tools && !outside_->calm && rounds() < 4 && !random.once_in(4)) {
    const std::uint64_t count = 1 + random.below(3);
    for (std::uint64_t i = 0; i < count; ++i) {
      response.parts.emplace_back(call((*request_.tools)[random.below(request_.tools->size())]));
    }
    response.finish = FinishReason::kToolCalls;
    return response;
  }
  response.parts.emplace_back(TextPart{"answer " + outside_->number()});
  if (outside_->mishap(40)) response.finish = FinishReason::kPause;
  if (outside_->mishap(60)) response.finish = FinishReason::kLength;
  return response;
}

class SimModelSession final : public ModelSession {
 public:
  explicit SimModelSession(OutsidePtr outside) : outside_(std::move(outside)) {}
  void start(const ModelRequest& request, std::shared_ptr<ModelSink> sink, std::stop_token stop) override {
    std::make_shared<SimCall>(outside_, request, std::move(sink), std::move(stop))->begin();
  }

 private:
  const OutsidePtr outside_;
};

class SimModel final : public Model {
 public:
  explicit SimModel(OutsidePtr outside) : outside_(std::move(outside)) {}
  const std::string& name() const override {
    static const std::string kName = "sim:model";
    return kName;
  }
  ModelCapabilities capabilities() const override { return {}; }
  std::unique_ptr<ModelSession> open_session() override {
    return std::make_unique<SimModelSession>(outside_);
  }
  MicroUsd price(const Usage& usage) const override { return {usage.total() * 3}; }

 private:
  const OutsidePtr outside_;
};

// ---- the tools

/// The work of one handler.
struct Job {
  Outside& outside;
  ToolContext& context;
  bool obeys = !outside.random().once_in(5);  ///< stops when it is asked to

  void dawdle(std::uint64_t most_ms) {
    for (std::uint64_t naps = outside.random().below(3); naps > 0; --naps) {
      outside.schedule.sleep(Millis{outside.random().below(most_ms)},
                             obeys ? context.stop : std::stop_token{});
    }
  }
  bool stopped() const { return obeys && context.stop.stop_requested(); }
  void act(const std::string& tool) {
    outside.deeds.push_back({context.session, tool, context.idempotency_key, context.attempt});
  }
};

std::unexpected<Error> stopped_as_told() { return fail(ErrorCode::kCancelled, "stopped on request"); }
std::unexpected<Error> breaks(std::string message, bool retriable) {
  return fail(ErrorCode::kTool, std::move(message), retriable);
}

/// A tool that does something outside, after some time.
Tool doing(const OutsidePtr& outside, std::string name, bool idempotent, std::uint64_t most_ms = 15) {
  Tool tool = host_tool(name, [=](ToolContext& context, const Json& arguments) -> Result<ToolOutput> {
    Job job{*outside, context};
    job.dawdle(most_ms);
    if (job.stopped()) return stopped_as_told();
    if (outside->mishap(12)) return breaks("busy", true);
    if (outside->mishap(30)) return breaks("no", false);
    job.act(name);
    job.dawdle(most_ms);
    return says(name + " did " + json_string(arguments, "text"));
  });
  tool.definition.idempotent = idempotent;
  tool.retries = idempotent ? 2 : 0;
  return tool;
}

/// A tool that has sub-agents work for it in parallel.
Tool crew(const OutsidePtr& outside, std::string name, bool idempotent) {
  Tool tool = host_tool(name, [=](ToolContext& context, const Json& arguments) -> Result<ToolOutput> {
    const std::string text = json_string(arguments, "text");
    std::vector<SubAgent> workers;
    for (std::size_t i = 0; i < 1 + text.size() % 2; ++i) {
      AgentSpec spec;
      spec.id = "worker" + std::to_string(i);
      std::vector<Tool> tools = context.tools();
      // Two levels of crews are enough.
      if (context.depth > 0) std::erase_if(tools, [](const Tool& t) { return t.definition.timeout == 0ms; });
      workers.push_back(context.spawn(std::move(spec), std::move(tools)));
      if (auto started = workers.back().start("work on " + text); !started) return fail(started.error());
    }
    if (outside->random().once_in(20)) workers.front().steer("steer " + outside->number());
    std::string said;
    for (SubAgent& worker : workers) {
      auto result = worker.wait();
      if (!result) return fail(result.error());
      said += result->text + "; ";
    }
    return says(said);
  });
  tool.definition.idempotent = idempotent;
  tool.definition.timeout = 0ms;
  return tool;
}

/// A tool that calls other tools of its agent.
Tool nested() {
  Tool tool = host_tool("nested", [](ToolContext& context, const Json& arguments) -> Result<ToolOutput> {
    const std::string text = json_string(arguments, "text");
    auto put = context.call_tool("put", JsonObject{{"text", text}});
    auto sent = context.call_tool("send", JsonObject{{"text", text}});
    return says((put ? put->text : put.error().message) + ", " + (sent ? sent->text : sent.error().message));
  });
  tool.definition.idempotent = true;
  tool.definition.timeout = 0ms;
  return tool;
}

Tool signing(const OutsidePtr& outside) {
  Tool tool = host_tool("sign", [=](ToolContext& context, const Json&) -> Result<ToolOutput> {
    if (outside->mishap(2)) return fail_authorisation("Sign in");
    Job{*outside, context}.act("sign");
    return says("signed");
  });
  tool.definition.idempotent = true;
  return tool;
}

Tool big(const OutsidePtr& outside) {
  Tool tool = host_tool("big", [=](ToolContext&, const Json&) -> Result<ToolOutput> {
    return says(outside->number() + std::string(17'000, 'x'));
  });
  tool.definition.idempotent = true;
  return tool;
}

}  // namespace

std::shared_ptr<Model> sim_model(const OutsidePtr& outside) { return std::make_shared<SimModel>(outside); }

std::vector<Tool> sim_tools(const OutsidePtr& outside) {
  std::vector<Tool> tools{doing(outside, "put", true),
                          doing(outside, "pay", false),
                          doing(outside, "send", false),
                          doing(outside, "slow", true, 100),
                          doing(outside, "late", false, 100),
                          crew(outside, "team", true),
                          crew(outside, "crew", false),
                          nested(),
                          signing(outside),
                          ask_user_tool()};
  tools[3].definition.timeout = tools[4].definition.timeout = 60ms;
  return tools;
}

Agent sim_agent(const OutsidePtr& outside, std::uint64_t kind) {
  const auto model = sim_model(outside);
  Agent helper("sim:model", "You help.");
  helper.id("helper").model(model).use(doing(outside, "put", true)).use(doing(outside, "pay", false));
  Agent agent("sim:model", "You do what is asked.");
  agent.id("root").model(model).use(sim_tools(outside)).use(helper.as_tool("helper", "Helps"));
  if (kind % 3 == 0) agent.use(big(outside));
  agent.policy(testing::asking({"send"}));
  if (kind % 2 == 0) agent.in_doubt(InDoubt::kTell);
  Limits limits;
  if (kind % 4 == 1) limits.max_tool_calls = 8;
  if (kind % 5 == 1) limits.max_tokens = 4'000;
  if (kind % 5 == 2) limits.timeout = 300ms;
  if (kind % 5 == 3) limits.max_wait = 100ms;
  if (kind % 7 == 3) limits.max_messages = 8;
  return agent.limits(limits);
}

}  // namespace praxis::faults::threads
