// What an editor asks its user: permission for a call, or the answer to a question of the agent.
#include <algorithm>
#include <utility>

#include "app/plain_text.hpp"
#include "logs/read_state.hpp"
#include "praxis/core/state.hpp"
#include "protocols/acp_agent.hpp"
#include "protocols/acp_content.hpp"

namespace praxis::protocols {
namespace {

constexpr std::size_t kMostChoices = 20;
constexpr std::size_t kRuleColumns = 160;
constexpr const char* kOnce = "allow";
constexpr const char* kAlways = "always";
constexpr const char* kNo = "deny";

Json permission_option(std::string id, std::string name, const char* kind) {
  return JsonObject{{"optionId", std::move(id)}, {"name", std::move(name)}, {"kind", kind}};
}

/// The option that the user chose; empty: none.
std::string chosen(const std::optional<Json>& answer) {
  if (!answer) return {};
  const Json& outcome = json_at(*answer, "outcome");
  return json_string(outcome, "outcome") == "selected" ? json_string(outcome, "optionId") : "";
}

/// The form for an answer that follows `schema`; null if a form cannot ask for it.
Json form_of(const Json& schema) {
  constexpr const char* kAnswer = "answer";
  if (json_text(schema, "type") == "object") return schema;
  Json field = schema.is_object() ? schema : Json(JsonObject{{"type", "string"}});
  if (json_at(field, "type").is_null()) field.get_object()["type"] = "string";
  return JsonObject{{"type", "object"},
                    {"properties", JsonObject{{kAnswer, std::move(field)}}},
                    {"required", JsonArray{kAnswer}}};
}

}  // namespace

std::optional<Approval> AcpAgent::ask(AcpFolder& folder, const ParkedStep& step,
                                      const std::stop_token& stop) {
  const auto conversation = conversation_above(folder.runtime->journal(), step.session);
  if (!conversation) return std::nullopt;
  std::optional<Approval> approval;
  if (step.kind != ParkKind::kQuestion) {
    approval = ask_permission(conversation, step, stop);
  } else {
    approval = takes_forms_ ? ask_form(*conversation, step, stop) : ask_choice(*conversation, step, stop);
  }
  if (!approval || stop.stop_requested()) return std::nullopt;
  // Decided here and not by the value that is returned, so that the log names the user.
  const ParkId id =
      step.id.str().find('/') == std::string::npos ? qualified_id(step.session, step.id) : step.id;
  if (auto decided = conversation->session->decide(id, *approval, serving_.author); !decided)
    serving_.warn("the step " + id.str() + " is not decided: " + decided.error().message);
  return std::nullopt;
}

/// The call that waits, as the editor shows it with the question.
Json AcpAgent::call_in_question(const AcpConversation& conversation, const ParkedStep& step) const {
  const auto state = read_state(conversation.folder->runtime->journal(), step.session);
  const AgentSpec* const spec = state ? state->agent.get() : nullptr;
  const std::string agent = step.session == conversation.id ? "" : spec == nullptr ? "sub-agent" : spec->id;
  if (step.call.empty()) {
    return JsonObject{{"toolCallId", step.id.str()},
                      {"title", app::one_line(step.prompt, kRuleColumns)},
                      {"kind", "other"},
                      {"status", "pending"}};
  }
  const AcpCall call{acp_call_id(conversation.id, step.session, step.call), agent, step.tool, step.arguments};
  JsonObject members = acp_call_members(call, spec);
  JsonArray content{acp_call_content(acp_text(acp_step_text(step)))};
  if (Json diff = acp_diff(call, spec); !diff.is_null()) content.push_back(std::move(diff));
  members["status"] = "pending";
  members["content"] = std::move(content);
  return members;
}

std::optional<Approval> AcpAgent::ask_permission(const AcpConversationPtr& conversation,
                                                 const ParkedStep& step, const std::stop_token& stop) {
  Journal& journal = conversation->folder->runtime->journal();
  std::optional<app::AlwaysRule> always;
  if (step.kind == ParkKind::kApproval) {
    if (auto rule = app::always_rule_for(journal, step.session, step)) always = *std::move(rule);
  }
  {
    // An agent in progress reads rules that are saved now with its next run only.
    const std::lock_guard lock(mutex_);
    if (always && app::is_allowed(conversation->saved, *always)) return approve();
  }
  const bool in_doubt = step.kind == ParkKind::kInDoubt;
  JsonArray options{permission_option(kOnce, in_doubt ? "Run it again" : "Allow once", "allow_once")};
  if (always)
    options.push_back(permission_option(
        kAlways, "Always: " + app::one_line(app::rule_text(*always, kRuleColumns), kRuleColumns),
        "allow_always"));
  options.push_back(permission_option(kNo, "No", "reject_once"));
  JsonObject params{{"sessionId", conversation->id.str()},
                    {"toolCall", call_in_question(*conversation, step)},
                    {"options", std::move(options)}};
  const std::string answer = chosen(peer_.ask("session/request_permission", std::move(params), stop));
  if (answer == kNo) return reject("the user refused the call");
  if (answer == kOnce) return approve();
  if (answer != kAlways || !always) return std::nullopt;
  if (auto saved = app::save_rule(*always); !saved) serving_.warn(saved.error().message);
  const std::lock_guard lock(mutex_);
  conversation->saved.push_back(*std::move(always));
  return approve();
}

std::optional<Approval> AcpAgent::ask_form(const AcpConversation& conversation, const ParkedStep& step,
                                           const std::stop_token& stop) {
  const bool whole = json_text(step.schema, "type") == "object";
  JsonObject params{{"sessionId", conversation.id.str()},
                    {"mode", "form"},
                    {"message", step.prompt},
                    {"requestedSchema", form_of(step.schema)}};
  if (!step.call.empty()) params["toolCallId"] = acp_call_id(conversation.id, step.session, step.call);
  const auto given = peer_.ask("elicitation/create", std::move(params), stop);
  if (!given) return std::nullopt;
  const std::string action = json_string(*given, "action");
  if (action == "decline") return reject({});
  if (action != "accept") return std::nullopt;
  const Json& content = json_at(*given, "content");
  return praxis::answer(whole ? to_json_text(content) : to_plain_text(json_at(content, "answer")));
}

/// Editors without forms can ask which of some options; another question waits for the next prompt.
std::optional<Approval> AcpAgent::ask_choice(const AcpConversation& conversation, const ParkedStep& step,
                                             const std::stop_token& stop) {
  const JsonArray* const choices = json_at(step.schema, "enum").if_array();
  if (choices == nullptr || choices->empty() || choices->size() > kMostChoices) return std::nullopt;
  JsonArray options;
  for (std::size_t i = 0; i < choices->size(); ++i)
    options.push_back(permission_option(std::to_string(i), to_plain_text((*choices)[i]), "allow_once"));
  options.push_back(permission_option(kNo, "No answer", "reject_once"));
  JsonObject params{{"sessionId", conversation.id.str()},
                    {"toolCall", call_in_question(conversation, step)},
                    {"options", std::move(options)}};
  const std::string answer = chosen(peer_.ask("session/request_permission", std::move(params), stop));
  if (answer == kNo) return reject({});
  for (std::size_t i = 0; i < choices->size(); ++i) {
    if (answer == std::to_string(i)) return praxis::answer(to_plain_text((*choices)[i]));
  }
  return std::nullopt;
}

}  // namespace praxis::protocols
