// The handle of a subscription to events.
#pragma once

#include <memory>
#include <utility>

#pragma GCC visibility push(default)
namespace praxis {

/// Keeps a handler subscribed until this object is destroyed or `cancel` is called. Move-only. A call of the
/// handler that has begun on another thread may still be running when it ends.
class [[nodiscard]] Subscription {
 public:
  Subscription() = default;
  explicit Subscription(std::shared_ptr<void> entry) : entry_(std::move(entry)) {}
  Subscription(Subscription&&) noexcept = default;
  Subscription& operator=(Subscription&&) noexcept = default;
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;
  ~Subscription() = default;

  /// Ends the subscription. No-op when it has ended.
  void cancel() { entry_.reset(); }
  bool active() const { return entry_ != nullptr; }

 private:
  std::shared_ptr<void> entry_;
};

}  // namespace praxis
#pragma GCC visibility pop
