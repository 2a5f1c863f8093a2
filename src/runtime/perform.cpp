// Carries out model calls and tool calls. The driver drops answers that arrive after their effect was
// settled.
#include <algorithm>
#include <iterator>

#include "base/exhausted.hpp"
#include "praxis/base/reach.hpp"
#include "runtime/call_scope.hpp"
#include "runtime/content_filters.hpp"
#include "runtime/model_judge.hpp"
#include "runtime/redacted_results.hpp"
#include "runtime/session_actor.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMaxToolText = 1024 * 1024;

/// Makes the output of a tool fit for the model: valid UTF-8, cut in the middle when it exceeds
/// `kMaxToolText` bytes.
std::string presentable(std::string text) {
  if (!is_valid_utf8(text)) text = repair_utf8(text);
  if (text.size() <= kMaxToolText) return text;
  const std::size_t half = kMaxToolText / 2;
  const std::string note = "\n[... " + std::to_string(text.size() - kMaxToolText) + " bytes left out ...]\n";
  return repair_utf8(text.substr(0, half) + note + text.substr(text.size() - half));
}

/// Counts the bytes of a delta that a vendor bills as output.
struct CountBytes {
  std::size_t operator()(const TextChunk& chunk) const { return chunk.text.size(); }
  std::size_t operator()(const ReasoningChunk& chunk) const { return chunk.text.size(); }
  std::size_t operator()(const ToolCallChunk& chunk) const { return chunk.name.size(); }
  std::size_t operator()(const ToolArgumentsChunk& chunk) const { return chunk.bytes.size(); }
  std::size_t operator()(const RefusalChunk& chunk) const { return chunk.text.size(); }
  std::size_t operator()(const ProviderEvent&) const { return 0; }
  std::size_t operator()(const Restarted&) const { return 0; }
  std::size_t operator()(const KeepAlive&) const { return 0; }
  std::size_t operator()(const HeldBack&) const { return 0; }
};

/// The tools that a hook left for this request.
OfferedTools::Definitions left_of(const std::vector<ToolDefinition>& offered,
                                  const std::vector<std::string>& names) {
  auto left = std::make_shared<std::vector<ToolDefinition>>();
  std::ranges::copy_if(offered, std::back_inserter(*left),
                       [&](const ToolDefinition& tool) { return std::ranges::count(names, tool.name) > 0; });
  return left;
}

Json memory_json(const std::vector<MemoryChange>& changes) {
  if (changes.empty()) return nullptr;
  JsonArray out;
  for (const MemoryChange& change : changes) out.push_back(to_json(change));
  return out;
}

}  // namespace

/// Returns a tool's output in the form that is recorded.
ToolOutcome outcome_of(const ToolCallPart& call, ToolOutput output) {
  return {{call.id, call.name, ToolStatus::kOk, presentable(std::move(output.text)), std::move(output.images),
           std::move(output.files)},
          std::move(output.value),
          memory_json(output.memory)};
}

Result<ToolOutcome> outcome_of(const ToolCallPart& call, Result<ToolOutput> output) {
  if (output) return outcome_of(call, *std::move(output));
  Error error = std::move(output.error());
  error.message = presentable(std::move(error.message));
  return fail(std::move(error));
}

std::shared_ptr<const records::ToolOriginal> original_of(const Result<ToolOutcome>& before,
                                                         const Result<ToolOutcome>& after) {
  records::EffectSettled was, is;
  const auto fill = [](records::EffectSettled& settled, const Result<ToolOutcome>& outcome) {
    if (outcome) settled.result = *outcome;
    if (!outcome) settled.error = outcome.error();
  };
  fill(was, before);
  fill(is, after);
  std::vector<RecordBlob> blobs;
  if (encode_record(was, blobs) == encode_record(is, blobs)) return nullptr;
  records::ToolOriginal original;
  if (before) original.result = *before;
  if (!before) original.error = before.error();
  return std::make_shared<const records::ToolOriginal>(std::move(original));
}

/// A tool call outside the strand.
struct SessionActor::ToolRun {
  EffectId effect;
  std::uint32_t attempt = 1;
  ToolCallPart call;
  ToolContext context;
  HookContext hooks;
  redact::Redaction redaction;
  filters::FilterSetPtr filters;
  std::string denied_by;  ///< a model objects to the arguments: as `EffectSettled::by`
  std::shared_ptr<LiveCall> scope;
};

