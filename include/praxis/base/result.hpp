// Expected failures are values. Every fallible function of Praxis returns `Result<T>`; an exception means a
// bug.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace praxis {

/// A JSON value: the one third-party type that appears in public headers.
using Json = boost::json::value;

/// The kind of a failure; decides the exit status and whether a retry can help.
enum class ErrorCode : std::uint8_t {
  kModel,      ///< the model endpoint: network, authentication, status, malformed response
  kTool,       ///< a tool failed, timed out, or does not exist
  kPolicy,     ///< a rule or an approver denied it
  kLimit,      ///< a limit of the run was reached
  kCancelled,  ///< the caller or a user cancelled it
  kJournal,    ///< the journal: unreadable, altered, full, owned by another process
  kInput,      ///< the caller's input: arguments, files, configuration
  kInternal,   ///< a broken invariant inside Praxis
};

/// Returns the stable lower-case name of a code, as it appears in JSON ("model", "tool", ...).
std::string_view to_string(ErrorCode code);
/// The inverse of `to_string`; `kInternal` for an unknown name.
ErrorCode error_code_from(std::string_view name);

/// One failure. `message` is for humans: what happened, where, and what can be done. `detail` is for programs
/// (null when there is nothing to add). `cause` is shared and immutable.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  bool retriable = false;
  std::shared_ptr<const Error> cause;
  Json detail;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

/// `return fail(ErrorCode::kInput, "...")` from any function that returns a `Result`.
inline std::unexpected<Error> fail(ErrorCode code, std::string message, bool retriable = false) {
  return std::unexpected(Error{code, std::move(message), retriable, nullptr, nullptr});
}
inline std::unexpected<Error> fail(Error error) { return std::unexpected(std::move(error)); }

}  // namespace praxis
