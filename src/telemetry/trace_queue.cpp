#include "telemetry/trace_queue.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "praxis/base/environment.hpp"

namespace praxis::telemetry {
namespace {

constexpr std::size_t kDigits = 20;  // of each number in the file
constexpr std::size_t kFileBytes = 2 * kDigits + 2;

std::string padded_number(std::uint64_t number) {
  std::string digits = std::to_string(number);
  return std::string(kDigits - std::min(kDigits, digits.size()), '0') + digits;
}

/// Keeps other processes from sending meanwhile.
class SendingLock {
 public:
  explicit SendingLock(int file) : file_(file), held_(flock(file, LOCK_EX | LOCK_NB) == 0) {}
  SendingLock(const SendingLock&) = delete;
  SendingLock& operator=(const SendingLock&) = delete;
  ~SendingLock() {
    if (held_) flock(file_, LOCK_UN);
  }
  bool held() const { return held_; }

 private:
  int file_;
  bool held_;
};

}  // namespace

Result<TraceQueue> TraceQueue::open(std::shared_ptr<Journal> journal, const std::string& file,
                                    app::Redactions redactions) {
  constexpr mode_t kOwnOnly = 0600;
  FileDescriptor opened(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kOwnOnly));
  if (opened.get() < 0) {
    return fail(ErrorCode::kInput, "the traces that wait cannot be remembered in " + file + ": " +
                                       std::generic_category().message(errno));
  }
  TraceQueue queue(std::move(journal), std::move(opened), std::move(redactions));
  if (queue.read_position()) return queue;
  const auto last = queue.journal_->last_position();
  if (!last) return fail(last.error());
  if (auto written = queue.write_position({*last, 0}); !written) return fail(written.error());
  return queue;
}

std::optional<TraceQueue::Position> TraceQueue::read_position() const {
  std::array<char, kFileBytes> bytes{};
  if (pread(file_.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return std::nullopt;
  Position position;
  const char* const middle = bytes.data() + kDigits;
  const bool good =
      std::from_chars(bytes.data(), middle, position.sent).ptr == middle &&
      std::from_chars(middle + 1, middle + 1 + kDigits, position.away_since).ptr == middle + 1 + kDigits;
  return good ? std::optional(position) : std::nullopt;
}

Status TraceQueue::write_position(const Position& position) const {
  const std::string text = padded_number(position.sent) + ' ' +
                           padded_number(static_cast<std::uint64_t>(position.away_since)) + '\n';
  if (pwrite(file_.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size())) return {};
  return fail(ErrorCode::kInput,
              "the traces that wait cannot be remembered: " + std::generic_category().message(errno));
}

UnixMillis TraceQueue::away_since() const {
  const auto position = read_position();
  return {position ? position->away_since : 0};
}

Result<QueuePass> TraceQueue::send(Collector& collector, const std::stop_token& stop) {
  const SendingLock lock(file_.get());
  QueuePass pass;
  pass.busy = !lock.held();
  if (pass.busy) return pass;
  const auto last = journal_->last_position();
  if (!last) return fail(last.error());
  Position position = read_position().value_or(Position{*last, 0});
  // A journal that was replaced by another one has other positions.
  position.sent = std::min(position.sent, *last);
  if (*last - position.sent > bound_) {
    pass.dropped = *last - position.sent - bound_;
    position.sent = *last - bound_;
  }
  for (bool more = true; more && !pass.error && !stop.stop_requested();) {
    const auto sent = send_changes(collector, position, pass, stop);
    if (!sent) return fail(sent.error());
    more = *sent;
  }
  if (pass.turns > 0) position.away_since = 0;
  if (pass.error && pass.error->code != ErrorCode::kCancelled)
    position.away_since = system_environment()->now().value;
  if (auto written = write_position(position); !written) return fail(written.error());
  return pass;
}

/// Sends what the next entries of the journal end. Returns whether there may be more.
Result<bool> TraceQueue::send_changes(Collector& collector, Position& position, QueuePass& pass,
                                      const std::stop_token& stop) {
  constexpr std::size_t kAtOnce = 1000;
  const auto changes = journal_->changes(position.sent, kAtOnce);
  if (!changes) return fail(changes.error());
  std::map<SessionId, std::pair<std::uint64_t, std::uint64_t>> spans;  // first and last seq
  for (const Change& change : *changes) {
    auto& [first, last] = spans.try_emplace(change.session, change.seq, change.seq).first->second;
    first = std::min(first, change.seq);
    last = std::max(last, change.seq);
  }
  std::set<std::pair<SessionId, std::uint64_t>> ends;
  for (const auto& [session, range] : spans) {
    const auto row = journal_->session(session);
    if (!row || !row->parent.empty()) continue;  // removed, or a sub-agent, which goes with its root
    const auto entries = journal_->read(session, range.first, range.second - range.first + 1);
    if (!entries) continue;  // removed, or damaged: other commands report that
    for (const Entry& entry : *entries) {
      if (entry.kind == "turn_settled") ends.emplace(session, entry.seq);
    }
  }
  for (const Change& change : *changes) {
    if (stop.stop_requested()) return false;
    if (ends.contains({change.session, change.seq})) {
      const Status sent = send_turn(collector, change, stop);
      if (!sent && (sent.error().retriable || sent.error().code == ErrorCode::kCancelled)) {
        pass.error = sent.error();
        return false;
      }
      ++(sent ? pass.turns : pass.refused);
      position.sent = change.position;
      if (auto written = write_position(position); !written) return fail(written.error());
    }
    position.sent = change.position;
  }
  return changes->size() == kAtOnce;
}

Status TraceQueue::send_turn(Collector& collector, const Change& turn, const std::stop_token& stop) {
  SpanQuestion question{.after = turn.seq - 1, .until = turn.seq, .own_turns = true, .open_turn = false};
  question.content = collector.settings().content;
  if (question.content) question.redact = make_redaction();
  question.redactions = redactions_;
  Metrics metrics;
  const auto sent = tree_spans(*journal_, turn.session, question, [&](const std::vector<Span>& spans) {
    metrics.add(spans);
    return collector.send(spans, stop);
  });
  if (!sent) return fail(sent.error());
  return collector.send(metrics, stop);
}

}  // namespace praxis::telemetry
