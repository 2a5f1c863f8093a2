// The errors of A2A 1.0 in both of its bindings.
#pragma once

#include <string>
#include <string_view>

#include "server/problem.hpp"

namespace praxis::server {

/// An error that the protocol names, such as `TASK_NOT_FOUND`.
Error a2a_error(std::string_view reason, const std::string& message);
/// The answer of HTTP+JSON: a `google.rpc.Status`.
HttpAnswer a2a_problem(const Error& error);
/// The same for a refusal that was made before the request reached the protocol.
HttpAnswer a2a_problem(const HttpAnswer& problem);
/// The answer of JSON-RPC to the request `id`.
HttpAnswer a2a_rpc_problem(const Json& id, const Error& error);

}  // namespace praxis::server
