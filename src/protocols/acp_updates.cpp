#include "protocols/acp_updates.hpp"

#include <utility>
#include <variant>

#include "app/plain_text.hpp"
#include "base/utf8.hpp"
#include "praxis/base/utf8.hpp"
#include "protocols/acp_content.hpp"

namespace praxis::protocols {
namespace {

constexpr const char* kMessage = "agent_message_chunk";
constexpr const char* kThought = "agent_thought_chunk";
constexpr const char* kUser = "user_message_chunk";
constexpr std::size_t kMostResultBytes = std::size_t{256} * 1024;

/// Takes the characters that are complete off the front of `text`; what is left is the start of one.
std::string whole_characters(std::string& text) {
  std::size_t start = text.size();
  while (start > 0 && text.size() - start < 3) {
    const auto byte = static_cast<unsigned char>(text[--start]);
    if (byte < 0x80) break;
    const std::size_t needs = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 0;
    if (needs == 0) continue;
    if (needs <= text.size() - start) break;
    return std::exchange(text, text.substr(start)).substr(0, start);
  }
  return std::exchange(text, {});
}

}  // namespace

std::vector<Json> AcpUpdates::of(const Event& event) {
  const bool is_root = event.agent.id == root_;
  if (const auto* turn = std::get_if<events::TurnStarted>(&event.body))
    agents_[event.agent.id] = turn->config;
  std::visit(match{[&](const events::ToolCalled& e) { called(event, e.call, e.name, e.arguments); },
                   [&](const events::ToolStarted& e) { started(event, e); },
                   [&](const events::ToolCompleted& e) { completed(event, e); },
                   [&](const events::ToolFailed& e) { failed(event, e.call, e.error.message); },
                   [&](const events::ToolTimedOut& e) { failed(event, e.call, "its time limit has passed"); },
                   [&](const events::StepParked& e) { parked(event, e.step); },
                   [&](const events::StepDecided& e) { decided(event, e.decision); }, [](const auto&) {}},
             event.body);
  if (!is_root) return std::exchange(out_, {});
  std::visit(match{[&](const events::ModelRequested&) {
                     streamed_ = reasoned_ = false, half_.clear(), said_.clear();
                   },
                   [&](const events::AttemptSuperseded&) {
                     streamed_ = reasoned_ = false, half_.clear(), said_.clear();
                   },
                   [&](const events::TextDelta& e) { text_delta(event, e.text, kMessage); },
                   [&](const events::ReasoningDelta& e) { text_delta(event, e.text, kThought); },
                   [&](const events::AssistantText& e) { whole_text(event, e.text, kMessage); },
                   [&](const events::AssistantReasoning& e) { whole_text(event, e.text, kThought); },
                   [&](const events::ModelResponded& e) { used(event, e.usage); },
                   [&](const events::MessageAdded& e) { message(e); },
                   [&](const events::TurnCompleted& e) { turn_ended(event, e.result); },
                   [&](const events::TurnFailed& e) { turn_ended(event, e.result); },
                   [&](const events::TurnTimedOut& e) { turn_ended(event, e.result); },
                   [&](const events::TurnCancelled& e) { turn_ended(event, e.result); }, [](const auto&) {}},
             event.body);
  return std::exchange(out_, {});
}

void AcpUpdates::add(const char* kind, JsonObject members) {
  members["sessionUpdate"] = kind;
  out_.push_back(std::move(members));
}

void AcpUpdates::add_chunk(const Event& event, const char* kind, Json content) {
  // A further attempt is another message: the editor cannot take back what it got of the one before.
  std::string id = event.turn.str() + '.' + std::to_string(event.step);
  if (event.attempt > 1) id += '.' + std::to_string(event.attempt);
  add(kind, {{"messageId", std::move(id)}, {"content", std::move(content)}});
}

void AcpUpdates::text_delta(const Event& event, const std::string& text, const char* kind) {
  (kind == kMessage ? streamed_ : reasoned_) = true;
  half_ += text;
  const std::string whole = whole_characters(half_);
  if (whole.empty()) return;
  if (kind == kMessage) said_ += whole;
  add_chunk(event, kind, acp_text(whole));
}

void AcpUpdates::whole_text(const Event& event, const std::string& text, const char* kind) {
  if (text.empty() || (kind == kMessage ? streamed_ : reasoned_)) return;
  if (kind == kMessage) said_ += text;
  add_chunk(event, kind, acp_text(text));
}

void AcpUpdates::message(const events::MessageAdded& added) {
  using Source = MessageSource;
  const bool is_new = added.source == Source::kSteer || added.source == Source::kQueue;
  const bool is_user = is_new || added.source == Source::kUser || added.source == Source::kImport;
  if (!added.message || !is_user || (of_ == Of::kPresent && !is_new)) return;
  const bool by_agent = added.message->role == Role::kAssistant;
  if (!by_agent && added.message->role != Role::kUser) return;
  for (Json& block : acp_blocks(*added.message))
    add(by_agent ? kMessage : kUser, {{"messageId", added.message->id.str()}, {"content", std::move(block)}});
}

/// The text of a turn may come from a plan, without any message of a model.
void AcpUpdates::turn_ended(const Event& event, const AgentResult& result) {
  for (const auto& [id, call] : std::exchange(open_, {}))
    add("tool_call_update", {{"toolCallId", id}, {"status", "failed"}});
  if (result.success && !result.text.empty() && result.text != said_)
    add_chunk(event, kMessage, acp_text(result.text));
  said_.clear();
}

// ---- calls

std::string AcpUpdates::call_id(const Event& event, const CallId& call) const {
  return acp_call_id(root_, event.agent.id, call);
}

const AgentSpec* AcpUpdates::spec_of(const Event& event) const {
  const auto found = agents_.find(event.agent.id);
  return found == agents_.end() ? nullptr : found->second.get();
}

AcpCall AcpUpdates::call_of(const Event& event, const CallId& call, const std::string& name,
                            const std::string& arguments) const {
  const AgentSpec* const spec = spec_of(event);
  const std::string agent = event.agent.depth == 0 ? "" : spec == nullptr ? "sub-agent" : spec->id;
  return {call_id(event, call), agent, name, arguments};
}

void AcpUpdates::called(const Event& event, const CallId& call, const std::string& name,
                        const std::string& arguments) {
  const AcpCall made = call_of(event, call, name, arguments);
  // The calls of an answer are listed again when one is added to them.
  if (!open_.emplace(made.id, OpenCall{name}).second) return;
  JsonObject members = acp_call_members(made, spec_of(event));
  members["name"] = name;
  members["status"] = "pending";
  add("tool_call", std::move(members));
}

void AcpUpdates::started(const Event& event, const events::ToolStarted& tool) {
  called(event, tool.call, tool.name, tool.arguments);
  const AcpCall made = call_of(event, tool.call, tool.name, tool.arguments);
  // Hooks and approvers may have changed the arguments.
  JsonObject members = acp_call_members(made, spec_of(event));
  members["status"] = "in_progress";
  Json& diff = open_[made.id].diff;
  if (of_ == Of::kPresent) diff = acp_diff(made, spec_of(event));
  if (!diff.is_null()) members["content"] = JsonArray{diff};
  add("tool_call_update", std::move(members));
}

void AcpUpdates::completed(const Event& event, const events::ToolCompleted& tool) {
  finished(event, tool.call, tool.text, tool.result.get(), tool.value);
}

void AcpUpdates::finished(const Event& event, const CallId& call, const std::string& text,
                          const ToolResultPart* result, const Json& value) {
  const std::string id = call_id(event, call);
  JsonArray content;
  if (const auto open = open_.find(id); open != open_.end()) {
    if (!open->second.diff.is_null()) content.push_back(open->second.diff);
    open_.erase(open);
  }
  if (!text.empty() && content.empty()) {
    const std::string_view shown = utf8_head(text, kMostResultBytes);
    content.push_back(acp_call_content(acp_text(std::string(shown))));
  }
  for (const ImagePart& image : result == nullptr ? std::vector<ImagePart>() : result->images) {
    if (Json block = acp_image(image); !block.is_null())
      content.push_back(acp_call_content(std::move(block)));
  }
  JsonObject members{{"toolCallId", id}, {"status", "completed"}, {"content", std::move(content)}};
  if (!value.is_null()) members["rawOutput"] = value;
  add("tool_call_update", std::move(members));
}

void AcpUpdates::failed(const Event& event, const CallId& call, const std::string& why) {
  const std::string id = call_id(event, call);
  open_.erase(id);
  JsonArray content{acp_call_content(acp_text(why))};
  add("tool_call_update", {{"toolCallId", id}, {"status", "failed"}, {"content", std::move(content)}});
}

void AcpUpdates::parked(const Event& event, const ParkedStep& step) {
  const auto open = open_.find(call_id(event, step.call));
  if (open == open_.end() || step.kind != ParkKind::kQuestion) return;
  const AgentSpec* const spec = spec_of(event);
  const ToolSpec* const tool = spec == nullptr ? nullptr : spec->find_tool(open->second.tool);
  open->second.asks = tool != nullptr && tool->result_from == ResultFrom::kHandler;
}

/// A call that a rule, a hook or a human refuses does not start, so that it has no other end. Nor has one
/// whose result is the answer of a human.
void AcpUpdates::decided(const Event& event, const records::Decided& decision) {
  if (decision.call.empty()) return;
  if (decision.verb == ApprovalVerb::kReject)
    return failed(event, decision.call, decision.text.empty() ? "refused" : "refused: " + decision.text);
  const auto open = open_.find(call_id(event, decision.call));
  if (decision.verb != ApprovalVerb::kAnswer || open == open_.end() || open->second.asks) return;
  finished(event, decision.call, decision.text, nullptr, nullptr);
}

void AcpUpdates::used(const Event& event, const Usage& usage) {
  const AgentSpec* const spec = spec_of(event);
  if (of_ == Of::kPast || spec == nullptr || spec->profile.context_window <= 0) return;
  add("usage_update", {{"used", usage.total()}, {"size", spec->profile.context_window}});
}

}  // namespace praxis::protocols
