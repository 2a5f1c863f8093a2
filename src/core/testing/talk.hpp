// For tests: an agent whose model has a small window, and a growing conversation with it.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/testing/fold.hpp"
#include "core/testing/planners.hpp"

namespace praxis {

inline constexpr std::int64_t kWindow = 2'000;

inline std::string words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "word ";
  return text;
}

inline AgentSpec agent_with_window(std::int64_t window = kWindow) {
  AgentSpec agent;
  agent.model = "test:model";
  agent.instructions = "Be brief.";
  agent.tools = {test_tool("read")};
  agent.limits.max_messages = 0;
  agent.limits.max_repeats = 0;
  agent.profile.context_window = window;
  agent.profile.price_input = {2'000'000};
  agent.profile.price_cached = {500'000};
  return agent;
}

/// An answer without usage.
inline ModelResponse uncounted(ModelResponse response) {
  response.usage = {};
  return response;
}

struct Talk : Fold {
  explicit Talk(AgentSpec agent = agent_with_window(), std::uint32_t version = kRecordVersion)
      : Fold(std::move(agent), kAskModel, version) {}

  bool summarises() const { return state().turn && turn().effect && turn().effect->summary; }
  /// One tool round with a long result.
  void round(int number, int length = 200) {
    const std::string id = "c" + std::to_string(number);
    answer(uncounted(calls({tool_call(id, "read")})));
    give(id, "result " + std::to_string(number) + " " + words(length));
  }
  /// Plays rounds until the model is asked for a summary; returns their number.
  int fill() {
    for (int i = 0; i < 50; ++i) {
      if (summarises()) return i;
      round(i);
    }
    throw std::logic_error("no summary is asked for");
  }
  const records::EffectIntended& last_intent() const {
    for (auto record = log().rbegin(); record != log().rend(); ++record) {
      if (const auto* intent = std::get_if<records::EffectIntended>(&record->body)) return *intent;
    }
    throw std::logic_error("no intent");
  }
  std::vector<std::string> compactions() const {
    std::vector<std::string> all;
    for (const Record& record : log()) {
      const auto* compacted = std::get_if<records::Compacted>(&record.body);
      if (compacted != nullptr)
        all.push_back(compacted->cause + (compacted->summary.empty() ? "" : "+summary"));
    }
    return all;
  }
};

inline Error overflow() {
  return make_error(ErrorCode::kModel, ErrorKind::kContextOverflow, "prompt is too long");
}

}  // namespace praxis
