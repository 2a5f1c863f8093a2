// The table of everything that the server answers. Dispatch, the answer 405, and the OpenAPI document follow
// from it.
#pragma once

#include <span>
#include <string_view>
#include <variant>

#include "server/problem.hpp"
#include "server/service.hpp"

namespace praxis::server {

/// Answers on a worker.
using Handler = Result<HttpAnswer> (*)(Service&, const Call&);
/// Answers later by `Call::answer`, or fails on a worker.
using LaterHandler = Status (*)(Service&, const Call&);
/// Begins a stream on a worker, or fails before it.
using StreamHandler = Status (*)(Service&, const Call&, const HttpReply&);

/// A parameter in the query, or a member of the body.
struct Field {
  std::string_view name;
  std::string_view type;  ///< `string`, `integer`, `boolean`, `object`, `array`
  std::string_view text;
  bool is_required = false;
};

struct Route {
  std::string_view method;
  std::string_view path;  ///< `{id}` stands for a segment, `{id}:end` for one with this end
  std::string_view summary;
  std::variant<Handler, LaterHandler, StreamHandler> handler;
  std::span<const Field> query = {};
  std::span<const Field> body = {};  ///< of a JSON object; empty: no body
  int success = 200;
  bool needs_token = true;
  bool has_socket = false;                      ///< an event stream that is also there as a WebSocket
  std::string_view media = "application/json";  ///< of the answer, unless it is a stream
  std::string_view body_media = {};  ///< of a body that is no JSON object; empty: `body` says what it is
};

std::span<const Route> routes();

/// The route of a call; its names are put into `call.names`. Null with `allowed` set to the methods of the
/// path, or empty if no route has it.
const Route* find_route(Call& call, std::string& allowed);

/// The OpenAPI 3.1 document of the routes.
Json openapi();

}  // namespace praxis::server
