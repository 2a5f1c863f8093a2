// Captures an output stream: keeps its head and its tail.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace praxis::supervisor {

class CapturedOutput {
 public:
  /// Keeps `limit` bytes, half of them from the beginning.
  explicit CapturedOutput(std::size_t limit) : head_limit_(limit - limit / 2), tail_limit_(limit / 2) {}

  void add(std::string_view bytes) {
    total_ += bytes.size();
    const std::string_view front = bytes.substr(0, head_limit_ - head_.size());
    head_ += front;
    tail_ += bytes.substr(front.size());
    // Not after each piece: that would move the whole tail for every byte.
    if (tail_.size() > 2 * tail_limit_ + 65536) trim();
  }
  /// Completes `head` and `tail`; call it after the last `add`.
  void finish() {
    trim();
    if (head_.size() + tail_.size() == total_) {
      head_ += tail_;
      tail_.clear();
    }
  }
  const std::string& head() const { return head_; }
  const std::string& tail() const { return tail_; }
  std::uint64_t total() const { return total_; }

 private:
  void trim() {
    if (tail_.size() > tail_limit_) tail_.erase(0, tail_.size() - tail_limit_);
  }

  std::size_t head_limit_, tail_limit_;
  std::string head_, tail_;
  std::uint64_t total_ = 0;
};

}  // namespace praxis::supervisor
