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

Status record_in_log(Journal& journal, Environment& environment, const SessionId& session,
                     const std::function<Result<std::vector<RecordBody>>(const State&)>& inputs,
                     std::optional<InboxId> message) {
  auto lease = journal.acquire(session);
  if (!lease) return fail(lease.error());
  const auto write = [&]() -> Status {
    auto state = read_state(journal, session);
    if (!state) return fail(state.error());
    driver::TurnDriver log = driver_at_rest(*std::move(state), *lease);
    driver::Moment now;
    now.wall = environment.now();
    driver::Actions actions;
    log.take(now, driver::ExpireParked{}, actions);
    auto bodies = inputs(log.state());
    if (!bodies && !message) return fail(bodies.error());
    driver::RecordsGiven given;
    if (message)
      given.answer = InboxAnswer{*message, bodies ? std::string(kInboxOk) : bodies.error().message};
    if (bodies) given.records = *std::move(bodies);
    log.take(now, std::move(given), actions);
    if (log.failure()) return fail(*log.failure());
    for (driver::Action& action : actions) {
      if (auto* append = std::get_if<driver::AppendRecords>(&action))
        return append_and_wait(journal, std::move(append->append));
    }
    return {};
  };
  Status done = write();
  journal.release(*lease);
  return done;
}

}  // namespace praxis