/// Passes deltas to observers and readers, and the response to the driver.
class SessionActor::ModelCallSink : public ModelSink, public std::enable_shared_from_this<ModelCallSink> {
 public:
  enum class Audience : std::uint8_t {
    kNobody,     ///< not an answer (summary, side query): no deltas are published
    kObservers,  ///< observers that want deltas when they arrive
    kAll,        ///< the readers of the turn as well
  };

  ModelCallSink(std::shared_ptr<SessionActor> actor, driver::StartModel& call,
                std::shared_ptr<std::atomic<std::size_t>> arrived, Audience audience)
      : actor_(std::move(actor)),
        effect_(call.effect),
        attempt_(call.attempt),
        answers_(call.answers),
        bounded_(actor_->budget() != nullptr),
        arrived_(std::move(arrived)),
        event_(std::move(call.where)),
        audience_(audience) {}

  /// The filters that changed the request, as `EffectSettled::by`. Before the call starts.
  void filtered_by(std::string by) { by_ = std::move(by); }

  void on_delta(const ModelDelta& delta) override {
    count(std::visit(CountBytes{}, delta));
    const bool is_news = std::holds_alternative<HeldBack>(delta);
    if (!(is_news || heard()) || std::holds_alternative<KeepAlive>(delta)) return;
    event_.body = std::visit(*this, delta);
    const bool told = actor_->strand_.run_if_free([this] { tell(event_); });
    if (!told) actor_->post([sink = shared_from_this(), event = event_] { sink->tell(event); });
  }

  void on_done(Result<ModelResponse> response) override {
    actor_->post([sink = shared_from_this(), response = std::move(response)]() mutable {
      sink->end(std::move(response));
    });
  }

  EventBody operator()(const TextChunk& chunk) const {
    return events::TextDelta{std::string(chunk.text), chunk.item};
  }
  EventBody operator()(const ReasoningChunk& chunk) const {
    return events::ReasoningDelta{std::string(chunk.text), chunk.summary, chunk.item};
  }
  EventBody operator()(const ToolCallChunk& chunk) {
    const CallId& call = calls_[chunk.item] = CallId{std::string(chunk.id)};
    return events::ToolCallDelta{std::string(chunk.name), {}, call, chunk.item};
  }
  EventBody operator()(const ToolArgumentsChunk& chunk) {
    return events::ToolCallDelta{{}, std::string(chunk.bytes), calls_[chunk.item], chunk.item};
  }
  EventBody operator()(const RefusalChunk& chunk) const {
    return events::TextDelta{std::string(chunk.text), chunk.item};
  }
  EventBody operator()(const ProviderEvent& event) const {
    return events::Custom{"provider", Json(std::string(event.raw))};
  }
  EventBody operator()(const Restarted&) {
    calls_.clear();
    return events::AttemptSuperseded{};
  }
  EventBody operator()(const KeepAlive&) const { std::unreachable(); }
  EventBody operator()(const HeldBack& held) const {
    events::ModelWaiting wait{.reason = events::WaitReason::kRateLimit, .delay = held.expected};
    if (held.expected.count() != 0) wait.until = event_.time + held.expected;
    return wait;
  }

 private:
  /// Counts what has arrived. Reports it at each step and asks for the next one in advance, so that an answer
  /// that the budget does not cover is stopped before it takes more.
  void count(std::size_t bytes) const {
    constexpr std::size_t kStep = 1024;
    const std::size_t before = arrived_->fetch_add(bytes, std::memory_order_relaxed);
    const std::size_t now = before + bytes;
    if (bounded_ && before / kStep != now / kStep)
      actor_->post_input(driver::AnswerGrew{effect_, attempt_, now + kStep});
  }

  void tell(const Event& event) const {
    if (actor_->driver_.runs(effect_, attempt_)) actor_->publish(event);
  }

  /// The hooks after the model see an answer before the session does.
  void end(Result<ModelResponse>&& response) {
    const auto& hooks = actor_->agent_->hooks.after_model;
    if (response && answers_ && !hooks.empty() && actor_->driver_.runs(effect_, attempt_)) {
      actor_->services_->options.executor->post_blocking([sink = shared_from_this(),
                                                          context = actor_->hook_context(),
                                                          response = std::move(response)]() mutable {
        sink->actor_->after_model(context, *response);
        sink->actor_->post(
            [sink, response = std::move(response)]() mutable { sink->settle(std::move(response)); });
      });
      return;
    }
    settle(std::move(response));
  }

