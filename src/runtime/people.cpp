#include "runtime/people.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "driver/command_records.hpp"
#include "runtime/session_actor.hpp"

namespace praxis {
namespace {

/// A computer that slept or whose clock was set is looked at again no later than this.
constexpr Millis kLookAgain{60'000};

/// What a person reads who sees the words alone.
std::string spoken(const ParkedStep& step) {
  const JsonArray* choices = json_at(step.schema, "enum").if_array();
  if (choices == nullptr) return step.prompt;
  std::string text = step.prompt + " (one of: ";
  for (std::size_t i = 0; i < choices->size(); ++i)
    text += (i == 0 ? "" : ", ") + to_plain_text((*choices)[i]);
  return text + ")";
}

}  // namespace

ApprovalHandler answers_questions(QueryUserHandler handler) {
  if (!handler) return nullptr;
  return [handler = std::move(handler)](const ParkedStep& step,
                                        const std::stop_token&) -> std::optional<Approval> {
    if (step.kind != ParkKind::kQuestion) return std::nullopt;
    auto answer = handler(step.session, step.path, spoken(step));
    return answer ? praxis::answer(*std::move(answer)) : reject({});
  };
}

// ---- who is asked

void People::set(ApprovalHandler handler) {
  auto shared = handler ? std::make_shared<const ApprovalHandler>(std::move(handler)) : nullptr;
  const std::lock_guard lock(mutex_);
  handler_.swap(shared);
}

std::shared_ptr<const ApprovalHandler> People::handler() const {
  const std::lock_guard lock(mutex_);
  return handler_;
}

bool People::add(Task task) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(task));
  if (workers_ == kMostAtOnce) return false;
  ++workers_;
  return true;
}

void People::work() {
  for (std::unique_lock lock(mutex_); true; lock.lock()) {
    if (waiting_.empty()) {
      --workers_;
      return;
    }
    Task task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    task();
  }
}

// ---- the steps of one session

void SessionActor::people_changed() {
  post([this] { commit(); });
}

/// Puts what waits, and is durable, to whoever decides for people here, and looks after its time. Not before
/// somebody carries the session on.
void SessionActor::attend_people() {
  if (inherited_) return;
  const auto& parked = state().parked;
  std::erase_if(asked_, [&](auto& asked) {
    if (!winding_down_ && parked.contains(asked.first)) return false;
    asked.second.stop.request_stop();
    return true;
  });
  watch_expiry();
  if (parked.empty() || winding_down_) return;
  const auto handler = services_->people.handler();
  if (!handler) return;
  for (const auto& [id, step] : parked) {
    const bool durable = std::ranges::none_of(pending_, [&](const PendingRecord& pending) {
      const auto* record = std::get_if<Parked>(&pending.record.body);
      return record != nullptr && record->step.id == id;
    });
    const auto asked = asked_.find(id);
    const bool heard = asked != asked_.end() && (asked->second.thinking || asked->second.by == handler);
    if (durable && !heard) ask_person(step, handler);
  }
}

void SessionActor::ask_person(const ParkedStep& step, std::shared_ptr<const ApprovalHandler> handler) {
  Asked& asked = asked_[step.id];
  asked = Asked{handler};
  const std::stop_token stop = asked.stop.get_token();
  const bool more_work =
      services_->people.add([self = shared_from_this(), step, stop, handler = std::move(handler)] {
        if (stop.stop_requested()) return;
        std::optional<Approval> approval;
        self->run_hook("person", [&] { approval = (*handler)(step, stop); });
        self->person_said(step.id, stop, std::move(approval));
      });
  if (more_work) {
    services_->options.executor->post_blocking([services = services_] { services->people.work(); });
  }
}

/// Without a approval, or with one that cannot be, the step stays where it is.
void SessionActor::person_said(const ParkId& park, const std::stop_token& asked,
                               std::optional<Approval> approval) {
  post([this, park, asked, approval = std::move(approval)] {
    if (broken_ || asked.stop_requested()) return;  // it was decided otherwise
    asked_[park].thinking = false;
    if (!approval) return commit();
    auto decided = approval_records(state(), {{park, *approval}}, Author{"person", Surface::kHandler});
    if (!decided) {
      publish(transient(HookFailed{"person", decided.error().message}), readers_);
      return commit();
    }
    take_in(*std::move(decided));
  });
}

/// Whether somebody is at work on an answer here or below, so that there is more to wait for than a person
/// who may come tomorrow.
bool SessionActor::attended() const {
  return std::ranges::any_of(asked_, [](const auto& asked) { return asked.second.thinking; }) ||
         std::ranges::any_of(children_, [](const auto& c) { return c.second.busy && c.second.attended; });
}

void SessionActor::leave_people() {
  for (auto& [id, asked] : std::exchange(asked_, {})) asked.stop.request_stop();
  if (expiry_ != 0) services_->options.executor->cancel(std::exchange(expiry_, 0));
}

// ---- time that runs out

/// Denies what nobody decided in time; whether there was anything.
bool SessionActor::expire_parked() {
  if (broken_ || state().parked.empty()) return false;
  std::vector<Decided> late = overdue(state(), services_->options.environment->now());
  for (Decided& each : late) record(std::move(each));
  return !late.empty();
}

/// One timer for the first step that runs out of time.
void SessionActor::watch_expiry() {
  UnixMillis first;
  for (const auto& [id, step] : state().parked) {
    if (step.expires.value != 0 && (first.value == 0 || step.expires < first)) first = step.expires;
  }
  if (first == expires_) return;
  expires_ = first;
  if (expiry_ != 0) services_->options.executor->cancel(std::exchange(expiry_, 0));
  if (first.value != 0) arm_expiry();
}

/// The time is that of the wall clock, which may jump; the timer only says when to look at it.
void SessionActor::arm_expiry() {
  const Millis left = expires_ - services_->options.environment->now();
  expiry_ =
      services_->options.executor->after(std::clamp(left, Millis{0}, kLookAgain), [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->post([self] {
          self->expiry_ = 0;
          if (self->broken_ || self->expires_.value == 0) return;
          if (self->services_->options.environment->now() < self->expires_) return self->arm_expiry();
          self->expires_ = {};
          self->expire_parked();
          self->advance();
        });
      });
}

}  // namespace praxis
