#include "base/descriptor_watches.hpp"

#include <fcntl.h>

#include <utility>

namespace praxis {

struct DescriptorWatches::Watch final : EventLoop::Watcher {
  Watch(DescriptorWatches& o, WatchId i, int copy, Executor::Readiness w, Task t)
      : owner(o), id(i), fd(copy), wanted(w), task(std::move(t)) {}

  void on_ready(Readiness ready) override {
    if (wanted == Executor::Readiness::kReadable ? ready.readable : ready.writable) owner.run(id);
  }

  DescriptorWatches& owner;
  const WatchId id;
  const FileDescriptor fd;
  const Executor::Readiness wanted;
  Task task;
};

DescriptorWatches::WatchId DescriptorWatches::add(int fd, Executor::Readiness wanted, Task task) {
  const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return 0;
  WatchPtr watch;  // destroyed outside the lock when the reactor refuses, because its task may own anything
  const std::lock_guard lock(mutex_);
  watch = std::make_shared<Watch>(*this, ++last_, copy, wanted, std::move(task));
  if (!reactor_.watch(copy, *watch)) return 0;
  return watches_.emplace(watch->id, watch).first->first;
}

void DescriptorWatches::drop(WatchId id) {
  const WatchPtr watch = take(id);
  if (!watch) return;
  watch->task = nullptr;
  // The reactor may already have collected an event of it, which only the reactor's thread can discard.
  reactor_.post([this, watch] { reactor_.unwatch(watch->fd.get(), *watch); });
}

void DescriptorWatches::stop() {
  std::map<WatchId, WatchPtr> dropped;
  const std::lock_guard lock(mutex_);
  dropped.swap(watches_);
}

DescriptorWatches::WatchPtr DescriptorWatches::take(WatchId id) {
  const std::lock_guard lock(mutex_);
  const auto found = watches_.find(id);
  if (found == watches_.end()) return nullptr;
  WatchPtr watch = std::move(found->second);
  watches_.erase(found);
  return watch;
}

/// Called only by the thread that runs the reactor.
void DescriptorWatches::run(WatchId id) {
  const WatchPtr watch = take(id);
  if (!watch) return;
  reactor_.unwatch(watch->fd.get(), *watch);
  watch->task();
}

}  // namespace praxis
