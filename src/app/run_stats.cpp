#include "app/run_stats.hpp"

#include <algorithm>
#include <array>
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

/// By `StatsBy`.
constexpr std::array<std::string_view, 6> kTableNames{"all", "agent", "model", "tool", "day", "tenant"};

using Rows = std::map<std::string, StatsRow>;

/// Adds the records of one session to the rows of one table.
class StatsFold {
 public:
  /// `tenant` is that of the session's run, for a table by tenant.
  StatsFold(StatsBy by, const StatsQuestion& question, const Redactions& redactions, std::string tenant,
            Rows& rows)
      : by_(by), question_(question), redactions_(redactions), tenant_(std::move(tenant)), rows_(rows) {}

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

  /// The row for what the agent did, or for a tool; null if the table does not show it.
  StatsRow* row(const std::string& model, const std::string& tool) {
    if (!is_in_time_) return nullptr;
    std::string name;
    switch (by_) {
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
    if (by_ != StatsBy::kDay && by_ != StatsBy::kTenant) name = shown(name);
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

  const StatsBy by_;
  const StatsQuestion& question_;
  const Redactions& redactions_;
  const std::string tenant_;
  Rows& rows_;
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

std::string_view name_of(StatsBy by) { return kTableNames.at(static_cast<std::size_t>(by)); }

std::optional<StatsBy> stats_by_named(std::string_view name) {
  const auto found = std::ranges::find(kTableNames, name);
  if (found == kTableNames.end()) return std::nullopt;
  return static_cast<StatsBy>(found - kTableNames.begin());
}

Result<StatsReport> run_stats(Journal& journal, const StatsQuestion& question, const Redactions& redactions) {
  std::vector<Rows> tables(question.by.size());
  bool by_tenant = false;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (question.by[i] == StatsBy::kAll) tables[i][""] = {};
    by_tenant = by_tenant || question.by[i] == StatsBy::kTenant;
  }
  const auto add = [&](const std::vector<StoredRecord>& records) {
    const std::string tenant = by_tenant ? tenant_of(journal, records) : "";
    for (std::size_t i = 0; i < tables.size(); ++i) {
      StatsFold fold(question.by[i], question, redactions, tenant, tables[i]);
      for (const StoredRecord& stored : records) fold.add(stored);
    }
  };
  const auto all =
      walk_journal(journal, {.from = question.from, .until = question.until, .counts = question.counts}, add);
  if (!all) return fail(all.error());
  StatsReport report{.tables = {}, .is_complete = *all};
  for (std::size_t i = 0; i < tables.size(); ++i) {
    report.tables.push_back({question.by[i]});
    for (auto& [name, row] : tables[i]) report.tables.back().rows.push_back(std::move(row));
  }
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
