// Failures of model endpoints in one form: what kind, whether a retry can help, how long to wait first. Knows
// every vendor's error envelope, because gateways mix them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "praxis/json/json.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {

/// The longest error body that is read; `detail.body` keeps less.
inline constexpr std::size_t kMaxErrorBody = 64 * 1024;

/// What an endpoint said of a failure, in any of the known envelopes. Fields are empty when unsaid.
struct ErrorEnvelope {
  std::string message;
  std::string type;        ///< the vendor's type, or the name of a status
  Json code = {};          ///< the vendor's code: a text, a number, or null
  std::string words = {};  ///< further names of what is wrong, separated by spaces
  int status = 0;          ///< a numeric code within the envelope
  std::optional<std::int64_t> retry_after_ms = {};
};

/// The envelope, when `json` is one: what a vendor may send with any status, and inside a stream.
std::optional<ErrorEnvelope> read_error_envelope(const Json& json);

/// The error for an envelope. `status` is the HTTP status, 0 for none; a 2xx does not count. `detail` has
/// `kind` and, where known, `status`, the vendor's own `type`, `code` and `message`, `retry_after_ms`, and
/// `change`: what makes another try worth while although the error is not retriable (`compact` the
/// conversation, add a `note` on how to call tools, offer tools `non_strict`, send the `full_history`).
Error vendor_error(const ErrorEnvelope& envelope, int status);

/// Adds what a response's headers say to an error that it carried, even in its body: the delay, the id, and
/// `x-should-retry`, which overrides everything else.
void add_headers(Error& error, const HttpHeaders& headers);

/// The error for a whole HTTP response that is none of success: envelope, status and headers together.
/// `detail` holds `body` when there is no envelope.
Error http_error(const HttpResponseHead& head, std::string_view body);

/// The vendor's id of an exchange, under any of the names in use; empty when there is none.
std::string request_id(const HttpHeaders& headers);

/// A failure of the HTTP client as a model error; `answering` says that the response had begun.
Error transport_error(const Error& error, bool answering);

/// An error of this `kind` (the words of `ModelSink`) with its usual retriability.
Error model_error(std::string_view kind, std::string message);

/// The delay asked for by `retry-after-ms` (milliseconds) or `retry-after` (seconds, or an HTTP date, which
/// is read against the response's own `date` and means nothing without it).
std::optional<std::int64_t> retry_after_header(const HttpHeaders& headers);
/// A duration as Go writes it, in milliseconds: `48s`, `1m2.5s`, `644ms`.
std::optional<std::int64_t> parse_duration_ms(std::string_view text);

}  // namespace praxis
