// How much clients may ask of the server, each of them and all together. What exceeds it is refused, with the
// time after which the client should try again; work that has begun is never given up.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "praxis/base/environment.hpp"
#include "praxis/base/result.hpp"

namespace praxis::server {

/// The bounds; 0 sets no bound.
struct LoadBounds {
  struct Of {
    std::uint64_t requests = 0;  ///< a second; as many may come at once
    std::uint64_t bytes = 0;     ///< of their bodies, a second; a longer body is followed by a pause
    std::uint64_t turns = 0;     ///< at work at the same time
    std::uint64_t waiting = 0;   ///< runs that wait for people
    std::uint64_t queue = 0;     ///< new runs that wait until fewer turns are at work; 0 in both: none waits
  };
  Of token;                  ///< of each token
  Of total;                  ///< of all together
  std::uint64_t memory = 0;  ///< resident bytes of the server beyond which no turn begins
};

/// Sets the bound that `text` names, such as `turns=20`, `total-bytes=10MiB` or `memory=2GiB`. Error
/// `kInput`.
Status read_bound(std::string_view text, LoadBounds& bounds);

/// Resident bytes of this process; 0 if the system does not say.
std::uint64_t resident_memory();

/// Bytes of memory that the machine, or the control group of this process, has; 0 if the system does not say.
std::uint64_t present_memory();

/// Thread-safe. Errors of its functions are `kLimit` and have `retry_after`, in seconds.
class Load : public std::enable_shared_from_this<Load> {
 public:
  /// A turn that counts as at work until this is dropped; null: it waits.
  using Slot = std::shared_ptr<void>;
  /// How many runs wait for people.
  struct Waiting {
    std::uint64_t of_token = 0, in_total = 0;
  };

  Load(LoadBounds bounds, std::shared_ptr<Environment> environment,
       std::function<std::uint64_t()> memory = resident_memory);

  /// Counts a request of a token, whose body has `bytes`. Error: it is to be refused.
  Status take(const std::string& token, std::uint64_t bytes);
  /// Whether `begin_turn` needs to know who waits.
  bool bounds_waiting() const { return bounds_.token.waiting != 0 || bounds_.total.waiting != 0; }
  /// Gets the slot of a turn that had to wait, on the thread that ended another turn; must return soon.
  using WhenFree = std::function<void(Slot)>;
  /// A turn for a token. With `when_free`, null if it waits until another one ends. Errors: too many are at
  /// work or wait; kind `kOverloaded`: too much memory is in use.
  Result<Slot> begin_turn(const std::string& token, const Waiting& waiting, WhenFree when_free = nullptr);
  /// How many turns wait until others end.
  std::size_t queued();

 private:
  using Nanoseconds = std::chrono::nanoseconds;
  /// What is left of an amount that grows by `rate` in a second, to `rate` at most.
  struct Bucket {
    std::uint64_t rate = 0;
    double left = 0;
    Nanoseconds at{0};

    void refill(Nanoseconds now);
    void take(std::uint64_t amount);
    /// How long until `amount` may be taken; 0: now.
    double seconds_until(std::uint64_t amount) const;
  };
  struct Turns {
    std::uint64_t at_work = 0, queued = 0;
    Nanoseconds ended{0};    ///< the last one
    Nanoseconds between{0};  ///< two ends, about
  };
  struct Party {
    Bucket requests, bytes;
    Turns turns;
  };

  Party& party_of(const std::string& token);
  Party made(const LoadBounds::Of& bounds) const;
  void end_turn(const std::string& token);
  void note_end(const std::string& token);
  bool has_turn(const std::string& token);
  bool has_queue(const std::string& token);
  Slot taken_slot(const std::string& token);
  std::int64_t pause_until(const Turns& turns) const;

  struct Queued {
    std::string token;
    WhenFree then;
  };

  const LoadBounds bounds_;
  const std::shared_ptr<Environment> environment_;
  const std::function<std::uint64_t()> memory_;
  std::mutex mutex_;  // guards the next members
  std::map<std::string, Party> tokens_;
  Party total_;
  std::deque<Queued> queue_;
};

}  // namespace praxis::server
