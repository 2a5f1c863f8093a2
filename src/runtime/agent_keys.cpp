#include "runtime/agent_keys.hpp"

#include <array>
#include <vector>

namespace praxis {
namespace {

using Type = SettingKey::Type;

constexpr std::array kOwnKeys{
    SettingKey{"id", Type::kText, "Short name for programs; \"agent\" if absent"},
    SettingKey{"name", Type::kText, "Name for people"},
    SettingKey{"model", Type::kText, "PROVIDER:NAME, such as openai:gpt-5-mini"},
    SettingKey{"instructions", Type::kText, "What the model is told before the conversation"},
    SettingKey{"instructions_file", Type::kText, "A file with the instructions; relative to this file"},
    SettingKey{"tool_failure", Type::kText, "Whether the turn goes on after a failed tool call",
               "continue|fail"},
    SettingKey{"in_doubt", Type::kText,
               "What happens to a call that may have run when the process died: a person decides, or the "
               "model is told",
               "park|tell"},
    SettingKey{"options.temperature", Type::kNumber, "Randomness of the model's choice of words", {}, 0, 2},
    SettingKey{"options.max_output_tokens", Type::kWhole, "Length of one answer", {}, 1, 1e9},
    SettingKey{"options.reasoning_effort", Type::kText, "How much the model thinks, in the vendor's words"},
    SettingKey{"options.tool_choice", Type::kText, "auto, none, required, or the name of a tool"},
    SettingKey{"options.extra", Type::kAnyTable, "Settings merged into the request as they are"},
    SettingKey{"policy.allow", Type::kTexts, "Tools that may run; `*` at the end stands for any ending"},
    SettingKey{"policy.ask", Type::kTexts, "Tools whose every call waits for a person"},
    SettingKey{"policy.deny", Type::kTexts, "Tools that may not run"},
    SettingKey{"tools.kv", Type::kTable, "Notes by key, for the time of the run"},
    SettingKey{"tools.text", Type::kTable, "Sections, matching lines and summaries of a text"},
    SettingKey{"tools.file.read", Type::kTexts, "Folders that may be read; gives the tool file_read"},
    SettingKey{"tools.file.write", Type::kTexts, "Folders that may be written; gives the tool file_write"},
    SettingKey{"tools.http.allow", Type::kTexts, "Hosts that may be reached; gives the tool http"},
    SettingKey{"tools.http.timeout", Type::kDuration, "For one request, such as \"30s\", or milliseconds"},
    SettingKey{
        "tools.http.retries", Type::kWhole, "Further attempts after a failure that may pass", {}, 0, 10},
    SettingKey{"tools.http.max_bytes", Type::kWhole, "Longest response", {}, 1, 1024.0 * 1024 * 1024},
    SettingKey{"plan", Type::kTables, "Steps to follow instead of a model (docs/plans.md)"},
    SettingKey{"metadata", Type::kAnyTable, "Whatever the host likes; tools see it"},
};

}  // namespace

std::span<const SettingKey> agent_keys() {
  static const std::vector<SettingKey> keys = [] {
    std::vector<SettingKey> all(kOwnKeys.begin(), kOwnKeys.end());
    all.insert(all.end(), limit_keys().begin(), limit_keys().end());
    return all;
  }();
  return keys;
}

Json agent_file_schema() {
  return schema_of_keys(agent_keys(), "urn:praxis:agent-file", "Praxis agent file");
}

}  // namespace praxis
