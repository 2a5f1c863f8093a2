#include "app/audit.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "app/journal_walk.hpp"
#include "core/filtered_message.hpp"
#include "policy/filter_notes.hpp"
#include "policy/record_texts.hpp"

namespace praxis::app {
namespace {

/// Turns the records of one session into entries.
class SessionAudit {
 public:
  SessionAudit(const SessionId& session, const Redactions& redactions, UnixMillis from,
               std::vector<AuditEntry>& out)
      : session_(session), redactions_(redactions), from_(from), out_(out) {}

  Status add(const StoredRecord& stored) {
    record_ = &stored;
    if (const AgentSpec* const agent = agent_in(stored.record.body)) follow_filters_of(*agent);
    std::visit([this](const auto& body) { note(body); }, stored.record.body);
    if (stored.record.time >= from_) note_filters(filters::Point::kShown, shown_);
    if (stored.record.time >= from_) note_filters(filters::Point::kExport, exported_);
    return apply_to(state_, stored.record);
  }

 private:
  void follow_filters_of(const AgentSpec& agent) {
    const auto set = redactions_.filters_of(agent);
    const auto note = [this](const std::string& filter, filters::Action done) {
      hits_.emplace(filter, done);
    };
    const auto at = [&](filters::Point point) {
      return redact::Redaction().then(filters::noting_rule(set, point, note));
    };
    shown_ = at(filters::Point::kShown);
    exported_ = at(filters::Point::kExport);
  }

  /// What the filters at a point do to the record, each once.
  void note_filters(filters::Point point, const redact::Redaction& rules) {
    if (rules.is_off()) return;
    hits_.clear();
    RecordBody less = record_->record.body;
    redact_record(less, rules);
    for (const auto& [filter, done] : std::exchange(hits_, {}))
      put({.action = done == filters::Action::kDeny ? "blocked" : "edited",
           .what = std::string(filters::to_string(point)),
           .by = "filter " + filter,
           .surface = std::string(to_string(Surface::kPolicy))});
  }

  template <class Body>
  void note(const Body& /*body*/) {}

  void note(const records::SessionCreated& r) {
    AuditEntry entry{.action = "created", .what = r.agent->id};
    if (!r.forked_from.empty()) entry.text = "a fork of " + r.forked_from.str();
    put(std::move(entry));
  }

  void note(const records::Parked& r) {
    AuditEntry entry{.action = "parked", .what = r.step.tool, .text = r.step.prompt};
    put(about(std::move(entry), r.step.call, r.step.arguments));
  }

  void note(const records::Decided& r) {
    const bool by_rule = r.author.surface == Surface::kPolicy || r.author.surface == Surface::kHook;
    AuditEntry entry{.action = "approved", .by = r.author.principal, .text = r.text};
    if (r.verb == ApprovalVerb::kReject) entry.action = by_rule ? "blocked" : "denied";
    if (r.verb == ApprovalVerb::kEdit) entry.action = "edited";
    if (r.verb == ApprovalVerb::kAnswer) entry.action = "answered";
    entry.surface = to_string(r.author.surface);
    entry.role = r.author.role;
    const bool edits = r.verb == ApprovalVerb::kEdit;
    if (edits) entry.text.clear();
    if (is_about_message(r)) entry.what = "message";
    put(about(std::move(entry), r.call, edits ? r.text : ""));
  }

  void note(const records::EffectSettled& r) {
    const bool denied = r.by.starts_with("deny "), redacted = r.by.starts_with("redact ");
    if (r.by != "hook" && !denied && !redacted) return;
    const CallState* const call = state_.find_call(r.effect);
    AuditEntry entry{.action = "edited", .by = "hook", .surface = std::string(to_string(Surface::kHook))};
    entry.text = r.original ? "a hook changed the result" : "a hook gave the result";
    if (denied || redacted) {
      entry.action = denied ? "blocked" : "edited";
      entry.by = "filter" + r.by.substr(r.by.find(' '));
      entry.surface = to_string(Surface::kPolicy);
      entry.what = call == nullptr ? "request to the model" : "";
      entry.text = call == nullptr ? "" : "the result";
    }
    if (call != nullptr) entry = about(std::move(entry), call->call.id, "");
    put(std::move(entry));
  }

  void note(const records::MessageAppended& r) {
    if (r.original)
      put({.action = "edited",
           .what = "message",
           .by = "hook",
           .surface = std::string(to_string(Surface::kHook))});
  }

  void note(const records::Intervened& r) {
    AuditEntry entry{
        .by = r.author.principal, .surface = std::string(to_string(r.author.surface)), .role = r.author.role};
    if (r.verb == CommandVerb::kDelete) {
      entry.action = "deleted";
      put(entry);
    }
    if (r.agent == nullptr || state_.agent == nullptr) return;
    const AgentSpec &before = *state_.agent, &after = *r.agent;
    entry.action = "changed";
    const auto changed = [&](const char* what, bool differs) {
      entry.what = what;
      if (differs) put(entry);
    };
    changed("rules", before.policy != after.policy || before.bounds != after.bounds);
    changed("instructions", before.instructions != after.instructions);
    changed("tools", !std::ranges::equal(before.tools, after.tools, {}, name_of, name_of));
    changed("model", before.model != after.model);
  }

