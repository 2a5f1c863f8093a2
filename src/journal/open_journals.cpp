#include "journal/open_journals.hpp"

#include <condition_variable>
#include <mutex>

#include "praxis/journal/journal.hpp"

namespace praxis {
namespace {

/// Never destroyed: a static journal may end after it otherwise.
struct Count {
  std::mutex mutex;
  std::condition_variable closed;
  int open = 0;

  static Count& instance() {
    static auto& count = *new Count;
    return count;
  }
};

}  // namespace

OpenJournal count_open_journal() {
  Count& count = Count::instance();
  {
    const std::lock_guard lock(count.mutex);
    ++count.open;
  }
  // Without the lock: if there is no memory for the pointer, its deleter is called at once.
  return {&count, [](void*) {
            Count& all = Count::instance();
            const std::lock_guard closing(all.mutex);
            if (--all.open == 0) all.closed.notify_all();
          }};
}

bool await_closed_journals(std::chrono::milliseconds limit) {
  Count& count = Count::instance();
  std::unique_lock lock(count.mutex);
  return count.closed.wait_for(lock, limit, [&] { return count.open == 0; });
}

}  // namespace praxis
