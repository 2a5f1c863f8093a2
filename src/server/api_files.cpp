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

}  // namespace praxis::server
