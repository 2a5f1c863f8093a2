// Requests from outside: their JSON form in an inbox, and their delivery.
#include "praxis/runtime/commands.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>

#include "driver/command_records.hpp"
#include "logs/log_writer.hpp"
#include "runtime/inbox_watcher.hpp"

namespace praxis {
namespace {

using VerbName = std::pair<std::string_view, CommandVerb>;
/// The commands that callers may send.
constexpr std::array<VerbName, 11> kVerbNames{{{"interrupt", CommandVerb::kInterrupt},
                                               {"pause", CommandVerb::kPause},
                                               {"unpause", CommandVerb::kUnpause},
                                               {"steer", CommandVerb::kSteer},
                                               {"enqueue", CommandVerb::kEnqueue},
                                               {"annotate", CommandVerb::kAnnotate},
                                               {"delete", CommandVerb::kDelete},
                                               {"modify", CommandVerb::kModify},
                                               {"withdraw", CommandVerb::kWithdraw},
                                               {"move", CommandVerb::kMove},
                                               {"compact", CommandVerb::kCompact}}};

std::unexpected<Error> bad(const std::string& what) { return fail(ErrorCode::kInput, "a request " + what); }

void add_author(JsonObject& out, const Author& author) {
  if (!author.principal.empty()) out["by"] = author.principal;
  if (author.surface != Surface::kUnknown) out["surface"] = to_string(author.surface);
  if (!author.role.empty()) out["role"] = author.role;
}

/// Older forms have no surface, and may have no author: then the principal is `principal`.
Author author_of(const Json& json, std::string_view principal) {
  return {
      json_string(json, "by", principal),
      surface_from(json_string(json, "surface", to_string(Surface::kUnknown))).value_or(Surface::kUnknown),
      json_string(json, "role")};
}

struct RequestJson {
  JsonObject operator()(const Commands& commands) const {
    JsonArray list;
    for (const Command& command : commands) {
      JsonObject item{{"verb", std::ranges::find(kVerbNames, command.verb, &VerbName::second)->first}};
      if (!command.text.empty()) item["text"] = command.text;
      add_author(item, command.author);
      list.push_back(std::move(item));
    }
    return {{"commands", std::move(list)}};
  }
  JsonObject operator()(const StepApproval& step) const {
    JsonObject out{{"verb", to_string(step.approval.verb)}};
    if (step.approval.verb != ApprovalVerb::kApprove) out["text"] = step.approval.text;
    add_author(out, step.author);
    out["park"] = step.park.str();
    return out;
  }
};

/// Maps the verbs that the older form `acts` named differently.
std::string_view renamed(std::string_view verb) {
  if (verb == "stop") return "interrupt";
  return verb == "resume" ? "unpause" : verb;
}

Status check_count(std::size_t count) {
  if (count > 0 && count <= kMaxCommands) return {};
  return bad("has 1 to " + std::to_string(kMaxCommands) + " commands, not " + std::to_string(count));
}

Result<InboxRequest> commands_from_json(const JsonArray& list, const SessionId& target, bool older_form) {
  if (auto fits = check_count(list.size()); !fits) return fail(fits.error());
  Commands commands;
  for (const Json& item : list) {
    const std::string_view verb = json_text(item, "verb");
    const auto name = std::ranges::find(kVerbNames, older_form ? renamed(verb) : verb, &VerbName::first);
    if (name == kVerbNames.end()) return bad("has no verb \"" + json_string(item, "verb") + "\"");
    commands.push_back({name->second, target, json_string(item, "text"), author_of(item, "")});
  }
  return commands;
}

Result<InboxRequest> approval_from_json(const Json& json, const SessionId& target) {
  const auto verb = approval_verb_from(json_string(json, "verb"));
  if (!verb) return bad("has no verb \"" + json_string(json, "verb") + "\"");
  Approval approval(*verb, *verb == ApprovalVerb::kApprove ? std::string() : json_string(json, "text"));
  return StepApproval{target, ParkId{json_string(json, "park")}, std::move(approval),
                      author_of(json, "person")};
}

/// Waits 10 ms. Returns false when `stop` was requested.
bool wait_a_moment(std::stop_token stop) {
  constexpr std::chrono::milliseconds kMoment{10};
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, kMoment, [] { return false; });
  return !stop.stop_requested();
}

constexpr std::chrono::milliseconds kRound{100};  // an owner that is not busy answers within this time

std::string_view kind_of(const Error& error) { return json_text(error.detail(), "kind"); }

Result<InboxId> post(Inbox& inbox, Environment& environment, const InboxRequest& request) {
  return inbox.post(target_of(request), to_json_text(to_json(request)), environment.now());
}

}  // namespace

