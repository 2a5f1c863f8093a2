#include "server/answer_schemas.hpp"

#include <array>
#include <cctype>
#include <string>
#include <utility>

namespace praxis::server {
namespace {

/// One member of an answer. `type`: `string`, `integer`, `number`, `boolean`, `object`, `any`, or the name of
/// a schema; `X[]` is a list of X, `X?` is null or X.
struct Member {
  std::string_view name;
  std::string_view type;
  bool is_optional = false;  ///< may be missing
};

struct Shape {
  std::string_view name;
  std::array<Member, 18> members;
};

constexpr bool kOptional = true;

constexpr std::array kShapes{
    Shape{"Usage",
          {{{"total", "integer"},
            {"input", "integer", kOptional},
            {"output", "integer", kOptional},
            {"cache_read", "integer", kOptional},
            {"reasoning", "integer", kOptional},
            {"cost_usd", "number", kOptional}}}},
    Shape{"Failure", {{{"code", "string"}, {"message", "string"}}}},
    Shape{"Token", {{{"token", "string"}}}},
    Shape{"AgentName", {{{"name", "string"}}}},
    Shape{"AgentNames", {{{"agents", "AgentName[]"}}}},
    Shape{"ToolText", {{{"name", "string"}, {"description", "string"}, {"parameters", "any"}}}},
    Shape{"PolicyLayer", {{{"layer", "string"}, {"rules", "object"}}}},
    Shape{"AgentText",
          {{{"name", "string"},
            {"description", "string"},
            {"model", "string"},
            {"instructions", "string"},
            {"tools", "ToolText[]"},
            {"limits", "object"},
            {"policy", "PolicyLayer[]"}}}},
    Shape{"Judgement",
          {{{"layer", "string"}, {"permission", "string"}, {"by", "string"}, {"reason", "string"}}}},
    Shape{"PolicyAnswer", {{{"permission", "string"}, {"reason", "string"}, {"judgements", "Judgement[]"}}}},
    Shape{"RunRow",
          {{{"id", "string"},
            {"name", "string?"},
            {"tags", "string[]"},
            {"agent", "string"},
            {"model", "string"},
            {"status", "string"},
            {"title", "string"},
            {"created_at", "string"},
            {"updated_at", "string"},
            {"records", "integer"},
            {"tokens", "integer"},
            {"cost_usd", "number?"}}}},
    Shape{"RemovedRun", {{{"id", "string"}, {"sessions", "integer"}}}},
    Shape{"RunPage", {{{"runs", "RunRow[]"}, {"next", "string?"}}}},
    Shape{"Created", {{{"id", "string"}, {"created", "boolean"}}}},
    Shape{"Imported", {{{"id", "string"}, {"created", "boolean"}, {"problem", "string?"}}}},
    Shape{"ProviderModels",
          {{{"provider", "string"},
            {"name", "string"},
            {"ready", "boolean"},
            {"detail", "string"},
            {"models", "object[]"}}}},
    Shape{"Models", {{{"providers", "ProviderModels[]"}}}},
    Shape{"Accepted", {{{"id", "string"}}}},
    Shape{"Decided", {{{"id", "string"}, {"step", "string"}, {"decision", "string"}}}},
    Shape{"NodeUsage", {{{"self", "Usage"}, {"subtree", "Usage"}}}},
    Shape{"WaitingMessage", {{{"id", "integer"}, {"verb", "string"}, {"text", "string"}}}},
    Shape{"TreeNode",
          {{{"id", "string"},
            {"parent", "string?"},
            {"children", "string[]"},
            {"agent", "string"},
            {"path", "string"},
            {"depth", "integer"},
            {"status", "string"},
            {"paused", "boolean"},
            {"held", "boolean"},
            {"content", "string"},
            {"comment", "string"},
            {"usage", "NodeUsage"},
            {"cost_usd", "number?"},
            {"step", "integer"},
            {"created", "string"},
            {"updated", "string"},
            {"pending", "ParkedStep[]"},
            {"waiting", "WaitingMessage[]"}}}},
    Shape{"Tree", {{{"nodes", "TreeNode[]"}}}},
    Shape{"TreeRow",
          {{{"id", "string"},
            {"parent", "string", kOptional},
            {"depth", "integer"},
            {"agent", "string"},
            {"status", "string"},
            {"content", "string"},
            {"created", "string"},
            {"updated", "string"},
            {"tokens", "integer", kOptional},
            {"cost_usd", "number", kOptional},
            {"step", "integer", kOptional},
            {"paused", "boolean", kOptional},
            {"comment", "string", kOptional},
            {"pending", "ParkedStep[]", kOptional}}}},
    Shape{"TreeRows", {{{"rows", "TreeRow[]"}}}},
    Shape{"History",
          {{{"run_id", "string"},
            {"events", "object[]"},
            {"agents", "TreeNode[]"},
            {"has_earlier", "boolean"},
            {"last_event_id", "string"}}}},
    Shape{"RunResult",
          {{{"run_id", "string"},
            {"agent", "string"},
            {"status", "string"},
            {"termination", "string?"},
            {"result", "string?"},
            {"errors", "Failure[]"},
            {"pending", "ParkedStep[]"},
            {"resumable", "boolean"},
            {"held", "boolean", kOptional},
            {"records", "integer"},
            {"last_event_id", "string"}}}},
    Shape{"ParkedStep",
          {{{"id", "string"},
            {"kind", "string"},
            {"prompt", "string"},
            {"call", "string", kOptional},
            {"tool", "string", kOptional},
            {"arguments", "any", kOptional},
            {"schema", "any", kOptional},
            {"allowed", "string[]"},
            {"session", "string", kOptional},
            {"path", "string", kOptional},
            {"expires", "string", kOptional}}}},
    Shape{"PendingStep",
          {{{"id", "string"},
            {"kind", "string"},
            {"prompt", "string"},
            {"call", "string", kOptional},
            {"tool", "string", kOptional},
            {"arguments", "any", kOptional},
            {"schema", "any", kOptional},
            {"allowed", "string[]"},
            {"expires", "string", kOptional},
            {"run", "string"},
            {"session", "string"},
            {"agent", "string"},
            {"path", "string"}}}},
    Shape{"PendingSteps", {{{"pending", "PendingStep[]"}}}},
    Shape{"SavedRule", {{{"call", "object"}, {"files", "string[]"}}}},
    Shape{"StepToDecide",
          {{{"id", "string"},
            {"kind", "string"},
            {"prompt", "string"},
            {"call", "string", kOptional},
            {"tool", "string", kOptional},
            {"arguments", "any", kOptional},
            {"schema", "any", kOptional},
            {"allowed", "string[]"},
            {"expires", "string", kOptional},
            {"run", "string"},
            {"session", "string"},
            {"agent", "string"},
            {"path", "string"},
            {"changes", "string[]"},
            {"description", "string?"},
            {"parameters", "any"},
            {"rule", "SavedRule?"},
            {"no_rule", "string?"}}}},
    Shape{"StoredRecord", {{{"seq", "integer"}, {"kind", "string"}, {"time", "integer"}, {"body", "any"}}}},
    Shape{"RecordPage", {{{"records", "StoredRecord[]"}, {"total", "integer"}}}},
    Shape{"Branch",
          {{{"id", "string"},
            {"from", "string?"},
            {"at", "integer"},
            {"title", "string"},
            {"model", "string"},
            {"status", "string"},
            {"created_at", "string"},
            {"records", "integer"},
            {"tokens", "integer"},
            {"cost_usd", "number?"}}}},
    Shape{"Branches", {{{"branches", "Branch[]"}}}},
    Shape{"Standing",
          {{{"id", "string"},
            {"agent", "string"},
            {"model", "string"},
            {"status", "string"},
            {"termination", "string?", kOptional},
            {"result", "string?", kOptional},
            {"turns", "integer"},
            {"tool_calls", "integer"},
            {"records", "integer"},
            {"tokens", "integer"},
            {"cost_usd", "number?"}}}},
    Shape{"Difference",
          {{{"seq", "integer"}, {"field", "string"}, {"first", "string"}, {"second", "string"}}}},
    Shape{"Comparison",
          {{{"first", "Standing"},
            {"second", "Standing"},
            {"common_records", "integer"},
            {"difference", "Difference?"}}}},
    Shape{"Divergence",
          {{{"seq", "integer"}, {"field", "string"}, {"expected", "string"}, {"found", "string"}}}},
    Shape{"Replay",
          {{{"identical", "boolean"},
            {"records", "integer"},
            {"derived", "integer"},
            {"divergence", "Divergence?"}}}},
    Shape{"Transcript",
          {{{"run_id", "string"},
            {"agent", "string"},
            {"model", "string"},
            {"status", "string"},
            {"usage", "Usage"},
            {"cost_usd", "number?"},
            {"items", "object[]"},
            {"records", "integer"},
            {"next", "integer?"}}}},
    Shape{"UsageRow",
          {{{"day", "string"},
            {"agent", "string"},
            {"model", "string"},
            {"calls", "integer"},
            {"usage", "Usage"},
            {"cost_usd", "number?"}}}},
    Shape{"UsageReport",
          {{{"from", "string"}, {"until", "string"}, {"complete", "boolean"}, {"rows", "UsageRow[]"}}}},
    Shape{"PromptLabel", {{{"label", "string"}, {"version", "string"}}}},
    Shape{"PromptRow",
          {{{"id", "string"},
            {"name", "string"},
            {"version", "string"},
            {"created_at", "string"},
            {"labels", "PromptLabel[]"}}}},
    Shape{"Prompts", {{{"prompts", "PromptRow[]"}}}},
    Shape{"PromptVersion",
          {{{"version", "string"},
            {"text", "string"},
            {"created_by", "string"},
            {"created_at", "string"},
            {"parent", "string?"}}}},
    Shape{"PromptVersions",
          {{{"id", "string"}, {"versions", "PromptVersion[]"}, {"labels", "PromptLabel[]"}}}},
    Shape{"Labelled", {{{"id", "string"}, {"label", "string"}, {"version", "string"}}}},
    Shape{"MemoryCollection",
          {{{"name", "string"}, {"notes", "integer"}, {"bytes", "integer"}, {"written", "string"}}}},
    Shape{"MemoryRanks",
          {{{"words", "integer?"}, {"pieces", "integer?"}, {"recency", "integer"}, {"meaning", "integer?"}}}},
    Shape{"MemoryNote",
          {{{"collection", "string"},
            {"key", "string"},
            {"value", "any"},
            {"written", "string"},
            {"score", "number", kOptional},
            {"terms", "string[]", kOptional},
            {"ranks", "MemoryRanks", kOptional}}}},
    Shape{"MemoryAnswer", {{{"collections", "MemoryCollection[]"}, {"notes", "MemoryNote[]"}}}},
    Shape{"SettingLayer", {{{"layer", "string"}, {"value", "string"}, {"origin", "string"}}}},
    Shape{"Setting",
          {{{"key", "string"}, {"value", "string"}, {"origin", "string"}, {"layers", "SettingLayer[]"}}}},
    Shape{"FileChange",
          {{{"path", "string"},
            {"status", "string"},
            {"binary", "boolean"},
            {"added", "integer"},
            {"removed", "integer"},
            {"lines", "string[]"}}}},
    Shape{"RunDiff",
          {{{"run_id", "string"}, {"files", "FileChange[]"}, {"added", "integer"}, {"removed", "integer"}}}},
    Shape{"RestoredFile", {{{"path", "string"}, {"action", "string"}, {"verdict", "string"}}}},
    Shape{"FilesRestored",
          {{{"run_id", "string"},
            {"dry_run", "boolean"},
            {"changed", "integer"},
            {"conflicts", "integer"},
            {"files", "RestoredFile[]"}}}},
    Shape{"DoctorCheck", {{{"name", "string"}, {"status", "string"}, {"detail", "string"}}}},
    Shape{"Doctor", {{{"healthy", "boolean"}, {"checks", "DoctorCheck[]"}}}},
    Shape{"Settings", {{{"settings", "Setting[]"}, {"warnings", "string[]"}}}},
};

struct Answered {
  std::string_view method;
  std::string_view path;
  std::string_view schema;
};

constexpr std::array kAnswers{
    Answered{"POST", "/api/v1/login", "Token"},
    Answered{"GET", "/api/v1/agents", "AgentNames"},
    Answered{"GET", "/api/v1/agents/{agent}", "AgentText"},
    Answered{"POST", "/api/v1/agents/{agent}/policy", "PolicyAnswer"},
    Answered{"GET", "/api/v1/runs", "RunPage"},
    Answered{"POST", "/api/v1/runs", "Created"},
    Answered{"POST", "/api/v1/import", "Imported"},
    Answered{"GET", "/api/v1/models", "Models"},
    Answered{"GET", "/api/v1/runs/{id}", "RunResult"},
    Answered{"DELETE", "/api/v1/runs/{id}", "RemovedRun"},
    Answered{"GET", "/api/v1/runs/{id}/messages", "Transcript"},
    Answered{"GET", "/api/v1/runs/{id}/history", "History"},
    Answered{"GET", "/api/v1/runs/{id}/tree", "Tree"},
    Answered{"GET", "/api/v1/runs/{id}/tree/rows", "TreeRows"},
    Answered{"GET", "/api/v1/tree", "Tree"},
    Answered{"POST", "/api/v1/runs/{id}/messages", "Accepted"},
    Answered{"POST", "/api/v1/runs/{id}/commands", "Accepted"},
    Answered{"POST", "/api/v1/runs/{id}/resume", "Accepted"},
    Answered{"POST", "/api/v1/runs/{id}/fork", "Created"},
    Answered{"GET", "/api/v1/runs/{id}/branches", "Branches"},
    Answered{"GET", "/api/v1/runs/{id}/diff", "RunDiff"},
    Answered{"POST", "/api/v1/runs/{id}/undo", "FilesRestored"},
    Answered{"GET", "/api/v1/runs/{id}/records", "RecordPage"},
    Answered{"POST", "/api/v1/runs/{id}/replay", "Replay"},
    Answered{"GET", "/api/v1/runs/{id}/compare/{other}", "Comparison"},
    Answered{"GET", "/api/v1/runs/{id}/steps/{step}", "StepToDecide"},
    Answered{"POST", "/api/v1/runs/{id}/steps/{step}", "Decided"},
    Answered{"GET", "/api/v1/pending", "PendingSteps"},
    Answered{"GET", "/api/v1/usage", "UsageReport"},
    Answered{"GET", "/api/v1/settings", "Settings"},
    Answered{"GET", "/api/v1/doctor", "Doctor"},
    Answered{"GET", "/api/v1/prompts", "Prompts"},
    Answered{"GET", "/api/v1/prompts/{prompt}", "PromptVersions"},
    Answered{"POST", "/api/v1/prompts/{prompt}/labels", "Labelled"},
    Answered{"GET", "/api/v1/memory", "MemoryAnswer"},
};

JsonObject schema_of_type(std::string_view type) {
  if (type.ends_with('?')) {
    type.remove_suffix(1);
    return JsonObject{{"anyOf", JsonArray{schema_of_type(type), JsonObject{{"type", "null"}}}}};
  }
  if (type.ends_with("[]")) {
    type.remove_suffix(2);
    return JsonObject{{"type", "array"}, {"items", schema_of_type(type)}};
  }
  if (type == "any") return {};
  if (std::isupper(static_cast<unsigned char>(type.front())) != 0)
    return JsonObject{{"$ref", "#/components/schemas/" + std::string(type)}};
  return JsonObject{{"type", type}};
}

JsonObject schema_of_shape(const Shape& shape) {
  JsonObject properties;
  JsonArray required;
  for (const Member& member : shape.members) {
    if (member.name.empty()) break;
    properties[member.name] = schema_of_type(member.type);
    if (!member.is_optional) required.push_back(Json(member.name));
  }
  return JsonObject{
      {"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
}

}  // namespace

JsonObject answer_schemas() {
  JsonObject schemas;
  for (const Shape& shape : kShapes) schemas[shape.name] = schema_of_shape(shape);
  return schemas;
}

std::string_view answer_schema_of(std::string_view method, std::string_view path) {
  for (const Answered& each : kAnswers) {
    if (each.method == method && each.path == path) return each.schema;
  }
  return {};
}

}  // namespace praxis::server
