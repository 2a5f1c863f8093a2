// Normalises failures of model endpoints: the kind, whether a retry can help, and how long to wait.
// Recognises every vendor's error envelope for every vendor, because gateways mix them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "praxis/json/json.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {

/// Maximum size of an error body that is read; `detail.body` keeps less.
inline constexpr std::size_t kMaxErrorBody = 64 * 1024;

/// A failure as the endpoint described it, from any known envelope. Absent fields are empty.
struct ErrorEnvelope {
  std::string message;
  std::string type;        ///< the vendor's error type, or a status name
  Json code = {};          ///< the vendor's code: a string, a number, or null
  std::string words = {};  ///< further words for the failure, separated by spaces
  int status = 0;          ///< numeric status within the envelope
  std::optional<std::int64_t> retry_after_ms = {};
};

/// Parses an envelope, which a vendor may send with any HTTP status and inside a stream; `std::nullopt` if
/// `json` is not an envelope.
std::optional<ErrorEnvelope> read_error_envelope(const Json& json);

/// The error for an envelope. `status` is the HTTP status, 0 if unknown; a 2xx is ignored. `detail` has
/// `kind` and, where known, `status`, the vendor's own `type`, `code` and `message`, `retry_after_ms`, and
/// `change`: a change to the request with which a retry can succeed although the error is not retriable
/// (`compact` the conversation, add a `note` on how to call tools, offer tools `non_strict`, send the
/// `full_history`).
Error vendor_error(const ErrorEnvelope& envelope, int status);

/// Adds information from the response's headers to an error: the delay, the request id, and `x-should-retry`,
/// which overrides everything else.
void add_headers(Error& error, const HttpHeaders& headers);

/// The error for a complete, unsuccessful HTTP response: combines envelope, status and headers. `detail` has
/// `body` if there is no envelope.
Error http_error(const HttpResponseHead& head, std::string_view body);

/// The vendor's request id, from any of the known headers; empty if absent.
std::string request_id(const HttpHeaders& headers);

/// Converts a failure of the HTTP client to a model error; `answering`: the response had begun.
Error transport_error(const Error& error, bool answering);

/// An error of this `kind` (see `ModelSink`) with the default retriability of the kind.
Error model_error(ErrorKind kind, std::string message);

/// The delay from `retry-after-ms` (milliseconds) or `retry-after` (seconds, or an HTTP date, which is
/// relative to the response's own `date` and ignored without it).
std::optional<std::int64_t> retry_after_header(const HttpHeaders& headers);
/// Parses a duration in Go's format to milliseconds: `48s`, `1m2.5s`, `644ms`.
std::optional<std::int64_t> parse_duration_ms(std::string_view text);

}  // namespace praxis
