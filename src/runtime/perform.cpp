// Doing what was intended: model calls, tool calls, timers. Each ends in exactly one `effect_settled`,
// whatever the other side does; what arrives after that is dropped.
#include <algorithm>

#include "runtime/call_scope.hpp"
#include "runtime/session_actor.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMaxToolText = 1024 * 1024;

/// Tools give bytes: the model gets valid UTF-8 of bounded length, head and tail.
std::string presentable(std::string text) {
  if (!is_valid_utf8(text)) text = repair_utf8(text);
  if (text.size() <= kMaxToolText) return text;
  const std::size_t half = kMaxToolText / 2;
  const std::string note = "\n[... " + std::to_string(text.size() - kMaxToolText) + " bytes left out ...]\n";
  return repair_utf8(text.substr(0, half) + note + text.substr(text.size() - half));
}

/// The outcome of an effect that was stopped before it did anything. A timer has nothing to explain.
EffectSettled cancelled(EffectKind kind) {
  EffectSettled settled;
  settled.outcome = Outcome::kCancelled;
  if (kind != EffectKind::kTimer)
    settled.error = Error{ErrorCode::kCancelled, "cancelled", false, nullptr, nullptr};
  return settled;
}

/// The bytes of a piece of an answer that a vendor counts as output.
struct CountBytes {
  std::size_t operator()(const TextChunk& chunk) const { return chunk.text.size(); }
  std::size_t operator()(const ReasoningChunk& chunk) const { return chunk.text.size(); }
  std::size_t operator()(const ToolCallChunk& chunk) const { return chunk.name.size(); }
  std::size_t operator()(const ToolArgumentsChunk& chunk) const { return chunk.bytes.size(); }
  std::size_t operator()(const RefusalChunk& chunk) const { return chunk.text.size(); }
  std::size_t operator()(const ProviderEvent&) const { return 0; }
  std::size_t operator()(const Restarted&) const { return 0; }
  std::size_t operator()(const KeepAlive&) const { return 0; }
};

Json memory_json(const std::vector<MemoryChange>& changes) {
  if (changes.empty()) return nullptr;
  JsonArray out;
  for (const MemoryChange& change : changes) out.push_back(to_json(change));
  return out;
}

}  // namespace

/// Hands deltas to whoever listens and the answer to the session.
class SessionActor::ModelCallSink : public ModelSink, public std::enable_shared_from_this<ModelCallSink> {
 public:
  enum class Audience : std::uint8_t {
    kNobody,     ///< the answer is none: its pieces are nobody's to see
    kObservers,  ///< those who want deltas at that time
    kAll,        ///< the turn's readers collect them too
  };

  ModelCallSink(std::shared_ptr<SessionActor> actor, EffectId effect, const Active& call, Event where,
                Audience audience)
      : actor_(std::move(actor)),
        effect_(std::move(effect)),
        attempt_(call.attempt),
        arrived_(call.arrived),
        event_(std::move(where)),
        audience_(audience) {}

  void on_delta(const ModelDelta& delta) override {
    arrived_->fetch_add(std::visit(CountBytes{}, delta), std::memory_order_relaxed);
    if (!heard() || std::holds_alternative<KeepAlive>(delta)) return;
    event_.body = std::visit(*this, delta);
    const bool told = actor_->strand_.run_if_free([this] { tell(event_); });
    if (!told) actor_->post([sink = shared_from_this(), event = event_] { sink->tell(event); });
  }

  void on_done(Result<ModelResponse> response) override {
    actor_->post(
        [actor = actor_, effect = effect_, attempt = attempt_, response = std::move(response)]() mutable {
          actor->model_done(effect, attempt, std::move(response));
        });
  }

  EventBody operator()(const TextChunk& chunk) const { return TextDelta{std::string(chunk.text)}; }
  EventBody operator()(const ReasoningChunk& chunk) const {
    return ReasoningDelta{std::string(chunk.text), chunk.summary};
  }
  EventBody operator()(const ToolCallChunk& chunk) const {
    return ToolCallDelta{std::string(chunk.name), {}};
  }
  EventBody operator()(const ToolArgumentsChunk& chunk) const {
    return ToolCallDelta{{}, std::string(chunk.bytes)};
  }
  EventBody operator()(const RefusalChunk& chunk) const { return TextDelta{std::string(chunk.text)}; }
  EventBody operator()(const ProviderEvent& event) const {
    return CustomEvent{"provider", Json(std::string(event.raw))};
  }
  EventBody operator()(const Restarted&) const { return AttemptSuperseded{}; }
  EventBody operator()(const KeepAlive&) const { std::unreachable(); }

 private:
  void tell(const Event& event) const {
    if (actor_->active(effect_, attempt_) != nullptr) actor_->publish(event, actor_->readers_);
  }

