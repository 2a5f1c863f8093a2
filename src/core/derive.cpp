// From a decision to its records.
#include <algorithm>
#include <utility>

#include "core/context.hpp"
#include "praxis/core/next.hpp"

namespace praxis {
namespace {

/// Requests are told apart by half a digest, which is what a record holds.
Digest half(Digest digest) {
  std::fill(digest.bytes.begin() + 16, digest.bytes.end(), std::uint8_t{0});
  return digest;
}

EffectId effect_id(std::uint32_t number) { return EffectId{"e" + std::to_string(number)}; }

/// What the model call that `intent` begins is about, in short.
RequestDigest request_digest(const State& state, const EffectIntended& intent) {
  RequestDigest digest = state.described;
  if (intent.patch.instructions) digest.settings = digest_chain(digest.settings, *intent.patch.instructions);
  if (intent.patch.options) {
    digest.settings = digest_chain(digest.settings, to_canonical_json(to_json(*intent.patch.options)));
  }
  if (intent.summary) {
    digest.settings = digest_chain(digest.settings, "summary");
  } else if (state.turn && !state.turn->output_schema.is_null()) {
    digest.settings = digest_chain(digest.settings, to_canonical_json(state.turn->output_schema));
  }
  const History& history = state.conversation.history();
  digest.history =
      intent.summary ? history_to_summarise(history, intent.summary->keep_from).digest() : history.digest();
  return {half(digest.settings), half(digest.tools), half(digest.history)};
}

ParkId park_id(const State& state) { return ParkId{"p" + std::to_string(state.next_park)}; }

class Deriver {
 public:
  explicit Deriver(const State& state) : state_(state) {}

  std::vector<RecordBody> operator()(const Idle&) const { return {}; }
  std::vector<RecordBody> operator()(const Wait&) const { return {}; }

  std::vector<RecordBody> operator()(const BeginTurn& d) const {
    auto message = std::make_shared<const Message>(text_message(Role::kUser, d.text));
    return {TurnStarted{TurnId{"t" + std::to_string(state_.next_turn)}},
            MessageAppended{std::move(message), MessageSource::kQueue}};
  }

  std::vector<RecordBody> operator()(const CallModel& d) const {
    EffectIntended intent = model_intent(d.attempt, d.delay);
    intent.patch = d.patch;
    intent.request = request_digest(state_, intent);
    if (intent.request.settings == state_.recorded.settings) intent.request.settings = {};
    if (intent.request.tools == state_.recorded.tools) intent.request.tools = {};
    return {std::move(intent)};
  }

  std::vector<RecordBody> operator()(const Summarise& d) const {
    EffectIntended intent = model_intent(d.attempt, d.delay);
    intent.step = state_.turn->step;
    intent.summary = d.task;
    intent.request = request_digest(state_, intent);
    return {std::move(intent)};
  }

  std::vector<RecordBody> operator()(const RunCalls& d) const {
    std::vector<RecordBody> records;
    std::uint32_t number = state_.next_effect;
    for (const std::size_t index : d.calls) {
      const CallState& call = state_.turn->calls[index];
      EffectIntended intent;
      intent.kind = EffectKind::kTool;
      intent.name = call.call.name;
      intent.call = call.call.id;
      intent.step = state_.turn->step;
      intent.attempt = call.attempt + 1;
      intent.effect = call.attempt == 0 ? effect_id(number++) : call.effect;
      intent.idempotency_key = state_.id.str() + "/" + intent.effect.str();
      intent.request.settings = half(digest_of(call.call.arguments));
      records.emplace_back(std::move(intent));
    }
    return records;
  }

