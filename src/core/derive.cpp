// Derives the records of a decision.
#include <algorithm>
#include <utility>

#include "core/context.hpp"
#include "core/unknown_outcome.hpp"
#include "praxis/core/next.hpp"

namespace praxis {
namespace {

/// Shortens a digest to half, which is what a record holds of a request.
Digest half(Digest digest) {
  std::fill(digest.bytes.begin() + 16, digest.bytes.end(), std::uint8_t{0});
  return digest;
}

EffectId effect_id(std::uint32_t number) { return EffectId{"e" + std::to_string(number)}; }

/// Returns the conversation as sent for this call.
History asked_history(const History& history, const records::EffectIntended& intent) {
  if (intent.patch.history) return *intent.patch.history;
  if (intent.summary) return history_to_summarise(history, intent.summary->keep_from);
  if (intent.consult) return history_to_consult(history, intent.consult->prompt);
  return history;
}

/// Returns the digests of the model request that `intent` begins.
RequestDigest request_digest(const State& state, const records::EffectIntended& intent) {
  RequestDigest digest = state.described;
  if (intent.patch.instructions) digest.settings = digest_chain(digest.settings, *intent.patch.instructions);
  if (intent.patch.options) {
    digest.settings = digest_chain(digest.settings, to_canonical_json(to_json(*intent.patch.options)));
  }
  if (!intent.patch.model.empty()) digest.settings = digest_chain(digest.settings, intent.patch.model);
  if (intent.patch.tools) {
    for (const std::string& tool : *intent.patch.tools) digest.tools = digest_chain(digest.tools, tool);
    digest.tools = digest_chain(digest.tools, "offered");
  }
  if (intent.summary) {
    digest.settings = digest_chain(digest.settings, "summary");
  } else if (intent.consult) {
    digest.settings = digest_chain(digest.settings, to_canonical_json(intent.consult->schema));
  } else if (state.turn && !state.turn->output_schema.is_null()) {
    digest.settings = digest_chain(digest.settings, to_canonical_json(state.turn->output_schema));
  }
  if (intent.non_strict) digest.tools = digest_chain(digest.tools, "non_strict");
  const History& history = state.conversation.history();
  const bool whole = !intent.summary && !intent.consult && !intent.patch.history;
  digest.history = whole ? history.digest() : asked_history(history, intent).digest();
  return {half(digest.settings), half(digest.tools), half(digest.history)};
}

/// Moves the record; braces around it would copy it.
std::vector<RecordBody> only(RecordBody&& record) {
  std::vector<RecordBody> records;
  records.push_back(std::move(record));
  return records;
}

ParkId park_id(std::uint32_t number) { return ParkId{"p" + std::to_string(number)}; }

class Deriver {
 public:
  explicit Deriver(const State& state) : state_(state) {}

  std::vector<RecordBody> operator()(const Idle&) const { return {}; }
  std::vector<RecordBody> operator()(const Wait&) const { return {}; }

  std::vector<RecordBody> operator()(const BeginTurn& d) const {
    auto message = std::make_shared<const Message>(text_message(Role::kUser, d.text));
    return {records::TurnStarted{TurnId{"t" + std::to_string(state_.next_turn)}},
            records::MessageAppended{std::move(message), MessageSource::kQueue}};
  }

  std::vector<RecordBody> operator()(const CallModel& d) const {
    records::EffectIntended intent = model_intent(d.attempt, d.delay);
    intent.patch = d.patch;
    intent.consult = d.consult;
    intent.non_strict |= d.non_strict;
    if (d.consult) intent.step = state_.turn->step;
    intent.request = request_digest(state_, intent);
    if (intent.request.settings == state_.recorded.settings) intent.request.settings = {};
    if (intent.request.tools == state_.recorded.tools) intent.request.tools = {};
    return only(std::move(intent));
  }