  bool heard() const {
    if (audience_ != Audience::kObservers) return audience_ == Audience::kAll;
    return actor_->wants_deltas();
  }

  const std::shared_ptr<SessionActor> actor_;
  const EffectId effect_;
  const std::uint32_t attempt_;
  const std::shared_ptr<std::atomic<std::size_t>> arrived_;
  Event event_;  ///< the last delta
  const Audience audience_;
};

Event SessionActor::transient(EventBody body) {
  Event event;
  event.agent = {id(), state().depth, state().parent};
  event.seq = state().seq;
  if (const auto& turn = state().turn) {
    event.turn = turn->id;
    event.step = turn->step;
  }
  event.time = services_->options.environment->now();
  event.body = std::move(body);
  return event;
}

SessionActor::Active* SessionActor::active(const EffectId& effect, std::uint32_t attempt) {
  state();  // of a suspended session it may be lost here, and with it all that is under way
  const auto found = active_.find(effect);
  return found == active_.end() || found->second.attempt != attempt ? nullptr : &found->second;
}

void SessionActor::perform(const EffectIntended& intent) {
  if (broken_ || !state().turn) return;
  const CallState* call = state().find_call(intent.effect);
  const auto& effect = state().turn->effect;
  const bool call_runs = call != nullptr && call->phase == CallState::Phase::kRunning;
  const bool effect_runs =
      effect && effect->effect == intent.effect && effect->phase == EffectState::Phase::kRunning;
  if (!call_runs && !effect_runs) return;  // a hook answered in its place

  Active& started = active_[intent.effect];
  started = Active{};
  started.kind = intent.kind;
  started.attempt = intent.attempt;
  started.started = services_->options.environment->monotonic();
  if (state().turn->stop || is_outdated(intent.call)) {
    return settled(intent.effect, intent.attempt, cancelled(intent.kind));
  }
  switch (intent.kind) {
    case EffectKind::kModel:
      return perform_model(intent);
    case EffectKind::kTool:
      return perform_tool(intent);
    case EffectKind::kTimer:
      return perform_timer(intent);
  }
}

void SessionActor::perform_model(const EffectIntended& intent) {
  if (intent.delay.count() == 0) return start_model(intent);
  active_[intent.effect].timer =
      services_->options.executor->after(intent.delay, [self = shared_from_this(), intent] {
        self->post([self, intent] {
          Active* waiting = self->active(intent.effect, intent.attempt);
          if (waiting == nullptr) return;
          waiting->timer = 0;
          self->start_model(intent);
        });
      });
}

void SessionActor::start_model(const EffectIntended& intent) {
  const State& s = state();
  ModelRequest request;
  ModelQuestion question = question_of(s, intent);
  request.instructions = std::move(question.instructions);
  request.options = std::move(question.options);
  request.history = std::move(question.history);
  request.non_strict = question.non_strict;
  if (model_->capabilities().tools) request.tools = agent_->tools.definitions();
  request.stream = services_->options.stream && model_->capabilities().streaming;
  request.session = id();
  request.agent = s.agent->id;
  request.ordinal = s.model_calls;
  request.attempt = intent.attempt;

  Event where = transient(TextDelta{});
  where.attempt = intent.attempt;
  using Audience = ModelCallSink::Audience;
  const bool answers = !intent.summary && !intent.consult;
  const Audience audience = !answers      ? Audience::kNobody
                            : collecting_ ? Audience::kAll
                                          : Audience::kObservers;
  Active& call = active_[intent.effect];
  call.arrived = std::make_shared<std::atomic<std::size_t>>(0);
  auto sink =
      std::make_shared<ModelCallSink>(shared_from_this(), intent.effect, call, std::move(where), audience);
  if (!model_session_) model_session_ = model_->open_session();
  model_session_->start(request, std::move(sink), call.stop.get_token());
}

void SessionActor::model_done(const EffectId& effect, std::uint32_t attempt, Result<ModelResponse> response) {
  EffectSettled record;
  if (response) {
    if (response->usage.cost.value == 0) response->usage.cost = model_->price(response->usage);
    const bool answers = active(effect, attempt) != nullptr && !state().turn->effect->summary &&
                         !state().turn->effect->consult;
    if (!agent_->hooks.after_model.empty() && answers) {
      services_->options.executor->post_blocking(
          [self = shared_from_this(), context = hook_context(), copy = *response] {
            for (const auto& hook : self->agent_->hooks.after_model) {
              self->run_hook("after_model", [&] { hook(context, copy); });
            }
          });
    }
    record.result = *std::move(response);
  } else {
    record.outcome = response.error().code == ErrorCode::kCancelled ? Outcome::kCancelled : Outcome::kError;
    record.error = response.error();
  }
  settled(effect, attempt, std::move(record));
}

