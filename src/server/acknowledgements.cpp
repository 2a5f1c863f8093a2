#include "server/acknowledgements.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace praxis::server {
namespace {

/// The server could not do it now, which says nothing about the request.
Error not_taken(const SessionId& session, const std::string& why) {
  return make_error(ErrorCode::kJournal, ErrorKind::kOverloaded, why).set("session", session.str());
}

}  // namespace

Acknowledgements::Acknowledgements(std::shared_ptr<Runtime> runtime, std::shared_ptr<Executor> executor,
                                   std::chrono::milliseconds patience)
    : runtime_(std::move(runtime)), executor_(std::move(executor)), patience_(patience) {}

Acknowledgements::~Acknowledgements() {
  subscription_.reset();
  for (const auto& [session, expected] : expected_) {
    for (const Waiting& each : expected.waiting) executor_->cancel(each.timer);
  }
}

// The runtime publishes an event only when its record is durable.
void Acknowledgements::start() {
  subscription_ = runtime_->on("message.added", [weak = weak_from_this()](const Event& event) {
    const auto* const added = std::get_if<events::MessageAdded>(&event.body);
    const auto self = weak.lock();
    if (self && added != nullptr && added->source == MessageSource::kUser)
      self->answer(event.agent.id, 0, {});
  });
}

Acknowledgements::Ticket Acknowledgements::expect(const SessionId& session, Then& then) {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = expected_.try_emplace(session);
  if (!is_new) return 0;
  at->second.ticket = ++last_;
  add(at->second, session, std::move(then));
  return at->second.ticket;
}

bool Acknowledgements::join(const SessionId& session, Then& then) {
  const std::lock_guard lock(mutex_);
  const auto found = expected_.find(session);
  if (found == expected_.end()) return false;
  add(found->second, session, std::move(then));
  return true;
}

void Acknowledgements::add(Expected& expected, const SessionId& session, Then then) {
  const std::uint64_t number = ++last_;
  const auto timer = executor_->after(patience_, [weak = weak_from_this(), session, number] {
    if (const auto self = weak.lock()) self->give_up(session, number);
  });
  expected.waiting.push_back({number, std::move(then), timer});
}

/// The message stays expected: others may still wait for it.
void Acknowledgements::give_up(const SessionId& session, std::uint64_t number) {
  Then then;
  {
    const std::lock_guard lock(mutex_);
    const auto found = expected_.find(session);
    if (found == expected_.end()) return;
    std::vector<Waiting>& waiting = found->second.waiting;
    const auto at = std::ranges::find(waiting, number, &Waiting::number);
    if (at == waiting.end()) return;
    then = std::move(at->then);
    waiting.erase(at);
  }
  post(std::move(then),
       fail(not_taken(session, "the journal has not confirmed the message of run " + session.str() +
                                   " within " + std::to_string(patience_.count()) +
                                   " ms; its turn may still begin")));
}

void Acknowledgements::post(Then then, const Status& outcome) {
  executor_->post_blocking([then = std::move(then), outcome]() mutable { then(outcome); });
}

void Acknowledgements::fail_with(const SessionId& session, Ticket ticket, const Error& error) {
  if (ticket == 0) return;
  const bool is_journal = error.code == ErrorCode::kJournal;
  answer(session, ticket,
         fail(is_journal ? not_taken(session, "the journal did not take the message: " + error.message)
                         : error));
}

void Acknowledgements::answer(const SessionId& session, Ticket ticket, const Status& outcome) {
  std::vector<Waiting> waiting;
  {
    const std::lock_guard lock(mutex_);
    const auto found = expected_.find(session);
    if (found == expected_.end() || (ticket != 0 && found->second.ticket != ticket)) return;
    waiting = std::move(found->second.waiting);
    expected_.erase(found);
  }
  for (Waiting& each : waiting) {
    executor_->cancel(each.timer);
    post(std::move(each.then), outcome);
  }
}

}  // namespace praxis::server
