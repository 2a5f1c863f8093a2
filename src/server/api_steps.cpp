// One step that waits: what deciding it takes, and the decision.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "app/always_rules.hpp"
#include "app/change_text.hpp"
#include "logs/read_state.hpp"
#include "praxis/core/state.hpp"
#include "server/handlers.hpp"
#include "server/route_rights.hpp"

namespace praxis::server {
namespace {

/// A step that waits, with the agent that it belongs to.
struct Waiting {
  AgentNode node;
  ParkedStep step;
};

Result<Waiting> waiting_step(Service& service, const SessionId& session, const std::string& name) {
  JournalTree tree(service.journal, {.root = session});
  if (auto read = tree.refresh(); !read) return fail(read.error());
  for (const AgentNode& node : tree.nodes()) {
    if (node.id != session) continue;
    for (const ParkedStep& step : node.pending) {
      const std::string& id = step.id.str();
      if (id == name || id.ends_with("/" + name)) return Waiting{node, step};
    }
  }
  return fail(not_found("step", name));
}

/// The tool of the step as its agent knows it; null members: it is not one of the agent's.
void add_tool(Service& service, const Waiting& waiting, JsonObject& json) {
  json["description"] = nullptr;
  json["parameters"] = nullptr;
  const auto state = read_state(*service.journal, waiting.node.id);
  const ToolSpec* const tool =
      state && !waiting.step.tool.empty() ? state->agent->find_tool(waiting.step.tool) : nullptr;
  if (tool == nullptr) return;
  json["description"] = tool->definition.description;
  json["parameters"] = tool->definition.parameters;
}

/// The rule that would have made the question unnecessary, or why no rule can.
void add_rule(Service& service, const Waiting& waiting, const Principal& principal, JsonObject& json) {
  json["rule"] = nullptr;
  json["no_rule"] = nullptr;
  const auto refuse = [&](const std::string& why) { json["no_rule"] = why; };
  if (!principal.sees_all || !principal.rights.has(Right::kAdminister))
    return refuse("rules are those of the owner of the server; this token cannot save one");
  if (waiting.step.kind != ParkKind::kApproval) return refuse("only an approval can be given by a rule");
  const auto always = app::always_rule_for(*service.journal, waiting.node.id, waiting.step);
  if (!always) return refuse(always.error().message);
  JsonArray files;
  for (const std::string& file : always->files) files.push_back(Json(file));
  json["rule"] = JsonObject{{"call", parse_json(app::rule_to_edit(*always)).value_or(nullptr)},
                            {"files", std::move(files)}};
}

/// Saves the rule that the approver agreed to. Error `kInput`: it would not allow the call of the step.
Status save_agreed(Service& service, const SessionId& session, const Call& call, const Json& rule) {
  if (!call.principal.sees_all) return fail(field_error("rule", "cannot be saved with this token"));
  if (auto may = check_right(call.principal, Right::kAdminister); !may) return may;
  const auto waiting = waiting_step(service, session, call.name("step"));
  if (!waiting) return fail(waiting.error());
  const auto narrow = app::always_rule_for(*service.journal, session, waiting->step);
  if (!narrow) return fail(Error(narrow.error()).set("field", "rule"));
  const auto agreed = app::edited_rule(*narrow, to_json_text(rule));
  if (!agreed) return fail(Error(agreed.error()).set("field", "rule"));
  return app::save_rule(*agreed);
}

}  // namespace

Result<HttpAnswer> show_step(Service& service, const Call& call) {
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return fail(id.error());
  const auto waiting = waiting_step(service, *id, call.name("step"));
  if (!waiting) return fail(waiting.error());
  JsonObject json = pending_json(waiting->node, waiting->step, service.runs->lineages().root_of(*id));
  JsonArray changes;
  // The lines hold what is in the file now, which other principals may not read.
  if (call.principal.sees_all) {
    for (const std::string& line : app::ChangePreview(service.journal.get()).lines(*id, waiting->step))
      changes.emplace_back(line);
  }
  json["changes"] = std::move(changes);
  add_tool(service, *waiting, json);
  add_rule(service, *waiting, call.principal, json);
  return json_answer(std::move(json));
}

Result<HttpAnswer> decide_step(Service& service, const Call& call) {
  const auto body = call.object({"decision", "text", "arguments", "rule"});
  if (!body) return fail(body.error());
  const auto name = text_of(*body, "decision");
  auto text = text_of(*body, "text");
  if (!name) return fail(name.error());
  if (!text) return fail(text.error());
  const auto verb = approval_verb_from(*name);
  if (!verb)
    return fail(field_error("decision", "must be allow, deny, edit or answer, not \"" + *name + "\""));
  const Json* const rule = body->if_contains("rule");
  if (rule != nullptr && !rule->is_object()) return fail(field_error("rule", "must be an object"));
  if (*verb == ApprovalVerb::kEdit) {
    const Json* arguments = body->if_contains("arguments");
    if (arguments == nullptr || !arguments->is_object())
      return fail(field_error("arguments", "must be the object with which the call is to run"));
    text = to_json_text(*arguments);
  }
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return fail(id.error());
  if (rule != nullptr) {
    if (*verb != ApprovalVerb::kApprove) return fail(field_error("rule", "belongs to the decision allow"));
    if (auto saved = save_agreed(service, *id, call, *rule); !saved) return fail(saved.error());
  }
  if (auto decided =
          service.runs->decide(*id, call.name("step"), Approval(*verb, *std::move(text)), call.principal);
      !decided) {
    return fail(decided.error());
  }
  return json_answer(JsonObject{{"id", id->str()}, {"step", call.name("step")}, {"decision", *name}});
}

}  // namespace praxis::server
