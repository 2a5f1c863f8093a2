#include "models/rate_limit.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "base/ascii.hpp"
#include "models/vendor_error.hpp"
#include "praxis/base/dates.hpp"

namespace praxis {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongestHold{60'000};

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// One rate-limit window. Headers name it, for example, `requests`, `input-tokens` or `tokens-minute`, or
/// leave it unnamed.
struct Said {
  std::optional<std::int64_t> remaining, limit;
  std::optional<milliseconds> reset;
};

/// The time until a reset, given as a duration, in seconds, or as a point in time.
std::optional<milliseconds> reset_in(std::string_view text, std::optional<UnixMillis> now) {
  constexpr double kEpoch =
      1e11;  // larger numbers are epoch milliseconds; as seconds they would be thousands of years
  constexpr double kFarthest = 1e15;  // larger numbers and `nan` are not valid times
  if (const auto value = number<double>(text)) {
    if (!(std::abs(*value) < kFarthest)) return std::nullopt;
    if (*value < kEpoch) return milliseconds(static_cast<std::int64_t>(*value * 1000));
    if (!now) return std::nullopt;
    return UnixMillis{static_cast<std::int64_t>(*value)} - *now;
  }
  if (const auto at = from_iso8601(text)) return now ? std::optional(*at - *now) : std::nullopt;
  if (const auto ms = parse_duration_ms(text)) return milliseconds(*ms);
  return std::nullopt;
}

std::map<std::string, Said> read_windows(const HttpHeaders& headers) {
  std::map<std::string, Said> windows;
  for (const auto& [name, value] : headers) {
    constexpr std::string_view kPrefix = "ratelimit-";
    const auto same = [](char a, char b) { return lower_case(a) == b; };
    const auto found_at = std::ranges::search(name, kPrefix, same);
    if (found_at.empty()) continue;
    const std::string key = lower_case({found_at.end(), name.end()});
    for (const std::string_view field : {"remaining", "limit", "reset"}) {
      const std::size_t found = key.find(field);
      if (found == key.npos) continue;
      std::string window = key;
      window.erase(found, field.size());
      std::erase(window, '-');
      Said& said = windows[window];
      if (field == "remaining") said.remaining = number<std::int64_t>(value);
      if (field == "limit") said.limit = number<std::int64_t>(value);
      if (field == "reset")
        said.reset = reset_in(value, from_http_date(find_header(headers, "date").value_or("")));
      break;
    }
  }
  return windows;
}

}  // namespace

std::map<Resource, Allowance> read_allowances(const HttpHeaders& headers) {
  std::map<Resource, Allowance> out;
  for (const auto& [name, said] : read_windows(headers)) {
    if (!said.remaining || !said.reset || *said.reset > kLongestHold || *said.reset <= milliseconds{0})
      continue;
    const Resource resource = name.contains("token") ? Resource::kTokens : Resource::kRequests;
    const Allowance allowance{std::max<std::int64_t>(*said.remaining, 0), said.limit.value_or(0),
                              *said.reset};
    const auto [known, is_new] = out.try_emplace(resource, allowance);
    if (!is_new && allowance.remaining < known->second.remaining) known->second = allowance;
  }
  return out;
}

/// Whether the known windows permit a request; if so, counts it. A request that exceeds the limit itself is
/// admitted: waiting would not help, and the endpoint's own error is the best explanation.
bool RateGate::admit(std::int64_t tokens) {
  const auto lacks = [&](Resource resource, std::int64_t amount) {
    const auto window = windows_.find(resource);
    if (window == windows_.end() || window->second.remaining >= amount) return false;
    return window->second.limit == 0 || amount <= window->second.limit;
  };
  if (lacks(Resource::kRequests, 1) || lacks(Resource::kTokens, std::max<std::int64_t>(tokens, 1)))
    return false;
  if (const auto requests = windows_.find(Resource::kRequests); requests != windows_.end()) {
    --requests->second.remaining;
  }
  if (const auto left = windows_.find(Resource::kTokens); left != windows_.end()) {
    left->second.remaining = std::max<std::int64_t>(left->second.remaining - tokens, 0);
  }
  return true;
}

/// The time until the last of the windows is renewed.
milliseconds RateGate::until_reset() const {
  milliseconds longest{0};
  const auto now = std::chrono::steady_clock::now();
  for (const auto& [resource, window] : windows_)
    longest = std::max(longest, std::chrono::ceil<milliseconds>(window.reset - now));
  return longest;
}

void RateGate::pass(std::int64_t tokens, std::stop_token stop, std::move_only_function<void(bool)> go,
                    const std::function<void(milliseconds)>& held) {
  milliseconds expected{0};
  {
    std::unique_lock lock(mutex_);
    if (waiters_.empty() && admit(tokens)) {
      lock.unlock();
      return go(true);
    }
    expected = until_reset();
  }
  if (held) held(expected);  // before the request can go on elsewhere
  auto waiter = std::make_shared<Waiter>();
  waiter->tokens = tokens;
  waiter->go = std::move(go);
  waiter->stopped.emplace(stop, [weak = weak_from_this(), weak_waiter = std::weak_ptr(waiter)] {
    const auto self = weak.lock();
    const auto waiting = weak_waiter.lock();
    if (self && waiting) self->cancel(waiting);
  });
  {
    const std::lock_guard lock(mutex_);
    waiters_.push_back(waiter);
  }
  if (stop.stop_requested())
    return cancel(waiter);  // stop may have been requested before the waiter was queued
  release();                // a window may have opened meanwhile
}

void RateGate::cancel(const std::shared_ptr<Waiter>& waiter) {
  {
    const std::lock_guard lock(mutex_);
    if (std::erase(waiters_, waiter) == 0) return;  // already admitted
  }
  // Not on this thread: the stop callback that called us must return before its waiter may be destroyed.
  executor_->post([waiter] { waiter->go(false); });
}

void RateGate::learn(const HttpHeaders& headers, std::optional<milliseconds> retry_after) {
  auto allowances = read_allowances(headers);
  if (retry_after && *retry_after > milliseconds{0} && *retry_after <= kLongestHold) {
    allowances[Resource::kRequests] = {0, 0, *retry_after};
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [resource, allowance] : allowances) close(resource, allowance);
}

/// Admits only the remaining allowance until the reset.
void RateGate::close(Resource resource, const Allowance& allowance) {
  Window& window = windows_[resource];
  if (window.timer != 0) executor_->cancel(window.timer);
  window = {allowance.remaining, allowance.limit,
            executor_->after(allowance.reset,
                             [weak = weak_from_this(), resource] {
                               if (const auto self = weak.lock()) self->open(resource);
                             }),
            std::chrono::steady_clock::now() + allowance.reset};
}

void RateGate::open(Resource resource) {
  {
    const std::lock_guard lock(mutex_);
    windows_.erase(resource);
  }
  release();
}

/// Admits waiting requests in order, as far as the allowance suffices.
void RateGate::release() {
  Waiters admitted;
  {
    const std::lock_guard lock(mutex_);
    while (!waiters_.empty() && admit(waiters_.front()->tokens)) {
      admitted.splice(admitted.end(), waiters_, waiters_.begin());
    }
  }
  for (const auto& waiter : admitted) {
    waiter->stopped.reset();
    waiter->go(true);
  }
}

}  // namespace praxis
