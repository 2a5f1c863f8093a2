#include "app/run_stats.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <variant>

#include "app/envelope.hpp"
#include "app/journal_walk.hpp"
#include "app/workspace.hpp"
#include "logs/read_part.hpp"

namespace praxis::app {
namespace {

/// Adds the records of one session to the rows.
class StatsFold {
 public:
  /// `tenant` is that of the session's run, for a question by tenant.
  StatsFold(const StatsQuestion& question, const Redactions& redactions, std::string tenant,
            std::map<std::string, StatsRow>& rows)
      : question_(question), redactions_(redactions), tenant_(std::move(tenant)), rows_(rows) {}

  void add(const StoredRecord& stored) {
    const Record& record = stored.record;
    if (const AgentSpec* given = agent_in(record.body)) {
      agent_ = given;
      shown_ = redactions_.filters_of_shown(*given);
      names_.clear();
    }
    if (agent_ == nullptr) return;
    is_in_time_ = record.time >= question_.from && record.time < question_.until;
    day_ = day_of(record.time);
    const auto spent = spent_by(record.body);
    if (is_in_time_ && spent) add_spent(*spent);
    add_waiting(waiting_.add(record.time, record.body));
    std::visit([this, &spent](const auto& body) { fold(body, spent); }, record.body);
  }

 private:
  /// An effect that was intended and is not settled yet.
  struct Pending {
    EffectKind kind = EffectKind::kModel;
    std::string tool;
    bool answers = false;  ///< a model call that is a step, not a summary or a side query
  };
  using MaybeSpent = std::optional<Spent>;

  /// The row for what the agent did, or for a tool; null if the question does not show it.
  StatsRow* row(const std::string& model, const std::string& tool) {
    if (!is_in_time_) return nullptr;
    std::string name;
    switch (question_.by) {
      case StatsBy::kAll:
        break;
      case StatsBy::kAgent:
        name = agent_->id;
        break;
      case StatsBy::kModel:
        name = model.empty() ? model_of(*agent_, {}) : model;
        break;
      case StatsBy::kTool:
        if (tool.empty()) return nullptr;
        name = tool;
        break;
      case StatsBy::kDay:
        name = day_;
        break;
      case StatsBy::kTenant:
        name = tenant_;
        break;
    }
    if (question_.by != StatsBy::kDay && question_.by != StatsBy::kTenant) name = shown(name);
    StatsRow& found = rows_[name];
    found.name = std::move(name);
    return &found;
  }

  /// A name as the filters leave it. A run has few names and many records.
  const std::string& shown(const std::string& name) {
    const auto [at, is_new] = names_.try_emplace(name);
    if (is_new && !name.empty()) at->second = shown_.text(name);
    return at->second;
  }

  void add_spent(const Spent& spent) {
    StatsRow* const to = row(model_of(*agent_, spent.model), {});
    if (to == nullptr) return;
    to->usage += spent.usage;
    to->has_unknown_price = to->has_unknown_price || cost_or_null(spent.usage).is_null();
  }

  void add_waiting(const WaitingTime& waited) {
    if (waited.total() <= Millis{0}) return;
    if (StatsRow* const to = row({}, {})) to->waiting += waited;
  }

  template <class Body>
  void fold(const Body& /*body*/, const MaybeSpent& /*spent*/) {}

  void fold(const records::EffectIntended& body, const MaybeSpent& /*spent*/) {
    const bool answers = body.kind == EffectKind::kModel && !body.summary && !body.consult;
    pending_[body.effect] = {body.kind, body.tool, answers};
    if (body.attempt < 2 || body.kind == EffectKind::kTimer) return;
    const bool is_tool = body.kind == EffectKind::kTool;
    if (StatsRow* const to = row({}, body.tool)) ++(is_tool ? to->tool : to->model).retries;
  }

  void fold(const records::EffectSettled& body, const MaybeSpent& spent) {
    const auto found = pending_.find(body.effect);
    if (found == pending_.end() || found->second.kind == EffectKind::kTimer) return;
    const Pending effect = found->second;
    const bool is_tool = effect.kind == EffectKind::kTool;
    StatsRow* const to = row(spent ? model_of(*agent_, spent->model) : "", effect.tool);
    if (to == nullptr) return;
    EffectStats& stats = is_tool ? to->tool : to->model;
    ++stats.calls;
    stats.errors += failed(body) ? 1 : 0;
    stats.durations.push_back(body.duration);
    to->steps += effect.answers && body.outcome == Outcome::kOk ? 1 : 0;
  }