Status check_sendable(const InboxRequest& request) {
  const auto* commands = std::get_if<Commands>(&request);
  if (commands == nullptr) return {};
  if (auto fits = check_count(commands->size()); !fits) return fits;
  for (const Command& command : *commands) {
    if (std::ranges::find(kVerbNames, command.verb, &VerbName::second) == kVerbNames.end())
      return bad("cannot be \"" + std::string(to_string(command.verb)) + "\"");
  }
  return check_target(*commands);
}

Json to_json(const InboxRequest& request) { return std::visit(RequestJson{}, request); }

Result<InboxRequest> request_from_json(const Json& json, const SessionId& target) {
  if (const auto* commands = json_at(json, "commands").if_array())
    return commands_from_json(*commands, target, false);
  if (const auto* acts = json_at(json, "acts").if_array()) return commands_from_json(*acts, target, true);
  if (json_at(json, "park").is_string()) return approval_from_json(json, target);
  return bad("needs \"commands\" or \"park\"");
}

Result<InboxRequest> request_of(const InboxMessage& message) {
  auto json = parse_json(message.body);
  if (!json) return bad("must be JSON: " + json.error().message);
  return request_from_json(*json, message.session);
}

Result<InboxId> post_request(Inbox& inbox, Environment& environment, const InboxRequest& request) {
  if (auto possible = check_sendable(request); !possible) return fail(possible.error());
  return post(inbox, environment, request);
}

Result<Delivery> wait_for_delivery(Inbox& inbox, InboxId message, std::chrono::milliseconds patience,
                                   std::stop_token stop) {
  const auto until = std::chrono::steady_clock::now() + patience;
  do {
    auto outcome = inbox.outcome(message);
    if (!outcome) return fail(outcome.error());
    if (*outcome == kInboxOk) return Delivered{};
    if (*outcome) return Refused{**outcome};
  } while (std::chrono::steady_clock::now() < until && wait_a_moment(stop));
  return Queued{};
}

Result<Delivery> deliver(Journal& journal, Environment& environment, const InboxRequest& request,
                         std::chrono::milliseconds patience, std::stop_token stop) {
  if (auto possible = check_sendable(request); !possible) return fail(possible.error());
  const SessionId& session = target_of(request);
  Status allowed;
  const auto write = [&](std::optional<InboxId> message) {
    const auto records = [&](const State& state) -> Result<std::vector<RecordBody>> {
      std::vector<RecordBody> decided;
      InboxRequest filtered = request;
      allowed = filter_said(state, filtered, decided);
      if (!allowed) return decided;
      return after(std::move(decided),
                   request_records(state, filtered, !state.parent.empty() && !state.turn));
    };
    return record_in_log(journal, environment, session, records, message);
  };
  const auto written = write({});
  if (!allowed) return Refused{allowed.error().message};
  if (written) return Delivered{};
  const Error& error = written.error();
  if (kind_of(error) == "not_found")
    return fail(ErrorCode::kInput, "no session is called \"" + session.str() + "\"");
  if (kind_of(error) != "lease_held") {
    if (error.code == ErrorCode::kInput) return Refused{error.message};
    return fail(error);
  }
  const auto message = post(journal.inbox(), environment, request);
  if (!message) return fail(message.error());
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    auto answer = wait_for_delivery(journal.inbox(), *message, std::min(kRound, left), stop);
    const bool queued = answer && std::holds_alternative<Queued>(*answer);
    if (!queued || left <= kRound || stop.stop_requested()) return answer;
    // The owner may have closed the session without reading its inbox. If this write fails too, the request
    // stays queued.
    std::ignore = write(*message);
    if (!allowed) return Refused{allowed.error().message};
  }
}

}  // namespace praxis