  std::vector<RecordBody> operator()(const ResolveDoubt& d) const {
    const CallState& call = state_.turn->calls[d.call];
    if (state_.agent->in_doubt == InDoubt::kPark) {
      ParkedStep step = parked_call(call, ParkKind::kInDoubt);
      step.prompt =
          "The process stopped while " + call.call.name +
          " ran, so it may or may not have taken effect. Run it again (allow), leave it (deny), or say "
          "what it gave (answer)?";
      return {Parked{std::move(step)}};
    }
    EffectSettled settled;
    settled.effect = call.effect;
    settled.outcome = Outcome::kUnknown;
    settled.by = "recovery";
    settled.result = ToolOutcome{{call.call.id,
                                  call.call.name,
                                  ToolStatus::kError,
                                  "Outcome unknown: the process stopped while this call ran. It may or may "
                                  "not have taken effect; check before you repeat it.",
                                  {}},
                                 nullptr,
                                 nullptr};
    return {std::move(settled)};
  }

  std::vector<RecordBody> operator()(const StartTimer& d) const {
    EffectIntended intent = again_or_new(EffectKind::kTimer, d.attempt);
    intent.name = "timer";
    intent.delay = d.delay;
    return {std::move(intent)};
  }

  std::vector<RecordBody> operator()(const Park& d) const {
    ParkedStep step;
    step.id = park_id(state_);
    step.kind = ParkKind::kQuestion;
    step.prompt = d.prompt;
    return {Parked{std::move(step)}};
  }

  std::vector<RecordBody> operator()(const Compact& d) const {
    return {Compacted{d.keep_from, d.cause, d.summary}};
  }

  std::vector<RecordBody> operator()(const Say& d) const {
    return {MessageAppended{std::make_shared<const Message>(d.message), d.source}};
  }

  std::vector<RecordBody> operator()(const Finish& d) const {
    return {TurnSettled{state_.turn->id, d.reason, d.text, d.error}};
  }

  ParkedStep parked_call(const CallState& call, ParkKind kind) const {
    ParkedStep step;
    step.id = park_id(state_);
    step.kind = kind;
    step.call = call.call.id;
    step.tool = call.call.name;
    step.arguments = call.call.arguments;
    step.digest = digest_of(call.call.name + '\n' + call.call.arguments);
    return step;
  }

 private:
  EffectIntended again_or_new(EffectKind kind, std::uint32_t attempt) const {
    EffectIntended intent;
    intent.kind = kind;
    intent.attempt = attempt;
    const bool again = attempt > 1 && state_.turn->effect;
    intent.effect = again ? state_.turn->effect->effect : effect_id(state_.next_effect);
    const bool same_step = again || (state_.turn->redo && kind == EffectKind::kModel);
    intent.step = same_step ? state_.turn->step : state_.turn->step + 1;
    return intent;
  }

  EffectIntended model_intent(std::uint32_t attempt, Millis delay) const {
    EffectIntended intent = again_or_new(EffectKind::kModel, attempt);
    intent.name = state_.agent->model;
    intent.delay = delay;
    return intent;
  }

  const State& state_;
};

}  // namespace

std::vector<RecordBody> derive(const State& state, const Decision& decision) {
  return std::visit(Deriver{state}, decision);
}

RecordBody park_call(const State& state, const CallState& call, std::string reason) {
  ParkedStep step = Deriver{state}.parked_call(call, ParkKind::kApproval);
  step.prompt = std::move(reason);
  return Parked{std::move(step)};
}

ModelQuestion question_of(const State& state, const EffectIntended& intent) {
  const AgentSpec& agent = *state.agent;
  ModelQuestion question{intent.patch.instructions.value_or(agent.instructions),
                         intent.patch.options.value_or(agent.options), state.conversation.history()};
  if (intent.summary) {
    // The same request up to here, so that a vendor's cache still serves; tools stay as calls of them do.
    question.history = history_to_summarise(question.history, intent.summary->keep_from);
    question.options.output_schema = nullptr;
    question.options.stop.clear();
    if (!agent.tools.empty()) question.options.tool_choice = "none";
  } else if (state.turn && !state.turn->output_schema.is_null()) {
    question.options.output_schema = state.turn->output_schema;
  }
  return question;
}

}  // namespace praxis
