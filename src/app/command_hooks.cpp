#include "app/command_hooks.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "app/own_folder.hpp"
#include "app/plain_text.hpp"
#include "app/setting_key.hpp"
#include "praxis/base/utf8.hpp"
#include "praxis/policy/policy.hpp"
#include "praxis/process/process.hpp"
#include "praxis/runtime/agent.hpp"

namespace praxis::app {
namespace {

constexpr std::array<std::string_view, 4> kEventNames{"PreToolUse", "PostToolUse", "Stop", "SubagentStop"};
constexpr int kObjects = 2;  ///< exit status
constexpr std::size_t kMostReason = 4096;
constexpr std::size_t kMostAnswer = std::size_t{256} * 1024;

std::string_view name_of(HookEvent event) { return kEventNames[static_cast<std::size_t>(event)]; }

/// What a program says: its objection, or its JSON (null without any).
struct HookAnswer {
  std::optional<std::string> objection;
  Json json;
};

ProcessSpec process_of(const CommandHook& hook, const JsonObject& input) {
  ProcessSpec spec;
  spec.argv = hook.command;
  for (const std::string& name : environment_names()) spec.environment[name] = environment_variable(name);
  spec.folder = std::filesystem::current_path().string();
  spec.input = to_json_text(input);
  spec.limits.output_bytes = kMostAnswer;
  spec.limits.wall_time = hook.timeout;
  return spec;
}

/// Throws if the program cannot be run, or fails.
HookAnswer ask(const CommandHook& hook, JsonObject input) {
  input["hook_event_name"] = name_of(hook.event);
  input["cwd"] = std::filesystem::current_path().string();
  const auto broken = [&](const std::string& why) {
    return std::runtime_error("the hook \"" + hook.name + "\" " + why);
  };
  auto process = start_process(process_of(hook, input));
  if (!process) throw broken("cannot be started: " + process.error().message);
  const auto ended = process->wait({});
  if (!ended) throw broken("was lost: " + ended.error().message);
  const std::string said = one_line(repair_utf8(ended->err.text()), kMostReason);
  if (ended->end != ProcessEnd::kExited)
    throw broken("did not end by itself: " + std::string(to_string(ended->end)));
  if (ended->exit_code == kObjects)
    return {said.empty() ? "the hook \"" + hook.name + "\" objects" : said, nullptr};
  if (ended->exit_code != 0)
    throw broken("ended with status " + std::to_string(ended->exit_code) + ": " + said);
  const std::string& out = ended->out.head;
  const std::size_t start = out.find_first_not_of(" \t\r\n");
  if (start == std::string::npos || out[start] != '{') return {};
  auto json = parse_json(out);
  if (!json) throw broken("answered with JSON that cannot be read: " + json.error().message);
  return {std::nullopt, *std::move(json)};
}

bool is_about(const CommandHook& hook, const std::string& tool) {
  return hook.tools.empty() || std::ranges::any_of(hook.tools, [&](const std::string& pattern) {
           return rule_names(pattern, tool);
         });
}

JsonObject input_of(const ToolCallPart& call) {
  return {{"tool_name", call.name},
          {"tool_use_id", call.id.str()},
          {"tool_input", parse_json(call.arguments).value_or(JsonObject{})}};
}

/// The member of an answer, in its part for the event or at its top.
const Json& said_in(const Json& answer, std::string_view in_part, std::string_view at_top) {
  const Json& part = json_at(json_at(answer, "hookSpecificOutput"), in_part);
  return part.is_null() ? json_at(answer, at_top) : part;
}

std::string text_in(const Json& json) { return json.is_string() ? std::string(json.get_string()) : ""; }

Permission permission_of(const CommandHook& hook, const ToolCall& call) {
  const HookAnswer answer = ask(hook, input_of(call));
  if (answer.objection) return deny(*answer.objection);
  if (answer.json.is_null()) return allow();
  std::string reason = text_in(said_in(answer.json, "permissionDecisionReason", "reason"));
  if (reason.empty()) reason = "the hook \"" + hook.name + "\" decided so";
  if (json_at(answer.json, "continue") == Json(false)) {
    const std::string stop = text_in(json_at(answer.json, "stopReason"));
    return deny(stop.empty() ? reason : stop);
  }
  const std::string decision = text_in(said_in(answer.json, "permissionDecision", "decision"));
  if (decision == "deny" || decision == "block") return deny(reason);
  if (decision == "ask") return needs_approval(reason);
  if (!decision.empty() && decision != "allow" && decision != "approve")
    throw std::runtime_error("the hook \"" + hook.name + "\" decided \"" + decision +
                             "\", which is no decision");
  const Json& changed = said_in(answer.json, "updatedInput", "updatedInput");
  if (changed.is_object()) return Edit{to_json_text(changed)};
  return allow();
}

/// Adds what the program says to the result that the model reads.
void add_to_result(const CommandHook& hook, JsonObject input, const ToolCall& call,
                   Result<ToolOutput>& output) {
  for (auto& [key, value] : input_of(call)) input[key] = std::move(value);
  input["tool_response"] = output ? Json(output->text) : Json(output.error().message);
  const HookAnswer answer = ask(hook, std::move(input));
  std::string added = answer.objection.value_or("");
  if (text_in(json_at(answer.json, "decision")) == "block") added = text_in(json_at(answer.json, "reason"));
  if (const std::string more = text_in(said_in(answer.json, "additionalContext", "additionalContext"));
      !more.empty())
    added += (added.empty() ? "" : "\n") + more;
  if (added.empty()) return;
  const std::string note = "\n[the hook \"" + hook.name + "\" says: " + added + ']';
  if (output) {
    output->text += note;
  } else {
    output.error().message += note;
  }
}

JsonObject input_of(const HookContext& context) {
  return {{"session_id", context.session.str()}, {"agent_id", context.agent}};
}

void add_one(Agent& agent, const CommandHook& hook) {
  switch (hook.event) {
    case HookEvent::kPreToolUse:
      agent.approve([hook](const ToolCall& call) {
        return is_about(hook, call.name) ? permission_of(hook, call) : allow();
      });
      return;
    case HookEvent::kPostToolUse:
      agent.on_after_tool(
          [hook](const HookContext& context, const ToolCall& call, Result<ToolOutput>& output) {
            if (is_about(hook, call.name)) add_to_result(hook, input_of(context), call, output);
          });
      return;
    case HookEvent::kStop:
    case HookEvent::kSubagentStop:
      agent.on_after_turn([hook](const HookContext& context, const AgentResult& result) {
        JsonObject input = input_of(context);
        input["stop_hook_active"] = false;
        input["status"] = to_string(result.status);
        input["last_assistant_message"] = result.text;
        ask(hook, std::move(input));
      });
  }
}

Result<CommandHook> hook_of(std::string_view name, const Json& table) {
  CommandHook hook;
  hook.name = std::string(name);
  const auto lacks = [&](const char* key) {
    return fail(ErrorCode::kInput, "hooks." + hook.name + " needs \"" + key + '"');
  };
  const auto event = std::ranges::find(kEventNames, json_string(table, "event"));
  if (event == kEventNames.end()) return lacks("event");
  hook.event = static_cast<HookEvent>(event - kEventNames.begin());
  hook.tools = texts_of(json_at(table, "tools"));
  hook.command = texts_of(json_at(table, "command"));
  if (hook.command.empty()) return lacks("command");
  if (const Millis time = duration_of(json_at(table, "timeout")); time > Millis{0}) hook.timeout = time;
  return hook;
}

}  // namespace

Result<std::vector<CommandHook>> command_hooks_of(const Config& config) {
  std::vector<CommandHook> hooks;
  const JsonObject* tables = config.hooks.if_object();
  if (tables == nullptr) return hooks;
  for (const auto& [name, table] : *tables) {
    auto hook = hook_of(name, table);
    if (!hook) return fail(std::move(hook.error()));
    hooks.push_back(*std::move(hook));
  }
  std::ranges::sort(hooks, {}, &CommandHook::name);
  return hooks;
}

void add_command_hooks(Agent& agent, const std::vector<CommandHook>& hooks, bool is_root) {
  for (const CommandHook& hook : hooks) {
    const bool is_of_roots = hook.event == HookEvent::kPreToolUse || hook.event == HookEvent::kStop;
    if (hook.event == HookEvent::kPostToolUse || is_of_roots == is_root) add_one(agent, hook);
  }
}

}  // namespace praxis::app
