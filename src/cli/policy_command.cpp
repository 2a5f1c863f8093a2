// `policy`: shows, tries and tests the rules about what an agent may do. Nothing runs.
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "app/policy_check.hpp"
#include "base/visible_text.hpp"
#include "cli/commands.hpp"
#include "cli/place.hpp"
#include "praxis/base/dates.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/runtime/agent.hpp"

namespace praxis::cli {
namespace {

using PolicyVerb = PolicyOptions::Verb;

ExitStatus status_of(const Permission& permission) {
  if (std::holds_alternative<Deny>(permission)) return ExitStatus::kBlocked;
  return std::holds_alternative<NeedsApproval>(permission) ? ExitStatus::kParked : ExitStatus::kFinished;
}

class PolicyWork {
 public:
  PolicyWork(const PolicyOptions& options, const app::Workspace& workspace, Console& console)
      : options_(options), workspace_(workspace), console_(console) {}

  Result<ExitStatus> show() {
    if (options_.words.size() != 1) return wrong("show takes the name of one agent");
    const auto agent = app::agent_named(workspace_, options_.words.front());
    if (!agent) return fail(agent.error());
    for (const PolicyRules& rules : app::rules_of(agent->spec())) {
      const std::string layer = rules.source.empty() ? "the agent" : rules.source;
      if (options_.json) {
        console_.item("policy_layer", {{"layer", layer}, {"rules", to_json(rules)}});
        continue;
      }
      console_.out.line(visible_text(layer));
      show_names("allow", rules.allow);
      show_names("ask", rules.ask);
      show_names("deny", rules.deny);
      for (const CallRule& call : rules.calls) line("call", to_json_text(to_json(call)));
      for (const PolicyRule& rule : rules.rules) line("rule", to_json_text(to_json(rule)));
      if (const JsonArray* const filters = rules.filters.if_array()) {
        for (const Json& filter : *filters) line("filter", to_json_text(filter));
      }
      if (rules.flow != FlowRules{}) line("flow", to_json_text(to_json(rules.flow)));
    }
    return ExitStatus::kFinished;
  }

  Result<ExitStatus> check() {
    const auto& words = options_.words;
    if (words.size() < 2 || words.size() > 3)
      return wrong("check takes an agent, a tool, and the arguments of the call as JSON");
    ToolCallPart call;
    call.name = words[1];
    call.arguments = "{}";
    if (words.size() == 3) {
      auto text = words[2] == "-" ? read_input("-") : Result<std::string>(words[2]);
      if (!text) return fail(std::move(text.error()));
      if (const auto json = parse_json(*text); !json || !json->is_object())
        return fail(app::usage_error("the arguments must be a JSON object: " +
                                     (json ? "got " + to_json_text(*json) : json.error().message)));
      call.arguments = *std::move(text);
    }
    const auto agent = app::agent_named(workspace_, words.front());
    if (!agent) return fail(agent.error());
    const auto moment = moment_of_check();
    if (!moment) return fail(moment.error());
    auto answer = app::check_policy(*agent, call, *moment);
    if (!answer) return fail(std::move(answer.error()));
    return told(call, *answer);
  }

  Result<ExitStatus> explain() {
    if (options_.words.size() != 2) return wrong("explain takes a run, and the id or number of a call");
    const auto session = app::open_session(workspace_, options_.words[0], app::JournalUse::kLook);
    if (!session) return fail(session.error());
    const auto explained = app::explain_call(*session, options_.words[1]);
    if (!explained) return fail(explained.error());
    if (auto shown = told(explained->call, explained->answer); !shown) return shown;
    return ExitStatus::kFinished;  // the decision is not about this command
  }

  Result<ExitStatus> test() {
    if (options_.words.empty()) return wrong("test takes files with [[cases]]");
    std::size_t held = 0, failed = 0;
    for (const std::string& file : options_.words) {
      const auto text = read_input(file);
      if (!text) return fail(text.error());
      const auto cases = app::read_policy_cases(*text, file, now());
      if (!cases) return fail(cases.error());
      for (const app::PolicyCase& each : *cases) {
        auto right = holds(each);
        if (!right) return fail(std::move(right.error()));
        ++(*right ? held : failed);
      }
    }
    console_.result({{"held", held}, {"failed", failed}});
    if (!options_.json) console_.err.line(fmt::format("{} of {} cases hold", held, held + failed));
    return failed == 0 ? ExitStatus::kFinished : ExitStatus::kFailed;
  }

 private:
  static std::unexpected<Error> wrong(std::string message) {
    return fail(app::usage_error(std::move(message), "praxis policy --help"));
  }

  static UnixMillis now() { return system_environment()->now(); }

  Result<app::PolicyMoment> moment_of_check() const {
    app::PolicyMoment moment{now(), options_.calls};
    if (options_.at.empty()) return moment;
    const auto time = from_iso8601(options_.at);
    if (!time)
      return fail(app::usage_error("--at takes a time such as 2026-01-31T12:00:00Z, not " +
                                   app::in_quotes(options_.at)));
    moment.time = *time;
    return moment;
  }

