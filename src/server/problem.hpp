// Answers of the server: JSON, and refusals as problem documents (RFC 9457).
#pragma once

#include <string>

#include "net/http_server.hpp"
#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"

namespace praxis::server {

HttpAnswer json_answer(const Json& body, int status = 200);
/// `{type, title, status, detail, code, kind?, hint?, field?, right?}` with the media type
/// `application/problem+json`.
HttpAnswer problem(int status, const Error& error);
/// With the status that fits the error.
HttpAnswer problem(const Error& error);
/// The status that fits an error: 400 for wrong input, 404, 409 for a run that is busy or exists, 403 for a
/// rule, 429 for a limit, 503 for what may work later, 500 for the rest.
int status_of(const Error& error);

/// An error in the request that names the wrong field.
Error field_error(const std::string& field, const std::string& reason);
/// Error `kNotFound`: there is no `what` of this name, or the caller may not see it.
Error not_found(const std::string& what, const std::string& name);
/// Error `kConflict`.
Error conflict(const std::string& reason);

}  // namespace praxis::server
