// Branches of a run: where they begin, what they change, and which ones there are.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/envelope.hpp"
#include "app/run_list.hpp"
#include "logs/fork.hpp"
#include "server/handlers.hpp"
#include "server/route_rights.hpp"

namespace praxis::server {
namespace {

/// Runs among which the branches of a run are looked for: the newest of its agent.
constexpr std::size_t kMostCandidates = 1000;

/// What the client wants of a branch.
struct BranchWish {
  std::uint64_t seq = 0;
  std::optional<RecordEdit> edit;
  std::string prompt;
  BranchChange change;
  bool goes_on = false;
};

/// What the branch does otherwise. Error `kInput`.
Result<BranchChange> change_of(const Call& call, const JsonObject& body) {
  BranchChange change;
  auto model = text_of(body, "model"), instructions = text_of(body, "instructions");
  if (!model) return fail(model.error());
  if (!instructions) return fail(instructions.error());
  if (auto allowed = check_model(*model); !allowed) return fail(allowed.error());
  change.model = *std::move(model);
  if (body.contains("instructions")) {
    if (auto may = check_right(call.principal, Right::kCreateAgents); !may) return fail(may.error());
    change.instructions = *std::move(instructions);
  }
  if (const Json* const limits = body.if_contains("limits"); limits != nullptr && !limits->is_null()) {
    Limits checked;
    if (auto read = read_limits(*limits, checked); !read)
      return fail(Error(read.error()).set("field", "limits"));
    change.limits = *limits;
  }
  const auto once = truth_of(body, "once");
  if (!once) return fail(once.error());
  change.once = *once;
  change.principal = call.principal;
  return change;
}

Result<std::optional<RecordEdit>> edit_of(const JsonObject& body) {
  const Json* const given = body.if_contains("edit");
  if (given == nullptr || given->is_null()) return std::optional<RecordEdit>();
  const JsonObject* const members = given->if_object();
  if (members == nullptr)
    return fail(field_error("edit", "must be an object with text, or call and arguments"));
  RecordEdit edit;
  for (const auto& [key, value] : *members) {
    if (key == "text" && value.is_string()) {
      edit.text = std::string(value.get_string());
    } else if (key == "call" && value.is_string()) {
      edit.call = CallId(std::string(value.get_string()));
    } else if (key == "arguments" && value.is_object()) {
      edit.arguments = to_json_text(value);
    } else {
      return fail(field_error("edit", "has text, or call and arguments (an object), not \"" +
                                          std::string(key) + "\": " + to_json_text(value)));
    }
  }
  if (edit.call.empty() == !edit.arguments.empty() || (!edit.text && edit.call.empty()))
    return fail(field_error("edit", "must have text, or call and arguments"));
  return std::optional(std::move(edit));
}

Result<BranchWish> wish_of(const Call& call, std::size_t records) {
  const auto body =
      call.object({"seq", "prompt", "edit", "model", "instructions", "limits", "once", "continue"});
  if (!body) return fail(body.error());
  BranchWish wish;
  const std::int64_t seq = json_int(*body, "seq", 0);
  if (seq < 0 || static_cast<std::uint64_t>(seq) > records)
    return fail(field_error("seq", "must be a record from 1 to " + std::to_string(records)));
  wish.seq = static_cast<std::uint64_t>(seq);
  auto edit = edit_of(*body);
  if (!edit) return fail(edit.error());
  wish.edit = *std::move(edit);
  auto prompt = text_of(*body, "prompt");
  if (!prompt) return fail(prompt.error());
  auto change = change_of(call, *body);
  if (!change) return fail(change.error());
  const auto goes_on = truth_of(*body, "continue");
  if (!goes_on) return fail(goes_on.error());
  wish.prompt = *std::move(prompt);
  wish.change = *std::move(change);
  wish.goes_on = *goes_on;
  for (const char* key : {"model", "instructions", "limits", "once"}) {
    if (body->contains(key) && wish.prompt.empty() && !wish.goes_on)
      return fail(field_error(key, "needs a prompt, or \"continue\": true, with which the branch runs"));
  }
  if (wish.goes_on && !wish.prompt.empty())
    return fail(field_error("continue", "excludes a prompt, which begins a turn"));
  return wish;
}

/// Error `kConflict`: where the branch begins, its turn cannot begin, or no turn can continue.
Status check_turn(const app::StoredSession& stored, const BranchWish& wish) {
  State state;
  for (const StoredRecord& each : stored.records) {
    if (wish.seq != 0 && each.seq > wish.seq) break;
    if (auto applied = apply_to(state, each.record); !applied) return fail(applied.error());
  }
  if (!wish.prompt.empty() && state.turn)
    return fail(conflict("record " + std::to_string(state.seq) +
                         " is in the middle of a turn; branch off after its end, or leave the prompt out"));
  if (wish.goes_on && !state.turn && state.queue.empty())
    return fail(conflict("the branch has no turn to continue; give a prompt"));
  return {};
}

/// A run of a family of branches.
struct Branch {
  SessionRow row;
  SessionId from;
  std::int64_t at = 0;
};

/// The run with where it branched off; its first record says so.
std::optional<Branch> branch_of(Journal& journal, SessionRow row) {
  const auto first = journal.read(row.id, 1, 1);
  if (!first || first->empty()) return std::nullopt;
  const auto body = parse_json(first->front().body);
  if (!body) return std::nullopt;
  return Branch{std::move(row), SessionId(json_string(*body, "forked_from")), json_int(*body, "forked_at")};
}

/// The run from which a whole family branched off, as far as its runs are known.
SessionId origin_of(const std::map<SessionId, Branch>& all, SessionId id) {
  for (auto found = all.find(id); found != all.end() && !found->second.from.empty(); found = all.find(id))
    id = found->second.from;
  return id;
}

JsonObject branch_json(const std::shared_ptr<Journal>& journal, const Branch& branch) {
  JsonObject json{{"id", branch.row.id.str()},
                  {"from", branch.from.empty() ? Json(nullptr) : Json(branch.from.str())},
                  {"at", branch.at},
                  {"title", branch.row.title},
                  {"model", branch.row.model},
                  {"created_at", to_iso8601(branch.row.created)},
                  {"records", branch.row.entries}};
  const auto listed = app::listed_run(journal, branch.row.id);
  json["status"] = listed ? listed->row.status : branch.row.status;
  json["tokens"] = listed ? listed->usage.total() : 0;
  json["cost_usd"] = listed ? app::cost_or_null(listed->usage) : Json(nullptr);
  return json;
}

}  // namespace

Status fork_run(Service& service, const Call& call) {
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return fail(id.error());
  const auto stored = service.runs->stored(*id);
  if (!stored) return fail(stored.error());
  auto wish = wish_of(call, stored->records.size());
  if (!wish) return fail(wish.error());
  if (auto possible = check_turn(*stored, *wish); !possible) return possible;
  Load::Slot slot;
  if (!wish->prompt.empty()) {
    auto begun = service.runs->begin_turn(call.principal);
    if (!begun) return fail(begun.error());
    slot = *std::move(begun);
  }
  Environment& environment = service.runtime->environment();
  const auto forked = wish->edit
                          ? fork_edited(*service.journal, environment, stored->id, wish->seq, *wish->edit)
                          : fork_session(*service.journal, environment, stored->id, wish->seq);
  if (!forked) return fail(forked.error());
  auto answer = [id = *forked, runs = service.runs, answer = call.answer](const Status& begun) {
    if (begun) return answer(created(id, true));
    std::ignore = runs->remove(id);  // what is refused leaves no branch; one that is at work stays
    answer(fail(begun.error()));
  };
  if (!wish->prompt.empty()) {
    service.runs->send(*forked, std::move(slot), text_message(Role::kUser, std::move(wish->prompt)), nullptr,
                       std::move(answer), nullptr, wish->change);
  } else {
    answer(wish->goes_on ? service.runs->resume(*forked, wish->change) : Status());
  }
  return {};
}

Result<HttpAnswer> list_branches(Service& service, const Call& call) {
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return fail(id.error());
  const auto own = service.journal->session(*id);
  if (!own) return fail(own.error());
  auto rows = service.journal->sessions();
  if (!rows) return fail(rows.error());
  std::map<SessionId, Branch> all;
  for (SessionRow& row : *rows) {
    const bool fits = row.agent == own->agent && row.parent == own->parent && row.entries > 0;
    if (all.size() >= kMostCandidates && row.id != *id) continue;
    if (!fits || !service.runs->may_see(call.principal, service.runs->lineages().root_of(row.id))) continue;
    const SessionId key = row.id;
    if (auto branch = branch_of(*service.journal, std::move(row))) all.emplace(key, *std::move(branch));
  }
  const SessionId origin = origin_of(all, *id);
  std::vector<const Branch*> related;
  for (const auto& [key, branch] : all) {
    if (origin_of(all, key) == origin) related.push_back(&branch);
  }
  std::ranges::sort(related, {}, [](const Branch* branch) {
    return std::pair(branch->row.created.value, branch->row.id.str());
  });
  JsonArray branches;
  for (const Branch* branch : related) branches.push_back(branch_json(service.journal, *branch));
  return json_answer(JsonObject{{"branches", std::move(branches)}});
}

}  // namespace praxis::server