  static std::string name_of(const ToolSpec& tool) { return tool.definition.name; }

  AuditEntry about(AuditEntry entry, const CallId& call, const std::string& arguments) const {
    const CallState* const known = state_.find_call(call);
    entry.call = call.str();
    if (entry.what.empty() && known != nullptr) entry.what = known->call.name;
    const std::string& text = arguments.empty() && known != nullptr ? known->call.arguments : arguments;
    if (!text.empty()) entry.arguments = digest_of(text);
    return entry;
  }

  void put(AuditEntry entry) {
    entry.time = record_->record.time;
    if (entry.time < from_) return;
    entry.session = session_;
    entry.seq = record_->seq;
    entry.text = shown_.text(std::move(entry.text));
    out_.push_back(std::move(entry));
  }

  SessionId session_;
  const Redactions& redactions_;
  redact::Redaction shown_, exported_;                      ///< by the present rules of the session
  std::set<std::pair<std::string, filters::Action>> hits_;  ///< of the record that is read
  UnixMillis from_;
  std::vector<AuditEntry>& out_;
  const StoredRecord* record_ = nullptr;
  State state_;
};

bool is_gone(const Error& error) { return error.kind() == ErrorKind::kNotFound; }

}  // namespace

Json to_json(const AuditEntry& entry) {
  JsonObject out{{"time", to_iso8601(entry.time)}, {"action", entry.action}, {"what", entry.what}};
  if (!entry.session.empty()) {
    out["session"] = entry.session.str();
    out["seq"] = entry.seq;
  }
  const auto add = [&](const char* key, const std::string& text) {
    if (!text.empty()) out[key] = text;
  };
  add("call", entry.call);
  if (!entry.arguments.empty()) out["arguments_digest"] = entry.arguments.hex();
  add("by", entry.by);
  add("surface", entry.surface);
  add("role", entry.role);
  add("text", entry.text);
  return out;
}

Result<std::vector<AuditEntry>> audit_entries(Journal& journal, const Redactions& redactions,
                                              UnixMillis from) {
  const auto sessions = journal.sessions();
  if (!sessions) return fail(sessions.error());
  std::vector<AuditEntry> entries;
  for (const SessionRow& row : *sessions) {
    if (row.updated < from || row.entries == 0) continue;
    const auto records = read_records(journal, row.id);
    if (!records && is_gone(records.error())) continue;  // removed meanwhile
    if (!records) return fail(records.error());
    SessionAudit audit(row.id, redactions, from, entries);
    for (const StoredRecord& stored : *records) {
      if (auto added = audit.add(stored); !added) return fail(std::move(added.error()));
    }
  }
  std::ranges::sort(entries, {},
                    [](const AuditEntry& entry) { return std::tuple(entry.time, entry.session, entry.seq); });
  return entries;
}

std::vector<AuditEntry> audit_entries(const std::vector<PromptChange>& changes, UnixMillis from) {
  std::vector<AuditEntry> entries;
  for (const PromptChange& change : changes) {
    if (change.time < from) continue;
    AuditEntry entry{.time = change.time,
                     .action = "changed",
                     .what = "prompt " + change.id,
                     .by = change.author,
                     .text = "version " + change.version};
    if (change.kind == PromptChange::Kind::kLabelled) entry.text += ", label " + change.label;
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<AuditEntry> audit_entries(const std::vector<AccessToken>& tokens,
                                      const std::vector<AccessRefusal>& refusals, UnixMillis from) {
  std::vector<AuditEntry> entries;
  const auto put = [&](AuditEntry entry) {
    if (entry.time.value != 0 && entry.time >= from) entries.push_back(std::move(entry));
  };
  for (const AccessToken& token : tokens) {
    const std::string what = "token " + token.id + " of " + token.name;
    const std::string given = token.role.empty() ? "with single rights" : "as " + token.role;
    put({.time = token.created,
         .action = "added",
         .what = what,
         .by = token.created_by,
         .text = given + (token.tenant.empty() ? "" : " for the tenant " + token.tenant)});
    put({.time = token.revoked, .action = "revoked", .what = what, .by = token.revoked_by});
  }
  for (const AccessRefusal& refusal : refusals) {
    put({.time = refusal.time,
         .action = "refused",
         .what = refusal.route,
         .by = refusal.principal,
         .surface = std::string(to_string(Surface::kServer)),
         .role = refusal.role,
         .text = refusal.right == "four_eyes" ? "another principal must approve"
                                              : "the right " + refusal.right + " is missing"});
  }
  std::multimap<UnixMillis, AuditEntry> by_time;  // leaves those of one moment in their order
  for (AuditEntry& entry : entries) by_time.emplace(entry.time, std::move(entry));
  std::ranges::transform(by_time, entries.begin(), [](auto& each) { return std::move(each.second); });
  return entries;
}

}  // namespace praxis::app
