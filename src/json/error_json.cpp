// The JSON form of errors.
#include <boost/json/object.hpp>

#include "json/fields.hpp"
#include "praxis/json/json.hpp"

namespace praxis {

void write(JsonFields& out, const Error& error) {
  out.text("code", to_string(error.code));
  out.text("message", error.message);
  out.flag("retriable", error.retriable);
  if (!error.detail().is_null()) out.value("detail", error.detail());
  if (error.cause) out.object("cause", [&](JsonFields& cause) { write(cause, *error.cause); });
}

Json to_json(const Error& error) {
  return object_of([&](JsonFields& out) { write(out, error); });
}

Error error_from_json(const Json& json) {
  Error error;
  error.code = error_code_from(json_string(json, "code"));
  error.message = json_string(json, "message");
  error.retriable = json_bool(json, "retriable");
  if (const Json& detail = json_at(json, "detail"); !detail.is_null()) {
    error.facts = std::make_shared<const Json>(detail);
  }
  if (const Json& cause = json_at(json, "cause"); cause.is_object()) {
    error.cause = std::make_shared<const Error>(error_from_json(cause));
  }
  return error;
}

}  // namespace praxis
