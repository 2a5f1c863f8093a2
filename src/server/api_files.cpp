// What a run changed in files.
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "app/run_files.hpp"
#include "praxis/base/utf8.hpp"
#include "server/handlers.hpp"

namespace praxis::server {

Result<HttpAnswer> show_diff(Service& service, const Call& call) {
  const auto after = call.number("after", 0, std::numeric_limits<std::int64_t>::max());
  if (!after) return fail(after.error());
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return fail(id.error());
  if (!call.principal.sees_all)
    return problem(403, make_error(ErrorCode::kPolicy, "this token does not see what is in files"));
  const auto state = service.folds->last(*id);
  if (!state) return fail(state.error());
  const auto files =
      app::files_of_run(*service.workspace, *service.journal, *id,
                        app::is_held(*service.journal, *id) ? app::RunInUse::kYes : app::RunInUse::kNo);
  if (!files) return fail(files.error());
  std::vector<app::FileDiff> diffs;
  if (files->history) {
    auto all = app::file_diffs(*files->history, files->after(*after), app::DiffForm::kSafe);
    if (!all) return fail(all.error());
    diffs = *std::move(all);
  }
  JsonArray changed;
  std::size_t added = 0, removed = 0;
  for (const app::FileDiff& diff : diffs) {
    added += diff.added;
    removed += diff.removed;
    JsonArray lines;
    for (const std::string& line : diff.lines) lines.push_back(Json(repair_utf8(line)));
    changed.push_back(JsonObject{{"path", diff.step.change.path},
                                 {"status", diff.status},
                                 {"binary", diff.binary},
                                 {"added", diff.added},
                                 {"removed", diff.removed},
                                 {"lines", std::move(lines)}});
  }
  Json json = JsonObject{
      {"run_id", id->str()}, {"files", std::move(changed)}, {"added", added}, {"removed", removed}};
  service.redactions.at(&RedactRules::events, *(*state)->agent).redact(json);
  return json_answer(std::move(json.as_object()));
}

namespace {

/// What the client wants taken back.
struct UndoWishOfClient {
  TurnId turn;  ///< empty: `request` says it all
  app::UndoRequest request;
  bool dry_run = false;
};

Result<UndoWishOfClient> undo_wish(const Call& call) {
  const auto body = call.object({"turn", "after", "redo", "dry_run"});
  if (!body) return fail(body.error());
  auto turn = text_of(*body, "turn");
  const auto redo = truth_of(*body, "redo"), dry_run = truth_of(*body, "dry_run");
  if (!turn) return fail(turn.error());
  if (!redo) return fail(redo.error());
  if (!dry_run) return fail(dry_run.error());
  const Json* const after = body->if_contains("after");
  const std::int64_t seq = after == nullptr ? 0 : json_int(*body, "after", -1);
  if (seq < 0) return fail(field_error("after", "must be the number of a record"));
  if (!turn->empty() && after != nullptr) return fail(field_error("after", "excludes turn; give one"));
  if (*redo && (!turn->empty() || after != nullptr))
    return fail(field_error("redo", "takes the last undo back as a whole; it excludes turn and after"));
  return UndoWishOfClient{TurnId(*std::move(turn)), {static_cast<std::uint64_t>(seq), *redo}, *dry_run};
}

}  // namespace

Result<HttpAnswer> undo_files(Service& service, const Call& call) {
  auto wish = undo_wish(call);
  if (!wish) return fail(wish.error());
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return fail(id.error());
  if (!call.principal.sees_all)
    return problem(403, make_error(ErrorCode::kPolicy, "this token does not change files of the server"));
  const auto stored = service.runs->stored(*id);
  if (!stored) return fail(stored.error());
  if (!wish->turn.empty()) {
    const auto before = app::record_before_turn(stored->records, wish->turn);
    if (!before) return fail(Error(before.error()).set("field", "turn"));
    wish->request.after = *before;
  }
  const auto held = service.runs->hold_finished(*id);
  if (!held && !wish->dry_run) return fail(held.error());
  const auto use = held ? app::RunInUse::kNo : app::RunInUse::kYes;
  const auto act = wish->dry_run ? app::UndoAct::kPlan : app::UndoAct::kCarryOut;
  const auto plan = app::undo_in_files(*service.workspace, *service.journal, *id, use, wish->request, act,
                                       service.runtime->environment().now());
  if (!plan) return fail(plan.error());
  JsonArray files;
  for (const RestoreStep& step : *plan) {
    if (!app::is_folder_step(step)) files.push_back(app::to_json(step));
  }
  const app::RestoreCounts counts = app::counts_of(*plan);
  Json json = JsonObject{{"run_id", id->str()},
                         {"dry_run", wish->dry_run},
                         {"changed", counts.restored},
                         {"conflicts", counts.conflicts},
                         {"files", std::move(files)}};
  service.redactions.at(&RedactRules::events, *stored->state.agent).redact(json);
  return json_answer(std::move(json.as_object()));
}

}  // namespace praxis::server
