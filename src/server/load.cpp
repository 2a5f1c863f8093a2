#include "server/load.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace praxis::server {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kLongestPause = 60;    // seconds; then a client may as well look again
constexpr std::int64_t kPauseForPeople = 60;  // no one knows when they answer
constexpr std::int64_t kPauseForMemory = 10;

struct Named {
  std::string_view name;
  std::uint64_t LoadBounds::Of::* bound;
  bool is_size;
};
constexpr auto kBoundNames = std::to_array<Named>({
    {"requests", &LoadBounds::Of::requests, false},
    {"bytes", &LoadBounds::Of::bytes, true},
    {"turns", &LoadBounds::Of::turns, false},
    {"waiting", &LoadBounds::Of::waiting, false},
    {"queue", &LoadBounds::Of::queue, false},
});
constexpr std::string_view kTotal = "total-";

Error wrong_bound(std::string_view text, const std::string& why) {
  return make_error(ErrorCode::kInput, "--bound \"" + std::string(text) + "\" " + why);
}

/// A whole number, with `KiB`, `MiB` or `GiB` after it if it is a size.
std::optional<std::uint64_t> number_of(std::string_view text, bool is_size) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc()) return std::nullopt;
  const std::string_view unit(read.ptr, text.data() + text.size());
  if (unit.empty()) return number;
  constexpr std::array<std::string_view, 3> kUnits{"KiB", "MiB", "GiB"};
  const auto found = std::ranges::find(kUnits, unit);
  if (!is_size || found == kUnits.end()) return std::nullopt;
  const auto shift = 10 * static_cast<unsigned>(found - kUnits.begin() + 1);
  if (number > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return number << shift;
}

Error refused(const std::string& reason, std::int64_t seconds) {
  const auto pause = std::clamp<std::int64_t>(seconds, 1, kLongestPause);
  return make_error(ErrorCode::kLimit, reason).set("retry_after", pause);
}

std::string whose(bool total) { return total ? "all clients together have" : "this token has"; }

}  // namespace

Status read_bound(std::string_view text, LoadBounds& bounds) {
  const std::size_t at = text.find('=');
  std::string_view name = text.substr(0, at);
  const std::string_view value = at == text.npos ? "" : text.substr(at + 1);
  const bool is_total = name.starts_with(kTotal);
  if (is_total) name.remove_prefix(kTotal.size());
  std::uint64_t* bound = !is_total && name == "memory" ? &bounds.memory : nullptr;
  bool is_size = bound != nullptr;
  LoadBounds::Of& of = is_total ? bounds.total : bounds.token;
  for (const Named& named : kBoundNames) {
    if (name != named.name) continue;
    bound = &(of.*named.bound);
    is_size = named.is_size;
  }
  if (bound == nullptr)
    return fail(wrong_bound(text,
                            "must be NAME=N; NAME is requests, bytes, turns, waiting or queue, or one of "
                            "them with total- in front, or memory"));
  const auto number = number_of(value, is_size);
  if (!number)
    return fail(wrong_bound(text, is_size ? "must have a number of bytes after =, such as 512MiB"
                                          : "must have a whole number after =, such as 20"));
  *bound = *number;
  return {};
}

std::uint64_t resident_memory() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  if (!(file >> size >> resident)) return 0;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t present_memory() {
  const auto pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  const std::uint64_t machine =
      pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) : 0;
  std::ifstream file("/sys/fs/cgroup/memory.max");  // a number, or `max`
  std::uint64_t group = 0;
  return file >> group && group < machine ? group : machine;
}

void Load::Bucket::refill(Nanoseconds now) {
  const double seconds = std::chrono::duration<double>(now - std::exchange(at, now)).count();
  left = std::min(static_cast<double>(rate), left + seconds * static_cast<double>(rate));
}

void Load::Bucket::take(std::uint64_t amount) {
  if (rate != 0) left -= static_cast<double>(amount);
}

double Load::Bucket::seconds_until(std::uint64_t amount) const {
  if (rate == 0) return 0;
  const auto needed = static_cast<double>(std::min(amount, rate));  // a longer body leaves a debt
  return std::max(0.0, (needed - left) / static_cast<double>(rate));
}

Load::Load(LoadBounds bounds, std::shared_ptr<Environment> environment, std::function<std::uint64_t()> memory)
    : bounds_(bounds),
      environment_(std::move(environment)),
      memory_(std::move(memory)),
      total_(made(bounds.total)) {}

Load::Party Load::made(const LoadBounds::Of& bounds) const {
  const auto full = [now = environment_->monotonic()](std::uint64_t rate) {
    return Bucket{rate, static_cast<double>(rate), now};
  };
  return {.requests = full(bounds.requests), .bytes = full(bounds.bytes), .turns = {}};
}

Load::Party& Load::party_of(const std::string& token) {
  const auto found = tokens_.find(token);
  if (found != tokens_.end()) return found->second;
  // An identity provider may have any number of users.
  constexpr std::size_t kMostParties = 100'000;
  if (tokens_.size() >= kMostParties) {
    std::erase_if(tokens_, [](const auto& each) {
      return each.second.turns.at_work == 0 && each.second.turns.queued == 0;
    });
  }
  return tokens_.emplace(token, made(bounds_.token)).first->second;
}

