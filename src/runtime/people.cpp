#include "runtime/people.hpp"

#include <utility>
#include <vector>

#include "base/worker_pool.hpp"
#include "driver/command_records.hpp"
#include "runtime/session_actor.hpp"

namespace praxis {
namespace {

/// The prompt of a step with its choices, for a user who sees text only.
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

// ---- the handler and its queue

void People::set(ApprovalHandler handler) {
  auto shared = handler ? std::make_shared<const ApprovalHandler>(std::move(handler)) : nullptr;
  const std::lock_guard lock(mutex_);
  handler_.swap(shared);
  generation_ = handler_ ? ++generations_ : 0;
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
    const WaitForTasks wait;  // for a human, while the sessions need the workers
    task();
  }
}

// ---- the steps of one session

void SessionActor::perform(driver::AskPerson& action) {
  const auto handler = services_->people.handler();
  std::stop_source withdrawn;
  questions_.put(action.question, withdrawn);
  const bool more_work =
      services_->people.add([self = shared_from_this(), question = action.question,
                             step = std::move(action.step), handler, stop = withdrawn.get_token()] {
        if (stop.stop_requested()) return;
        std::optional<Approval> approval;
        if (handler) self->run_hook("person", [&] { approval = (*handler)(step, stop); });
        self->post([self, question, park = step.id, approval = std::move(approval)]() mutable {
          self->person_said(question, park, std::move(approval));
        });
      });
  if (more_work) {
    services_->options.executor->post_blocking([services = services_] { services->people.work(); });
  }
}

void SessionActor::perform(driver::WithdrawQuestion& action) {
  if (auto question = questions_.take(action.question)) question->request_stop();
}

void SessionActor::person_said(driver::Token question, const ParkId& step, std::optional<Approval> approval) {
  if (!questions_.take(question)) return;  // the step was decided in another way
  driver::PersonAnswered answered{question, std::nullopt};
  if (approval)
    answered.records =
        approval_records(state(), {{step, *std::move(approval)}}, Author{"person", Surface::kHandler});
  feed(std::move(answered));
}

}  // namespace praxis
