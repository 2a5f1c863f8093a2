// Replaces the functions in which code waits, for the whole program. On a thread of a `Schedule` they hand
// the baton back; elsewhere they behave as usual.
#include <dlfcn.h>
#include <time.h>

#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <future>

#include "threads_schedule.hpp"

namespace {

using praxis::faults::threads::Schedule;

template <class F>
F real(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    std::fprintf(stderr, "this program knows no %s\n", name);
    std::abort();
  }
  return reinterpret_cast<F>(found);
}

/// Fails for a short task that waits: it would block the thread that runs everything else.
void must_not_be_short() {
  const Schedule* schedule = Schedule::of_this_process();
  if (schedule == nullptr || !schedule->in_short_task() || Schedule::of_this_thread() != nullptr) return;
  std::fputs("a task that must not block waits\n", stderr);
  std::abort();
}

}  // namespace

namespace std {

bool __atomic_futex_unsigned_base::_M_futex_wait_until(unsigned* address, unsigned value, bool timed,
                                                       chrono::seconds s, chrono::nanoseconds ns) {
  if (Schedule* schedule = Schedule::of_this_thread(); schedule != nullptr && !timed) {
    schedule->wait([=] { return __atomic_load_n(address, __ATOMIC_ACQUIRE) != value; });
    return true;
  }
  must_not_be_short();
  using Wait = bool (*)(__atomic_futex_unsigned_base*, unsigned*, unsigned, bool, chrono::seconds,
                        chrono::nanoseconds);
  static const auto kReal = real<Wait>(
      "_ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEE"
      "NS2_IlS3_ILl1ELl1000000000EEEE");
  return kReal(this, address, value, timed, s, ns);
}

void condition_variable::wait(unique_lock<mutex>& lock) {
  if (Schedule* schedule = Schedule::of_this_thread()) {
    const auto heard = schedule->notifications(this);
    lock.unlock();
    schedule->wait([=, this] { return schedule->notifications(this) != heard; });
    return lock.lock();
  }
  must_not_be_short();
  static const auto kReal = real<void (*)(condition_variable*, unique_lock<mutex>&)>(
      "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");
  kReal(this, lock);
}

void condition_variable::notify_one() noexcept {
  if (Schedule* schedule = Schedule::of_this_process()) schedule->notified(this);
  static const auto kReal = real<void (*)(condition_variable*)>("_ZNSt18condition_variable10notify_oneEv");
  kReal(this);
}

void condition_variable::notify_all() noexcept {
  if (Schedule* schedule = Schedule::of_this_process()) schedule->notified(this);
  static const auto kReal = real<void (*)(condition_variable*)>("_ZNSt18condition_variable10notify_allEv");
  kReal(this);
}

}  // namespace std

extern "C" int nanosleep(const timespec* length, timespec* left) {
  if (Schedule* schedule = Schedule::of_this_thread()) {
    schedule->sleep(std::chrono::seconds(length->tv_sec) + std::chrono::nanoseconds(length->tv_nsec));
    return 0;
  }
  const int failed = clock_nanosleep(CLOCK_MONOTONIC, 0, length, left);
  if (failed == 0) return 0;
  errno = failed;
  return -1;
}
