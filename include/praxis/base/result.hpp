// Expected failures are values. Every fallible function of Praxis returns `Result<T>`; an exception means a
// bug.
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#pragma GCC visibility push(default)
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

/// What exactly went wrong, where a program may want to tell it apart: the `kind` of the JSON form, whose
/// names `to_string` gives (`lease_held`, `not_found`, ...).
enum class ErrorKind : std::uint8_t {
  kNone,   ///< the error names no kind
  kOther,  ///< the error names a kind that this list lacks: `Error::detail` has its name
  // journals
  kNotFound,  ///< also of models, tools
  kExists,
  kLeaseLost,
  kLeaseHeld,
  kConflict,
  kReadOnly,
  kFull,
  kIo,
  kCorrupt,
  kVersion,
  kKey,  ///< what is sealed cannot be opened, or the other way round: the key is missing, wrong or needless
  // models
  kAuth,
  kBilling,
  kInvalidRequest,
  kContextOverflow,
  kContentPolicy,
  kRateLimit,
  kOverloaded,
  kServer,
  kNetwork,
  kTimeout,  ///< also of tools
  kTruncatedStream,
  kProtocol,  ///< also of HTTP, tools
  kInvalidOutput,
  // HTTP
  kDns,
  kConnect,
  kProxy,
  kTls,
  kClosed,
  kTimeoutConnect,
  kTimeoutFirstByte,
  kTimeoutIdle,
  kTimeoutTotal,
  kTooLarge,
  kAddressRefused,
  // tools
  kInvalidArguments,
  kAuthorisation,
  kMachine,  ///< the machine lacks what the call needs; nothing was run
  kException,
  kFailed,
  // sessions
  kAwaitingUser,
  kQueued,
};
/// Returns the stable lower-case name of a kind; empty for `kNone` and `kOther`.
std::string_view to_string(ErrorKind kind);
/// The inverse of `to_string`; `kNone` for an empty name, `kOther` for an unknown name.
ErrorKind error_kind_from(std::string_view name);

/// One failure. `message` is for humans: what happened, where, and what can be done. `cause` and the detail
/// are shared and immutable, so that copies are cheap. `make_error` and `fail` make errors.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  bool retriable = false;
  std::shared_ptr<const Error> cause = nullptr;
  std::shared_ptr<const Json> facts = nullptr;  ///< `detail`; null without facts

  /// Facts for programs: an object, or null without facts. Lives as long as this error and its copies.
  const Json& detail() const;
  /// The `kind` in the detail.
  ErrorKind kind() const;
  /// Adds a member to the detail or replaces it; returns this error. Does not change copies made before.
  Error& set(std::string_view name, std::string_view text);
  Error& set(std::string_view name, std::int64_t number);
  Error& set_value(std::string_view name, const Json& value);
};

Error make_error(ErrorCode code, std::string message, bool retriable = false);
Error make_error(ErrorCode code, ErrorKind kind, std::string message, bool retriable = false);

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

/// `return fail(ErrorCode::kInput, "...")` from any function that returns a `Result`.
inline std::unexpected<Error> fail(ErrorCode code, std::string message, bool retriable = false) {
  return std::unexpected(make_error(code, std::move(message), retriable));
}
inline std::unexpected<Error> fail(ErrorCode code, ErrorKind kind, std::string message,
                                   bool retriable = false) {
  return std::unexpected(make_error(code, kind, std::move(message), retriable));
}
inline std::unexpected<Error> fail(Error error) { return std::unexpected(std::move(error)); }

}  // namespace praxis
#pragma GCC visibility pop
