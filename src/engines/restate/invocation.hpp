// One invocation of Restate's service protocol, versions 5 and 6, in the mode of request and response: what a
// request says of it, and the bytes of each answer. The invocation is used as a log: each run of it holds one
// batch (batch.hpp). Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/base/time.hpp"

namespace praxis::restate {

inline constexpr std::uint32_t kCancelSignal = 1;
inline constexpr std::uint32_t kFirstAwakeable = 17;  ///< lower signals are the protocol's own
inline constexpr std::string_view kAwakeableState = "awakeable";

/// A timer of the invocation that has not fired.
struct OpenSleep {
  std::uint32_t completion = 0;
  UnixMillis until;
};

/// What a request says of its invocation.
struct Invocation {
  std::string id;         ///< bytes
  std::string name;       ///< the id as text
  std::string key;        ///< of the virtual object
  std::string awakeable;  ///< in the state of the object: what the last suspension waited for; may be empty
  std::vector<std::string> batches = {};       ///< the values of the completed runs, in order
  std::optional<std::uint32_t> open_run = {};  ///< the completion id of a run without a value
  std::optional<OpenSleep> open_sleep = {};
  std::uint32_t next_completion = 1;
  std::uint32_t next_signal = kFirstAwakeable;
  std::uint32_t sleeps = 0;  ///< since the last batch
  bool cancelled = false;
  bool has_output = false;
};

/// Reads the body of a request. Error `kInput`, `protocol`: malformed, or with entries that Praxis never
/// writes.
Result<Invocation> read_invocation(std::string_view body);

/// The id by which a signal of the invocation is sent from outside.
std::string awakeable_id(const Invocation& invocation, std::uint32_t signal);

// Answers, each whole and checked by no one yet (guard.hpp).

/// Adds a batch to the log. The next request has it among its batches.
std::string propose(const Invocation& invocation, std::string_view batch);
/// Waits for the next awakeable, a cancellation, or a moment.
std::string suspend(const Invocation& invocation, UnixMillis until);
/// Ends the invocation.
std::string finish(const Invocation& invocation);
/// Ends an invocation that lets the one whose awakeable is in the state of the object continue.
std::string wake(const Invocation& invocation);
/// Lets the engine try again later. The message is for its operator.
std::string refuse(std::string_view message, Millis delay);

}  // namespace praxis::restate