  void settle(Result<ModelResponse>&& response) const {
    if (!response && is_exhausted(response.error())) return actor_->fault(std::move(response.error()));
    const auto stated = response ? std::nullopt : take_reported_usage(response.error());
    const bool billable = response || stated || may_have_cost(response.error());
    actor_->feed(driver::ModelEnded{effect_, attempt_, std::move(response), billable, stated, by_});
  }

  bool heard() const {
    if (audience_ != Audience::kObservers) return audience_ == Audience::kAll;
    return actor_->wants_deltas();
  }

  const std::shared_ptr<SessionActor> actor_;
  const EffectId effect_;
  const std::uint32_t attempt_;
  const bool answers_;
  const bool bounded_;  ///< a budget limits the turn
  const std::shared_ptr<std::atomic<std::size_t>> arrived_;
  Event event_;                            ///< the last delta, reused for the next one
  std::map<std::uint32_t, CallId> calls_;  ///< of the answer so far, by item
  std::string by_;
  const Audience audience_;
};

void SessionActor::perform(driver::StartModel& action) {
  ModelRequest request;
  request.instructions = std::move(action.question.instructions);
  request.options = std::move(action.question.options);
  request.history = std::move(action.question.history);
  request.non_strict = action.question.non_strict;
  if (model_->capabilities().tools)
    request.tools = offered_.of(tools()->definitions(), std::move(action.rules));
  if (request.tools && action.question.tools) request.tools = left_of(*request.tools, *action.question.tools);
  request.only = std::move(action.question.model);
  request.stream = services_->options.stream && model_->capabilities().streaming;
  request.session = id();
  request.agent = state().agent->id;
  request.ordinal = action.ordinal;
  request.attempt = action.attempt;

  using Audience = ModelCallSink::Audience;
  const Audience audience = !action.answers ? Audience::kNobody
                            : collecting_   ? Audience::kAll
                                            : Audience::kObservers;
  arrived_ = std::make_shared<std::atomic<std::size_t>>(0);
  Running& running = effects_[action.effect] = Running{};
  auto sink = std::make_shared<ModelCallSink>(shared_from_this(), action, arrived_, audience);
  if (action.filters && action.filters->has(filters::Point::kModel))
    return ask_filtered(std::move(request), sink, running.stop.get_token(), action.filters);
  if (!model_session_) model_session_ = model_->open_session();
  model_session_->start(request, std::move(sink), running.stop.get_token());
}

/// Starts a model call with what the filters leave of its request. They read it on a worker.
void SessionActor::ask_filtered(ModelRequest request, const std::shared_ptr<ModelCallSink>& sink,
                                std::stop_token stop, const filters::FilterSetPtr& filters) {
  struct Asked {
    ModelRequest request;
    std::stop_token stop;
  };
  if (!request_filter_) request_filter_ = std::make_shared<RequestFilter>();
  services_->options.executor->post_blocking(
      [self = shared_from_this(), sink, filters, memo = request_filter_,
       asked = std::make_shared<Asked>(std::move(request), std::move(stop))] {
        std::string by;
        Status filtered = memo->apply(filters, asked->request, by);
        self->post([self, sink, asked, by = std::move(by), filtered = std::move(filtered)]() mutable {
          sink->filtered_by(std::move(by));
          if (!filtered) return sink->on_done(fail(std::move(filtered.error())));
          if (!self->model_session_) self->model_session_ = self->model_->open_session();
          self->model_session_->start(asked->request, sink, asked->stop);
        });
      });
}

void SessionActor::perform(driver::StartTool& action) {
  effects_[action.effect] = Running{};
  const auto run = std::make_shared<ToolRun>();
  run->context = tool_context(action);
  run->scope = std::make_shared<LiveCall>(shared_from_this(), action.call.id, run->context.stop,
                                          run->context.deadline);
  run->scope->watch();
  run->hooks = hook_context();
  run->redaction = redaction_of_results(*state().agent);
  run->filters = std::move(action.filters);
  run->effect = std::move(action.effect);
  run->attempt = action.attempt;
  run->call = std::move(action.call);
  run->context.scope = run->scope;
  services_->options.executor->post_blocking([self = shared_from_this(), run] { self->run_tool(run); });
}