void SessionActor::perform_tool(const EffectIntended& intent) {
  const ToolCallPart call = state().find_call(intent.effect)->call;
  const ToolSpec* tool = state().agent->find_tool(call.name);
  const Millis limit = tool != nullptr ? tool->definition.timeout : ToolDefinition{}.timeout;
  Active& running = active_[intent.effect];
  running.limit = limit;
  running.repeatable = tool != nullptr && tool->definition.idempotent;
  limit_tool(intent.effect, running);
  auto scope = std::make_shared<LiveCall>(shared_from_this(), call.id, running.stop.get_token());
  scope->watch();
  services_->options.executor->post_blocking([self = shared_from_this(), effect = intent.effect,
                                              attempt = intent.attempt, context = tool_context(intent, limit),
                                              call, scope = std::move(scope),
                                              hooks = hook_context()]() mutable {
    context.scope = scope;
    auto output = self->agent_->tools.execute(context, call.name, call.arguments);
    scope->close();
    for (const auto& hook : self->agent_->hooks.after_tool) {
      if (!output) break;
      self->run_hook("after_tool", [&] { hook(hooks, call, *output); });
    }
    // On the event loop, which then also commits what follows if nothing else does: here it might block.
    self->post_from_loop([self, effect, attempt, output = std::move(output)]() mutable {
      self->tool_done(effect, attempt, std::move(output));
    });
  });
}

ToolContext SessionActor::tool_context(const EffectIntended& intent, Millis limit) {
  ToolContext context;
  context.session = id();
  context.agent = state().agent->id;
  context.call = intent.call;
  context.idempotency_key = context.session.str() + "/" + intent.effect.str();
  context.attempt = intent.attempt;
  context.depth = state().depth;
  context.stop = active_[intent.effect].stop.get_token();
  context.deadline = limit.count() == 0 ? std::chrono::steady_clock::time_point::max()
                                        : std::chrono::steady_clock::now() + limit;
  context.conversation = state().conversation.history();
  context.environment = services_->options.environment.get();
  context.metadata = state().agent->metadata;
  return context;
}

/// A call that timed out may still be at work, so only one that may be repeated is tried again.
void SessionActor::limit_tool(const EffectId& effect, Active& active) {
  if (active.limit.count() == 0) return;
  const auto spent = services_->options.environment->monotonic() - active.started - active.waited;
  active.timer = services_->options.executor->after(
      std::max<std::chrono::nanoseconds>(active.limit - spent, std::chrono::nanoseconds{0}),
      [weak = weak_from_this(), effect, attempt = active.attempt] {
        const auto self = weak.lock();
        if (!self) return;
        self->post([self, effect, attempt] { self->tool_late(effect, attempt); });
      });
}

void SessionActor::tool_late(const EffectId& effect, std::uint32_t attempt) {
  Active* late = active(effect, attempt);
  if (late == nullptr || late->waits_since) return;
  late->stop.request_stop();
  tool_done(effect, attempt,
            fail(Error{ErrorCode::kTool,
                       state().find_call(effect)->call.name + " did not finish within " +
                           std::to_string(late->limit.count()) + " ms",
                       late->repeatable, nullptr, JsonObject{{"kind", "timeout"}}}));
}

ToolOutcome SessionActor::outcome_of(const ToolCallPart& call, ToolOutput output) {
  return {{call.id, call.name, ToolStatus::kOk, presentable(std::move(output.text)), std::move(output.images),
           std::move(output.files)},
          std::move(output.value),
          memory_json(output.memory)};
}

void SessionActor::tool_done(const EffectId& effect, std::uint32_t attempt, Result<ToolOutput> output) {
  state();  // a suspended session may lose it here, and all that is under way
  if (active(effect, attempt) == nullptr) return;
  EffectSettled record;
  if (output) {
    record.result = outcome_of(state().find_call(effect)->call, *std::move(output));
  } else {
    record.outcome = output.error().code == ErrorCode::kCancelled ? Outcome::kCancelled : Outcome::kError;
    record.error = output.error();
    record.error->message = presentable(std::move(record.error->message));
  }
  settled(effect, attempt, std::move(record));
}

void SessionActor::perform_timer(const EffectIntended& intent) {
  active_[intent.effect].timer = services_->options.executor->after(
      intent.delay, [self = shared_from_this(), effect = intent.effect, attempt = intent.attempt] {
        self->post([self, effect, attempt] { self->settled(effect, attempt, {}); });
      });
}

void SessionActor::settled(const EffectId& effect, std::uint32_t attempt, EffectSettled record_body) {
  state();  // a suspended session may lose it here, and all that is under way
  Active* done = active(effect, attempt);
  if (done == nullptr || broken_) return;
  if (done->timer != 0) services_->options.executor->cancel(done->timer);
  const auto now = services_->options.environment->monotonic();
  if (done->waits_since) done->waited += now - *done->waits_since;
  record_body.effect = effect;
  record_body.duration = std::chrono::duration_cast<Millis>(now - done->started - done->waited);
  if (done->kind == EffectKind::kModel) settle_grant(*done, record_body);
  if (done->kind == EffectKind::kTool) settle_within(CallId(state().find_call(effect)->call.id));
  active_.erase(effect);
  record(std::move(record_body));
  drop_hand_backs();
  advance();
}