Status Load::take(const std::string& token, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const Nanoseconds now = environment_->monotonic();
  Party& own = party_of(token);
  struct Demand {
    Bucket& bucket;
    std::uint64_t amount;
    const char* of;
    bool total;
  };
  const std::array<Demand, 4> demands{{{own.requests, 1, " requests", false},
                                       {own.bytes, bytes, " bytes of bodies", false},
                                       {total_.requests, 1, " requests", true},
                                       {total_.bytes, bytes, " bytes of bodies", true}}};
  for (const Demand& demand : demands) {  // before anything is taken
    demand.bucket.refill(now);
    const double pause = demand.bucket.seconds_until(demand.amount);
    if (pause <= 0) continue;
    return fail(refused(whose(demand.total) + " sent as much as allowed, " +
                            std::to_string(demand.bucket.rate) + demand.of + " a second",
                        std::lround(std::ceil(pause))));
  }
  for (const Demand& demand : demands) demand.bucket.take(demand.amount);
  return {};
}

bool Load::has_turn(const std::string& token) {
  const auto has = [](const LoadBounds::Of& bound, const Turns& turns) {
    return bound.turns == 0 || turns.at_work < bound.turns;
  };
  return has(bounds_.token, party_of(token).turns) && has(bounds_.total, total_.turns);
}

bool Load::has_queue(const std::string& token) {
  const auto has = [](const LoadBounds::Of& bound, const Turns& turns) {
    return bound.queue == 0 || turns.queued < bound.queue;
  };
  return (bounds_.token.queue != 0 || bounds_.total.queue != 0) &&
         has(bounds_.token, party_of(token).turns) && has(bounds_.total, total_.turns);
}

Load::Slot Load::taken_slot(const std::string& token) {
  ++party_of(token).turns.at_work;
  ++total_.turns.at_work;
  return {static_cast<void*>(this), [self = shared_from_this(), token](void*) { self->end_turn(token); }};
}

/// In seconds: those that wait come first.
std::int64_t Load::pause_until(const Turns& turns) const {
  const auto ends = static_cast<std::int64_t>(turns.queued) + 1;
  return std::chrono::ceil<std::chrono::seconds>(turns.between * ends).count();
}

std::size_t Load::queued() {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

Result<Load::Slot> Load::begin_turn(const std::string& token, const Waiting& waiting, WhenFree when_free) {
  if (bounds_.memory != 0 && memory_() > bounds_.memory) {
    Error error = make_error(ErrorCode::kLimit, ErrorKind::kOverloaded,
                             "the server uses all the memory that it may; runs that work go on");
    return fail(std::move(error).set("retry_after", kPauseForMemory));
  }
  const std::lock_guard lock(mutex_);
  Party& own = party_of(token);
  for (const bool total : {false, true}) {
    const LoadBounds::Of& bound = total ? bounds_.total : bounds_.token;
    const Turns& turns = total ? total_.turns : own.turns;
    const bool is_full = bound.turns != 0 && turns.at_work >= bound.turns;
    if (is_full && (!when_free || !has_queue(token)))
      return fail(refused(whose(total) + " as many turns at work as allowed, " + std::to_string(bound.turns),
                          pause_until(turns)));
    if (bound.waiting != 0 && (total ? waiting.in_total : waiting.of_token) >= bound.waiting)
      return fail(refused(
          whose(total) + " as many runs that wait for people as allowed, " + std::to_string(bound.waiting),
          kPauseForPeople));
  }
  if (has_turn(token)) return taken_slot(token);
  ++own.turns.queued;
  ++total_.turns.queued;
  queue_.push_back({token, std::move(when_free)});
  return Slot();
}

void Load::end_turn(const std::string& token) {
  std::vector<std::pair<WhenFree, Slot>> freed;
  {
    const std::lock_guard lock(mutex_);
    note_end(token);
    for (auto each = queue_.begin(); each != queue_.end();) {
      if (!has_turn(each->token)) {
        ++each;
        continue;
      }
      --party_of(each->token).turns.queued;
      --total_.turns.queued;
      freed.emplace_back(std::move(each->then), taken_slot(each->token));
      each = queue_.erase(each);
    }
  }
  for (auto& [then, slot] : freed) then(std::move(slot));
}

void Load::note_end(const std::string& token) {
  const Nanoseconds now = environment_->monotonic();
  for (Turns* const turns : {&party_of(token).turns, &total_.turns}) {
    --turns->at_work;
    constexpr int kWeight = 4;  // of what was before
    if (turns->ended != 0ns) {
      const Nanoseconds since = now - turns->ended;
      turns->between = turns->between == 0ns ? since : (turns->between * kWeight + since) / (kWeight + 1);
    }
    turns->ended = now;
  }
}

}  // namespace praxis::server