  std::vector<RecordBody> operator()(const Summarise& d) const {
    records::EffectIntended intent = model_intent(d.attempt, d.delay);
    intent.step = state_.turn->step;
    intent.summary = d.task;
    intent.request = request_digest(state_, intent);
    return only(std::move(intent));
  }

  std::vector<RecordBody> operator()(const RunCalls& d) const {
    std::vector<RecordBody> records;
    std::uint32_t number = state_.next_effect;
    std::uint32_t next_park = state_.next_park;
    for (const std::size_t index : d.calls) {
      const CallState& call = state_.turn->calls[index];
      if (const Json asked = question_in(call); !asked.is_null()) {
        records.emplace_back(question(call, asked, next_park++));
        continue;
      }
      records::EffectIntended intent;
      intent.kind = EffectKind::kTool;
      intent.tool = call.call.name;
      intent.call = call.call.id;
      intent.attempt = call.attempt + 1;
      intent.delay = call.delay;
      intent.effect = call.attempt == 0 ? effect_id(number++) : call.effect;
      records.emplace_back(std::move(intent));
    }
    return records;
  }

  std::vector<RecordBody> operator()(const AskAboutCall& d) const {
    const CallState& call = state_.turn->calls[d.call];
    if (call.phase == CallState::Phase::kBarred) {
      ParkedStep step = parked_call(call, call.barred);
      step.prompt = call.result->text;
      step.schema = json_at(call.question, "schema");
      return {records::Parked{std::move(step)}};
    }
    if (state_.agent->in_doubt == InDoubt::kPark) {
      ParkedStep step = parked_call(call, ParkKind::kInDoubt);
      step.prompt =
          "The process stopped while " + call.call.name +
          " ran, so it may or may not have taken effect. Run it again (allow), leave it (deny), or say "
          "what it gave (answer)?";
      return {records::Parked{std::move(step)}};
    }
    records::EffectSettled settled;
    settled.effect = call.effect;
    settled.outcome = Outcome::kUnknown;
    settled.by = "recovery";
    settled.result = ToolOutcome{{call.call.id,
                                  call.call.name,
                                  ToolStatus::kError,
                                  unknown_outcome("the process stopped while this call ran"),
                                  {}},
                                 nullptr,
                                 nullptr};
    return only(std::move(settled));
  }

  std::vector<RecordBody> operator()(const StartTimer& d) const {
    records::EffectIntended intent = again_or_new(EffectKind::kTimer, d.attempt);
    intent.delay = d.delay;
    return only(std::move(intent));
  }

  std::vector<RecordBody> operator()(const Park& d) const {
    ParkedStep step;
    step.id = park_id(state_.next_park);
    step.kind = ParkKind::kQuestion;
    step.prompt = d.prompt;
    return {records::Parked{std::move(step)}};
  }

  std::vector<RecordBody> operator()(const Compact& d) const {
    return {records::Compacted{d.keep_from, d.cause, d.summary}};
  }

  std::vector<RecordBody> operator()(const Say& d) const {
    return {records::MessageAppended{std::make_shared<const Message>(d.message), d.source,
                                     has_trace() ? d.reason : NoteReason::kNone}};
  }

  std::vector<RecordBody> operator()(const Finish& d) const {
    return {records::TurnSettled{state_.turn->id, d.reason, d.text, d.error}};
  }

  ParkedStep parked_call(const CallState& call, ParkKind kind) const {
    ParkedStep step;
    step.id = park_id(state_.next_park);
    step.kind = kind;
    step.call = call.call.id;
    step.tool = call.call.name;
    step.arguments = call.call.arguments;
    step.digest = digest_of(call.call.name + '\n' + call.call.arguments);
    return step;
  }

