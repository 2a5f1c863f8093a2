#include "journal/postgres_watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "journal/postgres_inbox.hpp"

namespace praxis {
namespace {

constexpr std::chrono::milliseconds kLook{1'000};  // the net below the notifications
constexpr std::chrono::milliseconds kRetry{250};   // after the connection was lost
constexpr int kSignsInPatience = 5;

bool is_readable(int file, std::chrono::milliseconds limit) {
  pollfd input{file, POLLIN, 0};
  return poll(&input, 1, static_cast<int>(limit.count())) > 0;
}

}  // namespace

PostgresWatch::PostgresWatch(PostgresRoute route, PostgresSelf self, std::chrono::milliseconds patience)
    : route_(std::move(route)),
      self_(std::move(self)),
      patience_(patience),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { work(); }) {}

PostgresWatch::~PostgresWatch() {
  const std::uint64_t one = 1;
  std::ignore = write(wake_, &one, sizeof one);
  thread_.join();
  close(wake_);
}

bool PostgresWatch::is_empty_above(InboxId after) {
  const std::lock_guard lock(mutex_);
  return listening_ && empty_ && after >= empty_->after &&
         std::chrono::steady_clock::now() - empty_->seen < kLook;
}

std::uint64_t PostgresWatch::begin_look() {
  const std::lock_guard lock(mutex_);
  return notifications_;
}

void PostgresWatch::note_empty(InboxId after, std::uint64_t look) {
  const std::lock_guard lock(mutex_);
  if (look == notifications_) empty_ = Empty{after, std::chrono::steady_clock::now()};
}

void PostgresWatch::stir() {
  const std::lock_guard lock(mutex_);
  ++notifications_;
  empty_.reset();
}

void PostgresWatch::set_listening(bool listening) {
  stir();
  const std::lock_guard lock(mutex_);
  listening_ = listening;
}

bool PostgresWatch::connect(std::optional<PostgresConnection>& connection) {
  auto opened = PostgresConnection::open(route_.address, false);
  if (!opened) return false;
  // A sign of life need not survive the server.
  if (!opened->run("SELECT set_config('synchronous_commit', 'off', false)")) return false;
  if (!opened->execute("LISTEN " + std::string(kMailChannel))) return false;
  connection.emplace(std::move(*opened));
  return true;
}

void PostgresWatch::work() {
  const auto pulse = patience_ / kSignsInPatience;
  std::optional<PostgresConnection> connection;
  while (!is_readable(wake_, std::chrono::milliseconds(0))) {
    if (!connection) {
      if (!connect(connection)) {
        is_readable(wake_, kRetry);
        continue;
      }
      set_listening(true);
    }
    const auto due = std::chrono::steady_clock::now() + pulse;
    bool good = show_life(*connection, self_.number, self_.process, patience_).has_value();
    while (good && !is_readable(wake_, std::chrono::milliseconds(0))) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(due - std::chrono::steady_clock::now());
      if (left.count() <= 0) break;
      const auto notified = connection->await_notifications(wake_, left);
      good = notified.has_value();
      if (good && !notified->empty()) stir();
    }
    if (good) continue;
    set_listening(false);
    connection.reset();
  }
  if (connection || connect(connection)) std::ignore = remove_owner(*connection, self_.number);
}

}  // namespace praxis