  void line(std::string_view kind, const std::string& text) {
    console_.out.line(visible_text(fmt::format("  {:6} {}", kind, text)));
  }

  void show_names(std::string_view kind, const std::vector<std::string>& names) {
    if (!names.empty()) line(kind, fmt::format("{}", fmt::join(names, ", ")));
  }

  static Json judgements_json(const app::PolicyAnswer& answer) {
    JsonArray judgements;
    for (const app::PolicyLayer& layer : answer.layers) {
      judgements.push_back(JsonObject{{"layer", layer.name},
                                      {"permission", app::permission_name(layer.judgement.permission)},
                                      {"by", layer.judgement.decided_by},
                                      {"reason", app::reason_of(layer.judgement.permission)}});
    }
    return judgements;
  }

  /// Shows what the rules say, and each layer's part in it.
  Result<ExitStatus> told(const ToolCallPart& call, const app::PolicyAnswer& answer) {
    const auto name = app::permission_name(answer.permission);
    const std::string reason = app::reason_of(answer.permission);
    console_.result({{"tool", call.name},
                     {"arguments", parse_json(call.arguments).value_or(Json(call.arguments))},
                     {"permission", name},
                     {"reason", reason},
                     {"judgements", judgements_json(answer)},
                     {"origins", JsonArray(answer.origins.begin(), answer.origins.end())},
                     {"conditions", JsonArray(answer.conditions.begin(), answer.conditions.end())},
                     {"redacted_by", JsonArray(answer.redacted_by.begin(), answer.redacted_by.end())}});
    if (options_.json) return status_of(answer.permission);
    console_.out.line(visible_text(fmt::format("{}{}{}", name, reason.empty() ? "" : ": ", reason)));
    for (const app::PolicyLayer& layer : answer.layers) {
      const std::string& by = layer.judgement.decided_by;
      console_.out.line(
          visible_text(fmt::format("  {:5} {}{}", app::permission_name(layer.judgement.permission),
                                   layer.name, by.empty() ? "" : ", by " + by)));
    }
    for (const std::string& condition : answer.conditions)
      console_.out.line(visible_text(fmt::format("  when  {}", condition)));
    for (const std::string& filter : answer.redacted_by)
      console_.out.line(visible_text(fmt::format("  filter {} redacts the arguments", filter)));
    for (const std::string& origin : answer.origins)
      console_.out.line(visible_text(fmt::format("  flow  {}", origin)));
    return status_of(answer.permission);
  }

  /// The agent of a case; those of a file mostly have the same.
  Result<Agent> agent_of(const app::PolicyCase& each) {
    if (read_ && read_->first == each.agent) return read_->second;
    auto agent = app::agent_named(workspace_, each.agent);
    if (agent) read_ = {each.agent, *agent};
    return agent;
  }

  Result<bool> holds(const app::PolicyCase& each) {
    const auto agent = agent_of(each);
    if (!agent) return fail(agent.error());
    const auto answer = app::check_policy(*agent, each.call, each.moment);
    if (!answer) return fail(answer.error());
    const std::string permission(app::permission_name(answer->permission));
    const bool by_it = each.by.empty() || std::ranges::any_of(answer->layers, [&](const auto& layer) {
                         const std::string& by = layer.judgement.decided_by;
                         return (by == "rule " + each.by || by == "filter " + each.by) &&
                                app::permission_name(layer.judgement.permission) == permission;
                       });
    const bool right = permission == each.expect && by_it;
    if (options_.json) {
      console_.item("policy_case", {{"agent", each.agent},
                                    {"tool", each.call.name},
                                    {"arguments", parse_json(each.call.arguments).value_or(nullptr)},
                                    {"expected", each.expect},
                                    {"permission", permission},
                                    {"holds", right},
                                    {"judgements", judgements_json(*answer)}});
    } else if (!right) {
      console_.out.line(visible_text(
          fmt::format("{} {}: {} instead of {}{}", each.call.name, each.call.arguments, permission,
                      each.expect, each.by.empty() ? "" : " by the rule " + app::in_quotes(each.by))));
    }
    return right;
  }

  const PolicyOptions& options_;
  const app::Workspace& workspace_;
  Console& console_;
  std::optional<std::pair<std::string, Agent>> read_;
};

}  // namespace

Result<ExitStatus> execute(const PolicyOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  PolicyWork work(options, *workspace, console);
  switch (options.verb) {
    case PolicyVerb::kShow:
      return work.show();
    case PolicyVerb::kCheck:
      return work.check();
    case PolicyVerb::kTest:
      return work.test();
    case PolicyVerb::kExplain:
      break;
  }
  return work.explain();
}

}  // namespace praxis::cli