 private:
  /// Returns the arguments of a call whose tool asks the user. Null for other calls, and for arguments
  /// without a valid question: the tool itself then reports what is wrong.
  Json question_in(const CallState& call) const {
    const ToolSpec* tool = state_.agent->find_tool(call.call.name);
    if (tool == nullptr || tool->result_from == ResultFrom::kHandler) return nullptr;
    if (tool->result_from == ResultFrom::kClient) {
      return JsonObject{
          {"question", "What does " + call.call.name + " give? The client that brought it runs it."}};
    }
    Json arguments = parse_json(call.call.arguments).value_or(nullptr);
    const Json& choices = json_at(arguments, "choices");
    const bool can_choose =
        choices.is_null() ||
        (choices.is_array() &&
         std::ranges::all_of(choices.get_array(), [](const Json& c) { return c.is_string(); }));
    return json_text(arguments, "question").empty() || !can_choose ? Json(nullptr) : arguments;
  }
  /// A log that began with version 4 or older continues without traces and reasons.
  bool has_trace() const { return state_.version >= 5; }

  records::Parked question(const CallState& call, const Json& asked, std::uint32_t number) const {
    ParkedStep step = parked_call(call, ParkKind::kQuestion);
    step.id = park_id(number);
    step.prompt = json_string(asked, "question");
    if (const Json& choices = json_at(asked, "choices"); choices.is_array() && !choices.get_array().empty()) {
      step.schema = JsonObject{{"type", "string"}, {"enum", choices}};
    }
    return {std::move(step)};
  }

  records::EffectIntended again_or_new(EffectKind kind, std::uint32_t attempt) const {
    records::EffectIntended intent;
    intent.kind = kind;
    intent.attempt = attempt;
    const bool again = attempt > 1 && state_.turn->effect;
    intent.effect = again ? state_.turn->effect->effect : effect_id(state_.next_effect);
    const bool same_step = again || (state_.turn->redo && kind == EffectKind::kModel);
    intent.step = same_step ? state_.turn->step : state_.turn->step + 1;
    return intent;
  }

  records::EffectIntended model_intent(std::uint32_t attempt, Millis delay) const {
    records::EffectIntended intent = again_or_new(EffectKind::kModel, attempt);
    intent.delay = delay;
    intent.non_strict = state_.non_strict;
    return intent;
  }

  const State& state_;
};

}  // namespace

std::string unknown_outcome(std::string_view why) {
  constexpr std::string_view kStart = "Outcome unknown: ";
  if (why.starts_with(kStart)) return std::string(why);  // of a call within this call
  return std::string(kStart) + std::string(why) +
         ". It may or may not have taken effect; check before you repeat it.";
}

TraceContext effect_trace(const State& state, const EffectId& effect, std::uint32_t attempt) {
  return span_below(state.trace, effect.str(), attempt);
}

std::vector<RecordBody> derive(const State& state, const Decision& decision) {
  return std::visit(Deriver{state}, decision);
}

RecordBody park_call(const State& state, const CallState& call, std::string reason) {
  ParkedStep step = Deriver{state}.parked_call(call, ParkKind::kApproval);
  step.prompt = std::move(reason);
  return records::Parked{std::move(step)};
}

ModelQuestion question_of(const State& state, const records::EffectIntended& intent) {
  const AgentSpec& agent = *state.agent;
  ModelQuestion question{agent.with_preface(intent.patch.instructions.value_or(agent.instructions)),
                         intent.patch.options.value_or(agent.options),
                         asked_history(state.conversation.history(), intent),
                         intent.non_strict,
                         intent.patch.tools,
                         intent.patch.model};
  if (intent.summary || intent.consult) {
    // The request is unchanged up to here, so that a vendor's cache still applies; tools stay because their
    // calls do.
    question.options.output_schema = intent.consult ? intent.consult->schema : nullptr;
    question.options.stop.clear();
    if (!agent.tools.empty()) question.options.tool_choice = "none";
  } else if (state.turn && !state.turn->output_schema.is_null()) {
    question.options.output_schema = state.turn->output_schema;
  }
  return question;
}

}  // namespace praxis
