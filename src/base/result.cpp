#include "praxis/base/result.hpp"

#include "base/exhausted.hpp"

#include <array>
#include <boost/json/object.hpp>
#include <iterator>

namespace praxis {

namespace {

// In the order of the enumerators.
constexpr std::string_view kCodeNames[] = {"model",     "tool",    "policy", "limit",
                                           "cancelled", "journal", "input",  "internal"};

constexpr std::array<std::string_view, 44> kKindNames{"",
                                                      "",
                                                      "not_found",
                                                      "exists",
                                                      "lease_lost",
                                                      "lease_held",
                                                      "conflict",
                                                      "read_only",
                                                      "full",
                                                      "io",
                                                      "corrupt",
                                                      "version",
                                                      "key",
                                                      "auth",
                                                      "billing",
                                                      "invalid_request",
                                                      "context_overflow",
                                                      "content_policy",
                                                      "rate_limit",
                                                      "overloaded",
                                                      "server",
                                                      "network",
                                                      "timeout",
                                                      "truncated_stream",
                                                      "protocol",
                                                      "invalid_output",
                                                      "dns",
                                                      "connect",
                                                      "proxy",
                                                      "tls",
                                                      "closed",
                                                      "timeout_connect",
                                                      "timeout_first_byte",
                                                      "timeout_idle",
                                                      "timeout_total",
                                                      "too_large",
                                                      "address_refused",
                                                      "invalid_arguments",
                                                      "authorisation",
                                                      "machine",
                                                      "exception",
                                                      "failed",
                                                      "awaiting_user",
                                                      "queued"};
static_assert(kKindNames.size() == static_cast<std::size_t>(ErrorKind::kQueued) + 1);

boost::json::string_view json_view(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

std::string_view to_string(ErrorCode code) { return kCodeNames[static_cast<std::size_t>(code)]; }

ErrorCode error_code_from(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kCodeNames); ++i) {
    if (kCodeNames[i] == name) return static_cast<ErrorCode>(i);
  }
  return ErrorCode::kInternal;
}

std::string_view to_string(ErrorKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

ErrorKind error_kind_from(std::string_view name) {
  if (name.empty()) return ErrorKind::kNone;
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    if (kKindNames[i] == name) return static_cast<ErrorKind>(i);
  }
  return ErrorKind::kOther;
}

const Json& Error::detail() const {
  static const Json none;
  return facts ? *facts : none;
}

bool is_exhausted(const Error& error) {
  const auto* object = error.detail().if_object();
  const Json* kind = object == nullptr ? nullptr : object->if_contains("kind");
  return kind != nullptr && kind->is_string() && kind->get_string() == json_view(kExhausted);
}

ErrorKind Error::kind() const {
  const auto* object = detail().if_object();
  const Json* kind = object == nullptr ? nullptr : object->if_contains("kind");
  if (kind == nullptr || !kind->is_string()) return ErrorKind::kNone;
  return error_kind_from({kind->get_string().data(), kind->get_string().size()});
}

Error& Error::set(std::string_view name, std::string_view text) { return set_value(name, json_view(text)); }

Error& Error::set(std::string_view name, std::int64_t number) { return set_value(name, number); }

Error& Error::set_value(std::string_view name, const Json& value) {
  Json changed = detail().is_object() ? detail() : boost::json::object{};
  changed.get_object()[json_view(name)] = value;
  facts = std::make_shared<const Json>(std::move(changed));
  return *this;
}

Error make_error(ErrorCode code, std::string message, bool retriable) {
  return {code, std::move(message), retriable};
}

Error make_error(ErrorCode code, ErrorKind kind, std::string message, bool retriable) {
  return make_error(code, std::move(message), retriable).set("kind", to_string(kind));
}

}  // namespace praxis
