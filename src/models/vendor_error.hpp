// Failures of model endpoints in one form: what kind, whether a retry can help, how long to wait first. Knows
// every vendor's error envelope, because gateways mix them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "praxis/base/http_client.hpp"
#include "praxis/base/json.hpp"

namespace praxis {

/// The longest error body that is read; `detail.body` keeps less.
inline constexpr std::size_t kMaxErrorBody = 64 * 1024;

/// What an endpoint said of a failure, in any of the known envelopes. Fields are empty when unsaid.
struct ErrorEnvelope {
  std::string message;
  std::string code;  ///< and the vendor's type and status names, separated by spaces
  int status = 0;    ///< a numeric code within the envelope
  std::optional<std::int64_t> retry_after_ms;
};

/// The envelope, when `json` is one: what a vendor may send with any status, and inside a stream.
std::optional<ErrorEnvelope> read_error_envelope(const Json& json);

/// The error for an envelope. `status` is the HTTP status, 0 for none; a 2xx does not count.
Error vendor_error(const ErrorEnvelope& envelope, int status);

/// The error for a whole HTTP response that is none of success: envelope, status, `x-should-retry` and the
/// delay headers together. `detail` has `kind`, `status`, and where known `retry_after_ms`, `code`,
/// `request_id`, `body`.
Error http_error(const HttpResponseHead& head, std::string_view body);

/// A failure of the HTTP client as a model error; `answering` says that the response had begun.
Error transport_error(const Error& error, bool answering);

/// An error of this `kind` (the words of `ModelSink`) with its usual retriability.
Error model_error(std::string_view kind, std::string message);

/// The delay asked for by `retry-after-ms` (milliseconds) or `retry-after` (seconds, or an HTTP date, which
/// is read against the response's own `date`).
std::optional<std::int64_t> retry_after_header(const HttpHeaders& headers);
/// A duration as Go writes it, in milliseconds: `48s`, `1m2.5s`, `644ms`.
std::optional<std::int64_t> parse_duration_ms(std::string_view text);

}  // namespace praxis
