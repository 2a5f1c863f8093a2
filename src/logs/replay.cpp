// Offline replay: takes inputs from the log; derives the core's conclusions again and compares them.
#include <algorithm>
#include <memory>

#include "logs/record_difference.hpp"
#include "planners/guarded_planner.hpp"
#include "praxis/core/next.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/planners/make_planner.hpp"

namespace praxis {
namespace {

class Replayer {
 public:
  Replayer(const AgentSpec* agent, std::shared_ptr<const Planner> planner)
      : agent_(agent), host_planner_(std::move(planner)) {}

  Status feed(const StoredRecord& stored, ReplayReport& report) {
    Record record = stored.record;
    if (is_derived(record.body)) {
      ++report.derived;
      if (auto compared = compare(stored.seq, record.body, report); !compared || report.divergence)
        return compared;
    }
    if (auto* created = std::get_if<records::SessionCreated>(&record.body);
        created != nullptr && agent_ != nullptr)
      created->agent = described(*created->agent);
    if (auto applied = apply_to(state_, record); !applied) return applied;
    ++report.records;
    if (planned_for_ != state_.agent.get()) {
      auto planner = planner_of(*state_.agent);
      if (!planner) return fail(planner.error());
      planner_ = *std::move(planner);
      planned_for_ = state_.agent.get();
    }
    return {};
  }

 private:
  Result<std::shared_ptr<const Planner>> planner_of(const AgentSpec& agent) const {
    const std::string name = host_plan_name(agent);
    if (host_planner_ && !name.empty()) return std::make_shared<const GuardedPlanner>(host_planner_, name);
    return make_planner(agent);
  }

  Status compare(std::uint64_t seq, const RecordBody& recorded, ReplayReport& report) {
    if (!planner_) return fail(ErrorCode::kJournal, "the log does not begin with session_created");
    Decision decision = next(state_, *planner_);
    adopt(recorded, decision);
    const std::vector<RecordBody> derived = derive(state_, decision);
    if (derived.empty()) {
      report.divergence = {seq, "kind", std::string(kind_name(recorded)), "nothing (the session would wait)"};
      return {};
    }
    RecordBody found = derived.front();
    if (kind_name(found) != kind_name(recorded)) {
      report.divergence = {seq, "kind", std::string(kind_name(recorded)), std::string(kind_name(found))};
      return {};
    }
    if (seq <= state_.forked_at) copy_delay(recorded, found);
    auto expected = comparable_json(recorded);
    auto actual = comparable_json(found);
    if (!expected || !actual) return fail(expected ? actual.error() : expected.error());
    if (*expected != *actual) report.divergence = first_difference(seq, *expected, *actual);
    return {};
  }

  /// The jitter of a delay comes from the id of the session: records that a fork copied have it from the id
  /// of its original.
  static void copy_delay(const RecordBody& recorded, RecordBody& found) {
    const auto* was = std::get_if<records::EffectIntended>(&recorded);
    auto* is = std::get_if<records::EffectIntended>(&found);
    if (was != nullptr && is != nullptr) is->delay = was->delay;
  }

  /// Returns the given description with the model profile that the log recorded.
  AgentSpecPtr described(const AgentSpec& recorded) const {
    auto agent = std::make_shared<AgentSpec>(*agent_);
    agent->profile = recorded.profile;
    return agent;
  }

  /// Copies what the host chose at this point, which is an input: which call it started first, and what its
  /// hooks changed.
  void adopt(const RecordBody& recorded, Decision& decision) const {
    const auto* intent = std::get_if<records::EffectIntended>(&recorded);
    const auto* parked = std::get_if<records::Parked>(&recorded);
    if (auto* call = std::get_if<CallModel>(&decision); call != nullptr && intent != nullptr) {
      call->patch = intent->patch;
    } else if (auto* batch = std::get_if<RunCalls>(&decision)) {
      const CallId chosen = intent != nullptr   ? intent->call
                            : parked != nullptr ? parked->step.call
                                                : CallId{};
      const auto& calls = state_.turn->calls;
      std::erase_if(batch->calls, [&](std::size_t index) { return calls[index].call.id != chosen; });
    }
  }

  const AgentSpec* agent_;
  const std::shared_ptr<const Planner> host_planner_;
  State state_;
  std::shared_ptr<const Planner> planner_;
  const AgentSpec* planned_for_ = nullptr;
};

}  // namespace

Result<ReplayReport> replay(const std::vector<StoredRecord>& records, const AgentSpec* agent,
                            std::shared_ptr<const Planner> planner) {
  Replayer replayer(agent, std::move(planner));
  ReplayReport report;
  for (const StoredRecord& stored : records) {
    if (auto fed = replayer.feed(stored, report); !fed) return fail(fed.error());
    if (report.divergence) break;
  }
  return report;
}

}  // namespace praxis
