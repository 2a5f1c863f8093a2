#include "threads_journal.hpp"

#include <unistd.h>

#include <utility>

#include "praxis/json/json.hpp"

namespace praxis::faults::threads {
namespace {

std::unexpected<Error> refused(Random& random) {
  if (random.once_in(2)) {
    return fail(ErrorCode::kJournal, ErrorKind::kFull, "the disk is full", true);
  }
  return fail(ErrorCode::kJournal, ErrorKind::kIo, "the disk failed");
}

/// Removes the process number from an error: tools write errors to the log, and the number does not depend on
/// the seed.
Error without_process(Error error) {
  const std::string number = "process " + std::to_string(getpid());
  if (const auto at = error.message.find(number); at != error.message.npos)
    error.message.replace(at, number.size(), "a process");
  if (Json detail = error.detail(); detail.is_object()) {
    detail.get_object().erase("pid");
    error.facts = std::make_shared<const Json>(std::move(detail));
  }
  return error;
}

std::pair<SessionId, std::uint64_t> key_of(const Lease& lease) { return {lease.session, lease.token}; }

}  // namespace

Result<Lease> SimJournal::create(const SessionId& session, UnixMillis now) {
  auto lease = inner().create(session, now);
  if (lease) leases_[session] = *lease;
  return lease;
}

/// First writes what is still queued for the session's previous owner in this process.
Result<Lease> SimJournal::acquire(const SessionId& session, bool force) {
  for (Queue& queue = queues_[session]; !queue.empty();) {
    Operation operation = std::move(queue.front());
    queue.pop_front();
    carry_out(std::move(operation));
  }
  auto lease = inner().acquire(session, force);
  if (!lease) return fail(without_process(std::move(lease.error())));
  leases_[session] = *lease;
  return lease;
}

void SimJournal::release(const Lease& lease) {
  given_back_.insert(key_of(lease));
  Queue& queue = queues_[lease.session];
  if (queue.empty()) return inner().release(lease);
  queue.push_back({std::nullopt, nullptr, lease});
}

void SimJournal::append(Append append, AppendDone done) {
  const SessionId session = append.lease.session;
  queues_[session].push_back({std::move(append), std::move(done), {}});
  schedule_.post([this, session] { next(session); });
}

void SimJournal::next(const SessionId& session) {
  Queue& queue = queues_[session];
  if (queue.empty()) return;
  Operation operation = std::move(queue.front());
  queue.pop_front();
  carry_out(std::move(operation));
  while (!queue.empty() && !queue.front().append) {
    inner().release(queue.front().lease);
    queue.pop_front();
  }
}

void SimJournal::carry_out(Operation operation) {
  if (!operation.append) return inner().release(operation.lease);
  auto written = reliable_ || !schedule_.random().once_in(300)
                     ? write(*std::move(operation.append))
                     : Result<std::uint64_t>(refused(schedule_.random()));
  schedule_.post([done = std::move(operation.done), written = std::move(written)]() mutable {
    done(std::move(written));
  });
}

Result<std::uint64_t> SimJournal::write(Append append) {
  const SessionId session = append.lease.session;
  // The owner of the session above has released it because an append failed, so it creates no sub-agent any
  // more.
  const bool too_late = append.on_behalf_of && given_back_.contains(key_of(*append.on_behalf_of));
  Result<std::uint64_t> written = 0;
  inner().append(std::move(append), [&](Result<std::uint64_t> seq) { written = std::move(seq); });
  if (!written && !too_late) complaint_ = session.str() + ": " + written.error().message;
  return written;
}

Result<std::vector<Entry>> SimJournal::read(const SessionId& session, std::uint64_t from, std::size_t limit) {
  if (!reliable_ && schedule_.random().once_in(300)) return refused(schedule_.random());
  return inner().read(session, from, limit);
}

void SimJournal::crash() {
  for (auto& [session, queue] : queues_) {
    for (Operation& operation : queue) {
      if (!operation.append || schedule_.random().once_in(2)) break;
      write(*std::move(operation.append));
    }
  }
  for (const auto& [session, lease] : leases_) inner().release(lease);
}

}  // namespace praxis::faults::threads
