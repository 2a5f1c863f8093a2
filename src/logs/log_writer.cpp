#include "logs/log_writer.hpp"

#include <memory>
#include <utility>

#include "driver/turn_driver.hpp"
#include "logs/append.hpp"
#include "logs/read_state.hpp"
#include "praxis/planners/model_planner.hpp"

namespace praxis {
namespace {

/// A driver that settles a turn which was asked to stop and continues nothing else. It needs no planner but
/// in name, and has no model to price what was in doubt.
driver::TurnDriver driver_at_rest(State state, const Lease& lease) {
  driver::Setup setup;
  setup.agent = state.agent;
  setup.planner = std::make_shared<const ModelPlanner>();
  setup.lease = lease;
  setup.at_rest = true;
  return {std::move(setup), std::move(state)};
}

}  // namespace

Status record_with_lease(Journal& journal, Environment& environment, const Lease& lease,
                         const std::function<Result<std::vector<RecordBody>>(const State&)>& inputs,
                         std::optional<InboxId> message) {
  auto state = read_state(journal, lease.session);
  if (!state) return fail(state.error());
  driver::TurnDriver log = driver_at_rest(*std::move(state), lease);
  driver::Moment now;
  now.wall = environment.now();
  driver::Actions actions;
  log.take(now, driver::ExpireParked{}, actions);
  auto bodies = inputs(log.state());
  if (!bodies && !message) return fail(bodies.error());
  driver::RecordsGiven given;
  if (message) given.answer = InboxAnswer{*message, bodies ? std::string(kInboxOk) : bodies.error().message};
  if (bodies) given.records = *std::move(bodies);
  log.take(now, std::move(given), actions);
  if (log.failure()) return fail(*log.failure());
  for (std::size_t i = 0; i < actions.size(); ++i) {  // closing adds actions
    if (auto* append = std::get_if<driver::AppendRecords>(&actions[i]))
      return append_and_wait(journal, std::move(append->append));
    if (const auto* close = std::get_if<driver::CloseLeft>(&actions[i])) {
      for (const SessionId& child : std::vector(close->children)) {
        auto closed = close_left(journal, environment, child);
        log.take(now, driver::ChildClosed{child, closed ? std::optional(*closed) : std::nullopt}, actions);
      }
    }
  }
  return {};
}

Status record_in_log(Journal& journal, Environment& environment, const SessionId& session,
                     const std::function<Result<std::vector<RecordBody>>(const State&)>& inputs,
                     std::optional<InboxId> message) {
  auto lease = journal.acquire(session);
  if (!lease) return fail(lease.error());
  Status done = record_with_lease(journal, environment, *lease, inputs, message);
  journal.release(*lease);
  return done;
}

Result<records::ChildSettled> close_left(Journal& journal, Environment& environment, const SessionId& child) {
  const auto row = journal.session(child);
  if (!row) return fail(row.error());
  auto state = read_state(journal, child);
  if (state && state->turn && !row->held) {
    const records::Intervened stop{CommandVerb::kInterrupt, {}, nullptr, by_runtime()};
    const auto inputs = [&](const State& now) -> Result<std::vector<RecordBody>> {
      if (!now.turn) return std::vector<RecordBody>{};
      return std::vector<RecordBody>{stop};
    };
    if (auto closed = record_in_log(journal, environment, child, inputs); !closed)
      return fail(closed.error());
    state = read_state(journal, child);
  }
  if (!state) return fail(state.error());
  const auto reason = state->last ? state->last->reason : std::nullopt;
  return records::ChildSettled{child, reason.value_or(StopReason::kCancelled), state->subtree_usage(),
                               state->subtree_calls(), state->started_by_tool()};
}

}  // namespace praxis
