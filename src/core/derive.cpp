// From a decision to its records.
#include <algorithm>
#include <utility>

#include "praxis/core/next.hpp"

namespace praxis {
namespace {

/// Requests are told apart by half a digest, which is what a record holds.
Digest half(Digest digest) {
  std::fill(digest.bytes.begin() + 16, digest.bytes.end(), std::uint8_t{0});
  return digest;
}

EffectId effect_id(std::uint32_t number) { return EffectId{"e" + std::to_string(number)}; }
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
    EffectIntended intent = again_or_new(EffectKind::kModel, d.attempt);
    intent.name = state_.agent->model;
    intent.delay = d.delay;
    intent.patch = d.patch;
    intent.request = request_digest(state_, d.patch);
    if (intent.request.settings == state_.recorded.settings) intent.request.settings = {};
    if (intent.request.tools == state_.recorded.tools) intent.request.tools = {};
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
                                  "not have taken effect; check "
                                  "before you repeat it.",
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

  std::vector<RecordBody> operator()(const Compact& d) const { return {Compacted{d.keep_from, d.cause}}; }

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
    intent.step = again ? state_.turn->step : state_.turn->step + 1;
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

RequestDigest request_digest(const State& state, const RequestPatch& patch) {
  RequestDigest digest = state.described;
  if (patch.instructions) digest.settings = digest_chain(digest.settings, *patch.instructions);
  if (patch.options)
    digest.settings = digest_chain(digest.settings, to_canonical_json(to_json(*patch.options)));
  digest.history = state.conversation.history().digest();
  return {half(digest.settings), half(digest.tools), half(digest.history)};
}

std::string patched_instructions(const AgentSpec& agent, const RequestPatch& patch) {
  return patch.instructions.value_or(agent.instructions);
}

ModelOptions patched_options(const AgentSpec& agent, const RequestPatch& patch) {
  return patch.options.value_or(agent.options);
}

}  // namespace praxis
