#include "server/refusals.hpp"

#include <chrono>
#include <utility>

namespace praxis::server {
namespace {

constexpr Millis kBetweenSame = std::chrono::hours(1);
constexpr std::size_t kMostRemembered = 10'000;

}  // namespace

Refusals::Refusals(const std::string& folder, std::function<void(const std::string&)> warn)
    : log_(folder), warn_(std::move(warn)) {}

void Refusals::note(const app::AccessRefusal& refusal) {
  {
    const std::lock_guard lock(mutex_);
    if (last_.size() > kMostRemembered) last_.clear();
    auto& last = last_[{refusal.principal, refusal.right, refusal.route}];
    if (last.value != 0 && refusal.time - last < kBetweenSame) return;
    last = refusal.time;
  }
  if (auto kept = log_.add(refusal); !kept && warn_)
    warn_("the audit lacks a refusal: " + kept.error().message);
}

}  // namespace praxis::server