  /// Whether an effect gave no result, or a tool one that says that it failed.
  static bool failed(const records::EffectSettled& body) {
    const auto* const result = std::get_if<ToolOutcome>(&body.result);
    return body.outcome != Outcome::kOk || (result != nullptr && result->result.status != ToolStatus::kOk);
  }

  void fold(const records::TurnSettled& body, const MaybeSpent& /*spent*/) {
    StatsRow* const to = row({}, {});
    if (to == nullptr) return;
    ++to->turns;
    to->finished += body.reason == StopReason::kFinished ? 1 : 0;
  }

  const StatsQuestion& question_;
  const Redactions& redactions_;
  const std::string tenant_;
  std::map<std::string, StatsRow>& rows_;
  const AgentSpec* agent_ = nullptr;
  redact::Redaction shown_;                   ///< by the filters of `agent_`
  std::map<std::string, std::string> names_;  ///< as `shown_` leaves them
  bool is_in_time_ = false;
  std::string day_;
  std::map<EffectId, Pending> pending_;
  WaitingFold waiting_;
};

/// The tenant of the run that a log belongs to; empty if the root of the run has no tenant or is removed.
std::string tenant_of(Journal& journal, const std::vector<StoredRecord>& records) {
  const auto* const created =
      records.empty() ? nullptr : std::get_if<records::SessionCreated>(&records.front().record.body);
  if (created == nullptr) return {};
  if (created->parent.empty()) return json_string(created->agent->metadata, kTenantOfRun);
  const auto root = root_of(journal, created->session);
  if (!root) return {};
  const auto first = read_some_records(journal, *root, 1, 1);
  return first && created->session != *root ? tenant_of(journal, *first) : std::string();
}

JsonObject effects_json(const EffectStats& stats) {
  constexpr double kHalf = 0.5, kMost = 0.95;
  return JsonObject{{"calls", stats.calls},
                    {"errors", stats.errors},
                    {"retries", stats.retries},
                    {"median_ms", stats.percentile(kHalf).count()},
                    {"p95_ms", stats.percentile(kMost).count()}};
}

}  // namespace

Millis EffectStats::percentile(double share) const {
  if (durations.empty()) return Millis{0};
  std::vector<Millis> sorted = durations;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  const auto at =
      sorted.begin() + static_cast<std::ptrdiff_t>(std::clamp<std::size_t>(rank, 1, sorted.size()) - 1);
  std::ranges::nth_element(sorted, at);
  return *at;
}

Result<StatsReport> run_stats(Journal& journal, const StatsQuestion& question, const Redactions& redactions) {
  std::map<std::string, StatsRow> rows;
  if (question.by == StatsBy::kAll) rows[""] = {};
  const bool by_tenant = question.by == StatsBy::kTenant;
  const auto all =
      walk_journal(journal, {.from = question.from, .until = question.until},
                   [&](const std::vector<StoredRecord>& records) {
                     StatsFold fold(question, redactions, by_tenant ? tenant_of(journal, records) : "", rows);
                     for (const StoredRecord& stored : records) fold.add(stored);
                   });
  if (!all) return fail(all.error());
  StatsReport report{.rows = {}, .is_complete = *all};
  for (auto& [name, row] : rows) report.rows.push_back(std::move(row));
  return report;
}

JsonObject stats_json(const StatsRow& row) {
  const double rate = row.turns == 0 ? 0 : static_cast<double>(row.finished) / static_cast<double>(row.turns);
  return JsonObject{{"name", row.name.empty() ? Json(nullptr) : Json(row.name)},
                    {"turns", row.turns},
                    {"finished", row.finished},
                    {"success_rate", row.turns == 0 ? Json(nullptr) : Json(rate)},
                    {"steps", row.steps},
                    {"model_calls", effects_json(row.model)},
                    {"tool_calls", effects_json(row.tool)},
                    {"usage", to_json(row.usage)},
                    {"waiting", waiting_json(row.waiting)},
                    {"cost_usd", row.has_unknown_price ? Json(nullptr) : Json(row.usage.cost.usd())}};
}

}  // namespace praxis::app
