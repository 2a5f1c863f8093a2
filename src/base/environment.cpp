#include "praxis/base/environment.hpp"

#include <pthread.h>
#include <sys/random.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <system_error>
#include <tuple>
#include <utility>

namespace praxis {

namespace {

class SystemEnvironment final : public Environment {
 public:
  UnixMillis now() override {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return {std::chrono::duration_cast<Millis>(since_epoch).count()};
  }

  std::chrono::nanoseconds monotonic() override {
    return std::chrono::steady_clock::now().time_since_epoch();
  }

  std::uint64_t random() override {
    thread_local RandomBits bits;
    return bits.next();
  }

 private:
  /// Random numbers of one thread, read from the kernel 32 at a time: a session needs three. A forked process
  /// discards the numbers that its parent has read.
  class RandomBits {
   public:
    std::uint64_t next() {
      if (left_ == 0 || forks_seen_ != forks()) refill();
      return std::exchange(numbers_[--left_], 0);
    }

   private:
    /// Returns the number of forks between the first caller's process and this one.
    static unsigned forks() {
      static std::atomic<unsigned> count = 0;
      static const int registered = pthread_atfork(nullptr, nullptr, [] { ++count; });
      std::ignore = registered;
      return count;
    }
    void refill() {
      // getrandom returns up to 256 bytes in full; only a signal during the kernel's start-up can interrupt
      // it.
      while (getrandom(numbers_.data(), sizeof numbers_, 0) < 0) {
        if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "getrandom");
      }
      left_ = numbers_.size();
      forks_seen_ = forks();
    }

    std::array<std::uint64_t, 32> numbers_{};
    std::size_t left_ = 0;
    unsigned forks_seen_ = 0;
  };
};

class FixedEnvironment final : public Environment {
 public:
  FixedEnvironment(std::uint64_t seed, UnixMillis start) : start_(start), seed_(seed) {}

  UnixMillis now() override { return start_ + Millis{calls_++}; }

  std::chrono::nanoseconds monotonic() override { return Millis{calls_.load()}; }

  std::uint64_t random() override {
    // SplitMix64: its state is a counter, so one atomic addition makes it thread-safe.
    std::uint64_t z = seed_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  const UnixMillis start_;
  std::atomic<std::int64_t> calls_ = 0;
  std::atomic<std::uint64_t> seed_;
};

// Appends `value` as `digits` characters of Crockford base 32, most significant first.
void append_base32(std::string& out, std::uint64_t value, int digits) {
  constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  for (int shift = 5 * (digits - 1); shift >= 0; shift -= 5) out += kAlphabet[value >> shift & 31];
}

}  // namespace

std::string Environment::new_id() {
  std::string id;
  id.reserve(26);
  append_base32(id, static_cast<std::uint64_t>(now().value), 10);  // 48 bits of time
  append_base32(id, random(), 8);                                  // followed by 80 bits of randomness
  append_base32(id, random(), 8);
  return id;
}

std::shared_ptr<Environment> system_environment() { return std::make_shared<SystemEnvironment>(); }

std::shared_ptr<Environment> fixed_environment(std::uint64_t seed, UnixMillis start) {
  return std::make_shared<FixedEnvironment>(seed, start);
}

}  // namespace praxis
