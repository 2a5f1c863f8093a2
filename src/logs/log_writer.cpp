#include "logs/log_writer.hpp"

#include <utility>

#include "driver/expiry.hpp"
#include "logs/append.hpp"
#include "praxis/core/next.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/planners/make_planner.hpp"

namespace praxis {
namespace {

/// A state, and the append that brings a log to that state.
class LogWriter {
 public:
  LogWriter(State state, Environment& environment, const Lease& lease)
      : state_(std::move(state)), environment_(environment) {
    append_.lease = lease;
    append_.expected_seq = state_.seq;
  }

  const State& state() const { return state_; }

  Status add(RecordBody body) {
    const Record record{environment_.now(), std::move(body)};
    if (auto applied = apply_to(state_, record); !applied) return applied;
    std::vector<RecordBlob> blobs;
    append_.entries.push_back(
        {std::string(kind_name(record.body)), record.time, encode_record(record.body, blobs)});
    for (RecordBlob& blob : blobs) append_.blobs.push_back({blob.digest, std::move(blob.bytes)});
    return {};
  }

  void answer(InboxId message, std::string outcome) {
    append_.answers.push_back({message, std::move(outcome)});
  }

  /// Ends a turn that was asked to stop: no process runs it, so there is no effect to wait for.
  Status settle_stopped() {
    if (!state_.turn || !state_.turn->stop) return {};
    if (state_.turn->in_flight()) {
      // The cost of the call is unknown here: the model's prices are not available.
      const auto& effect = state_.turn->effect;
      const bool asked = effect && effect->kind == EffectKind::kModel;
      const Usage spent = asked ? state_.usage_in_doubt() : Usage{};
      if (auto added = add(StatusChanged{SessionStatus::kRunning, "recovered", spent}); !added) return added;
    }
    auto planner = make_planner(*state_.agent);
    if (!planner) return fail(planner.error());
    for (RecordBody& body : derive(state_, next(state_, **planner))) {
      if (auto added = add(std::move(body)); !added) return added;
    }
    return {};
  }

  Append take() {
    append_.row.status = std::string(to_string(state_.status()));
    return std::move(append_);
  }

 private:
  State state_;
  Environment& environment_;
  Append append_;
};

}  // namespace

Status record_in_log(Journal& journal, Environment& environment, const SessionId& session,
                     const std::function<Result<std::vector<RecordBody>>(const State&)>& inputs,
                     std::optional<InboxId> message) {
  auto lease = journal.acquire(session);
  if (!lease) return fail(lease.error());
  const auto write = [&]() -> Status {
    auto records = read_records(journal, session);
    if (!records) return fail(records.error());
    auto state = fold(*records);
    if (!state) return fail(state.error());
    LogWriter log(*std::move(state), environment, *lease);
    for (Decided& late : overdue(log.state(), environment.now())) {
      if (auto added = log.add(std::move(late)); !added) return added;
    }
    auto bodies = inputs(log.state());
    if (!bodies && !message) return fail(bodies.error());
    if (message) log.answer(*message, bodies ? std::string(kInboxOk) : bodies.error().message);
    for (RecordBody& body : bodies ? *bodies : std::vector<RecordBody>{}) {
      if (auto added = log.add(std::move(body)); !added) return added;
    }
    if (auto settled = log.settle_stopped(); !settled) return settled;
    return append_and_wait(journal, log.take());
  };
  Status done = write();
  journal.release(*lease);
  return done;
}

}  // namespace praxis
