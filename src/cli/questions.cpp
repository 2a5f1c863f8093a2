#include "cli/questions.hpp"

namespace praxis::cli {

std::optional<Approval> Questions::ask(const ParkedStep& step, const std::stop_token& stop) {
  std::stop_source either;
  const std::stop_callback decided(stop, [&either] { either.request_stop(); });
  const std::stop_callback closed_here(closing_.get_token(), [&either] { either.request_stop(); });
  const ParkId key(step.session.str() + '/' + step.id.str());
  std::unique_lock lock(mutex_);
  waiting_.insert(key);
  const bool is_next =
      changed_.wait(lock, stop, [&] { return (!asking_ && *waiting_.begin() == key) || closed(); });
  std::optional<Approval> answer;
  if (is_next && !closed()) {
    asking_ = true;
    lock.unlock();
    progress_.hold(true);
    answer = dialog_.ask(step, either.get_token());
    progress_.hold(false);
    lock.lock();
    asking_ = false;
  }
  waiting_.erase(key);
  changed_.notify_all();
  return answer;
}

void Questions::close() {
  closing_.request_stop();
  std::unique_lock lock(mutex_);
  changed_.notify_all();
  changed_.wait(lock, [this] { return !asking_; });
}

}  // namespace praxis::cli
