#include "core/request_track.hpp"

#include <algorithm>
#include <utility>

namespace praxis {
namespace {

/// Returns why the request does not extend the previous one; empty if it does.
std::string cause_of_break(const State& state, const records::EffectIntended& r) {
  if (state.agent->model != state.sent->model) return "model";
  if (r.patch != state.sent->patch) return "hook";
  if (!r.request.settings.empty()) return "settings";
  if (!r.request.tools.empty()) return "tools";
  return state.history_break;
}

void note_prefix(State& state, const records::EffectIntended& r) {
  const std::string cause = state.sent ? cause_of_break(state, r) : "";
  state.prefix_break.reset();
  if (!cause.empty()) {
    // Instructions and tools come first, so they stay cached when the conversation changes.
    const bool all = cause != state.history_break;
    const std::int64_t kept = all ? 0 : state.overhead_tokens * state.correction / 1000;
    const std::int64_t lost = std::max<std::int64_t>(state.sent->tokens - kept, 0);
    const ModelProfile& profile = state.agent->profile;
    const std::int64_t dearer =
        std::max<std::int64_t>(profile.price_input.value - profile.price_cached.value, 0);
    state.prefix_break = {cause, lost, {lost * dearer / 1'000'000}};
  }
  state.sent = SentRequest{state.agent->model, r.patch, state.request_tokens()};
  state.history_break.clear();
}

}  // namespace

bool RequestPatch::operator==(const RequestPatch& other) const {
  const auto digest = [](const std::optional<History>& sent) {
    return sent ? std::optional(sent->digest()) : std::nullopt;
  };
  return instructions == other.instructions && options == other.options && tools == other.tools &&
         model == other.model && digest(history) == digest(other.history);
}

std::int64_t prior_correction(const AgentSpec& agent) { return agent.profile.counting.percent * 10; }

std::int64_t overhead_of(const AgentSpec& agent) {
  const TokenCounting& counting = agent.profile.counting;
  std::int64_t tokens = estimate_tokens(agent.with_preface(agent.instructions));
  // Converts the vendor's tokens into the estimator's.
  if (!agent.tools.empty()) tokens += counting.tool_tokens * 100 / counting.percent;
  for (const ToolSpec& tool : agent.tools) {
    const ToolDefinition& definition = tool.definition;
    tokens += estimate_tokens(definition.name) + estimate_tokens(definition.description) +
              estimate_tokens(to_json_text(definition.parameters));
  }
  return tokens;
}

RequestDigest described_by(const AgentSpec& agent) {
  std::string tools;
  for (const ToolSpec& tool : agent.tools) append_json(tools, to_json(tool.definition));
  const std::string settings = agent.model + '\n' + agent.with_preface(agent.instructions) + '\n' +
                               to_canonical_json(to_json(agent.options));
  return {digest_of(settings), digest_of(tools), {}};
}

PreparedAgent prepare_agent(const AgentSpec& agent) {
  return {described_by(agent), overhead_of(agent), to_json_text(to_json(agent))};
}

void note_request(State& state, const records::EffectIntended& r) {
  if (r.attempt == 1) {
    state.turn->answer.reset();
    note_prefix(state, r);
  }
  if (!r.request.settings.empty()) state.recorded.settings = r.request.settings;
  if (!r.request.tools.empty()) state.recorded.tools = r.request.tools;
}

void learn_correction(State& state, const Usage& usage) {
  constexpr std::int64_t kLeast = 500, kMost = 4000;
  // The tokens that a vendor adds to every request are a large factor of a short conversation and a small one
  // of a long conversation. So many tokens are therefore assumed to be estimated correctly; up to version 3
  // of the records, 0 were.
  const std::int64_t known = state.version >= 4 ? 1000 : 0;
  const std::int64_t counted = known * prior_correction(*state.agent) / 1000;
  const std::int64_t estimated = state.conversation.history().estimated_tokens() + state.overhead_tokens;
  if (usage.estimated || usage.input <= 0 || estimated == 0) return;
  if (state.sent && (state.sent->patch.history || state.sent->patch.tools)) return;  // another request
  state.correction = std::clamp((usage.input + counted) * 1000 / (estimated + known), kLeast, kMost);
}

void history_shrank(State& state, std::size_t before, std::string cause) {
  const std::size_t now = state.conversation.history().messages().size();
  const std::size_t dropped = before - std::min(before, now);
  for (TurnMark& mark : state.marks) mark.messages -= std::min(mark.messages, dropped);
  state.history_break = std::move(cause);
  state.context_tokens = 0;
}

}  // namespace praxis