/// Runs the handler. A call that waits for sub-agents may end later, with the second half of its handler.
void SessionActor::run_tool(const std::shared_ptr<ToolRun>& run) {
  const auto tools = tools_for_call();
  const Tool* tool = tools->find(run->call.name);
  const auto* in_two = tool == nullptr ? nullptr : tool->handler.target<ContinuingHandler>();
  // An executor of the host gets the output that it asks the handler for, so there the handler waits.
  if (in_two != nullptr && !agent_->executor) run->scope->let_continue();
  if (auto denied = denied_by_model(*run)) return end_tool(*run, fail(*std::move(denied)));
  auto output = tools->execute(run->context, run->call.name, run->call.arguments, agent_->executor);
  const bool continues = output && run->scope->continue_with([self = shared_from_this(), run, tools,
                                                              in_two](LiveCall::Reports reports) mutable {
    // Called on the strand of a sub-agent, which must not wait or run code of the host.
    self->services_->options.executor->post_blocking(
        [self, run, tools, in_two, reports = std::move(reports)]() mutable {
          const auto end = [&](ToolContext& context, const Tool&, const Json& arguments) {
            return in_two->end(context, arguments, std::move(reports));
          };
          self->end_tool(*run, tools->execute(run->context, run->call.name, run->call.arguments, end));
        });
  });
  if (!continues) end_tool(*run, std::move(output));
}

/// The error of a call whose arguments a model objects to: it does not run, or waits for a person.
std::optional<Error> SessionActor::denied_by_model(ToolRun& run) {
  const Overruled overruled = take_overruled(run.context.answers);
  if (!run.filters) return std::nullopt;
  auto objection = judge_arguments(*run.scope, *run.filters, run.call, overruled);
  if (!objection) return std::nullopt;
  // A judge that was stopped with its call gave no answer; there is nothing to ask a person about.
  if (objection->by.empty() && run.context.stop.stop_requested())
    return with_reach(make_error(ErrorCode::kCancelled, "stopped before it ran"), Reach::kNotSent);
  run.denied_by = std::move(objection->by);
  return std::move(objection->error);
}

/// Applies the content filters to what a call gave, while sub-agents of the call can still be asked. Returns
/// `EffectSettled::by`.
std::string SessionActor::filter_result(ToolRun& run, Result<ToolOutput>& output) {
  if (!run.denied_by.empty() || !run.filters) return run.denied_by;
  std::string by = filter_output(*run.filters, run.call.name, output);
  const bool asks = !output && output.error().kind() == ErrorKind::kAuthorisation;
  if (asks || by.starts_with("deny ")) return by;
  std::string judged = judge_result(*run.scope, *run.filters, run.call.name, output);
  if (judged.starts_with("deny ") || by.empty()) return judged;
  return judged.empty() ? by : by + ", " + judged.substr(judged.find(' ') + 1);
}

void SessionActor::end_tool(ToolRun& run, Result<ToolOutput> output) {
  std::string by;
  const bool exhausted = !output && is_exhausted(output.error());
  if (!exhausted) {
    remove_secrets(output, run.redaction);
    by = filter_result(run, output);
  }
  run.scope->close();
  if (exhausted) return fault(std::move(output.error()));
  std::shared_ptr<const records::ToolOriginal> original;
  if (!agent_->hooks.after_tool.empty()) {
    const Result<ToolOutcome> before = outcome_of(run.call, output);
    after_tool(run.hooks, run.call, output);
    original = original_of(before, outcome_of(run.call, output));
  }
  driver::ToolEnded ended{std::move(run.effect), run.attempt, outcome_of(run.call, std::move(output)),
                          std::move(original), std::move(by)};
  // From the event loop, which can also commit the records that follow; committing here might block this
  // worker.
  post_from_loop(
      [self = shared_from_this(), ended = std::move(ended)]() mutable { self->feed(std::move(ended)); });
}

ToolContext SessionActor::tool_context(driver::StartTool& action) {
  ToolContext context;
  context.session = id();
  context.agent = state().agent->id;
  context.call = action.call.id;
  context.idempotency_key = context.session.str() + "/" + action.effect.str();
  context.attempt = action.attempt;
  context.depth = state().depth;
  context.trace = effect_trace(state(), action.effect, action.attempt);
  context.stop = effects_[action.effect].stop.get_token();
  context.deadline = origin_.scope->deadline;
  if (action.limit.count() != 0)
    context.deadline = std::min(context.deadline, std::chrono::steady_clock::now() + action.limit);
  context.conversation = std::move(action.conversation);
  context.environment = services_->options.environment.get();
  context.metadata = state().agent->metadata;
  context.answers = std::move(action.answers);
  return context;
}

void SessionActor::perform(driver::StopEffect& action) {
  if (const auto running = effects_.find(action.effect); running != effects_.end())
    running->second.stop.request_stop();
}

void SessionActor::perform(driver::DropEffect& action) { effects_.erase(action.effect); }

}  // namespace praxis
