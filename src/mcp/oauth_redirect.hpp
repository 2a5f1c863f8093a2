// Where a browser brings the answer of an authorisation server: an address of this machine with a port of its
// own.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "praxis/base/result.hpp"

namespace praxis {

/// The fields of an answer: `code` or `error`, and `iss`.
using OauthAnswer = std::map<std::string, std::string>;

/// Listens from `start` to its destruction. Thread-safe.
class OauthRedirect {
 public:
  /// Takes the first request for the address whose field `state` is this one; others are refused and change
  /// nothing. Error `kInput`: no port can be opened.
  static Result<std::unique_ptr<OauthRedirect>> start(const std::string& state);
  ~OauthRedirect();
  OauthRedirect(const OauthRedirect&) = delete;
  OauthRedirect& operator=(const OauthRedirect&) = delete;

  /// `http://127.0.0.1:PORT/callback`.
  const std::string& address() const;
  /// Waits for the answer. Errors: `kCancelled`; `kTool` when `limit` has passed.
  Result<OauthAnswer> wait(const std::stop_token& stop, std::chrono::milliseconds limit) const;

 private:
  class State;
  explicit OauthRedirect(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace praxis