namespace {

EffectSettled unstopped() {
  EffectSettled unknown;
  unknown.outcome = Outcome::kUnknown;
  unknown.error =
      Error{ErrorCode::kCancelled, "did not stop when told; what it did is unknown", false, nullptr, nullptr};
  return unknown;
}

}  // namespace

/// Calls that a handler left behind are settled before its own.
void SessionActor::settle_within(const CallId& outer) {
  std::vector<std::pair<EffectId, std::uint32_t>> left;
  for (auto& [effect, running] : active_) {
    const CallState* call = state().find_call(effect);
    if (call == nullptr || call->within != outer) continue;
    running.stop.request_stop();
    left.emplace_back(effect, running.attempt);
  }
  for (const auto& [effect, attempt] : left) settled(effect, attempt, unstopped());
  if (broken_ || !state().turn) return;
  // Intended, but the journal has not said yet that it knows: these never begin.
  std::vector<EffectId> unbegun;
  for (const CallState& call : state().turn->calls) {
    const bool intended = call.within == outer && call.phase == CallState::Phase::kRunning;
    if (intended && !active_.contains(call.effect)) unbegun.push_back(call.effect);
  }
  for (EffectId& effect : unbegun) {
    EffectSettled never = cancelled(EffectKind::kTool);
    never.effect = std::move(effect);
    record(std::move(never));
  }
}

/// What a change of the request has made pointless stops; what of it has not begun is not done.
void SessionActor::stop_outdated() {
  if (broken_ || !state().turn) return;
  std::vector<std::pair<EffectId, std::uint32_t>> stopping;
  for (const CallId& id : planner_->outdated(state())) {
    const CallState& call = *state().find_call(id);
    if (call.phase == CallState::Phase::kProposed) {
      if (!record(Decided{{}, id, ApprovalVerb::kReject, "a person has changed the request", by_policy()}))
        return;
      continue;
    }
    const auto running = active_.find(call.effect);
    if (running == active_.end() || running->second.stop.stop_requested()) continue;
    running->second.stop.request_stop();
    stopping.emplace_back(running->first, running->second.attempt);
  }
  if (!stopping.empty()) settle_unstopped(std::move(stopping));
}

bool SessionActor::is_outdated(const CallId& call) {
  return !call.empty() && std::ranges::count(planner_->outdated(state()), call) != 0;
}

/// Asks every effect under way to stop. Tools that do not within the grace time are settled as unknown: their
/// handler may still be at work, and nobody can say what it did.
void SessionActor::cancel_effects() {
  std::vector<std::pair<EffectId, std::uint32_t>> now, later;
  for (auto& [effect, running] : active_) {
    const bool waits_only = running.timer != 0 && running.kind != EffectKind::kTool;
    (waits_only ? now : later).emplace_back(effect, running.attempt);
  }
  for (const auto& [effect, attempt] : later) {
    if (Active* running = active(effect, attempt)) running->stop.request_stop();
  }
  for (const auto& [effect, attempt] : now) {
    settled(effect, attempt, cancelled(active_.at(effect).kind));
  }
  settle_unstopped(std::move(later));
}

void SessionActor::settle_unstopped(std::vector<std::pair<EffectId, std::uint32_t>> effects) {
  services_->options.executor->after(grace(), [weak = weak_from_this(), effects = std::move(effects)] {
    const auto self = weak.lock();
    if (!self) return;
    self->post([self, effects] {
      for (const auto& [effect, attempt] : effects) self->settled(effect, attempt, unstopped());
    });
  });
}

/// The time of a turn runs while it is active: not while it waits for a person or is paused.
void SessionActor::arm_deadline() {
  if (broken_ || deadline_ != 0 || !state().turn || state().paused) return;
  const Limits& limits = state().agent->limits;
  if (limits.max_time.count() == 0 || waits_for_people()) return;
  const Millis left = std::max(limits.max_time - state().turn->report.duration, Millis{0});
  deadline_ = services_->options.executor->after(left, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->post([self] {
      self->deadline_ = 0;
      if (self->broken_ || !self->state().turn) return;
      self->record(Intervened{CommandVerb::kDeadline, {}, nullptr, by_runtime()});
      self->cancel_effects();
      self->advance();
    });
  });
}

void SessionActor::disarm_deadline() {
  if (deadline_ != 0) services_->options.executor->cancel(std::exchange(deadline_, 0));
}

}  // namespace praxis
