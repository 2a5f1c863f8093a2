// A request to the server, taken apart: what handlers get.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_request_parser.hpp"
#include "net/http_server.hpp"
#include "praxis/base/result.hpp"
#include "praxis/base/time.hpp"
#include "praxis/domain/rights.hpp"
#include "praxis/domain/trace.hpp"
#include "praxis/json/json.hpp"

namespace praxis::server {

/// For whom a request acts.
struct Principal {
  std::string name;
  bool sees_all = false;    ///< also runs of other principals and of the command line
  std::string tenant = {};  ///< whose runs alone it sees; empty: it sees all
  std::string role = {};    ///< empty: the rights were given one by one
  Rights rights = {};
  std::vector<std::string> agents = {};  ///< the only ones that it may use; empty: all
  /// Id of a stored token, `oidc` for one of the identity provider; empty: one that the server started with.
  std::string token = {};
  bool four_eyes = false;  ///< it may not decide steps of runs that it started
  std::shared_ptr<const Json> claims =
      nullptr;             ///< of a token of the identity provider; null: of another one
  TraceContext span = {};  ///< the client's span, to which new runs belong; empty if it named none

  /// Distinguishes it from the principals of other tenants that have the same name.
  std::string account() const { return token.empty() ? name : tenant + '\0' + name; }
  bool may_use(const std::string& agent) const {
    return agents.empty() || std::ranges::find(agents, agent) != agents.end();
  }
};

/// The moment of a day that stands for the whole day.
enum class DayPart : bool { kStart, kEnd };

/// The start of a day such as `2026-01-31`, in UTC; nothing for any other text.
std::optional<UnixMillis> day_named(std::string_view text);

/// One request. Path and query are decoded.
struct Call {
  std::string method;
  std::vector<std::string> path;  ///< its segments
  std::multimap<std::string, std::string> query;
  HttpHeaders headers;
  std::string body;
  bool is_http_1_0 = false;
  std::map<std::string, std::string> names;  ///< of the route, such as `id`
  Principal principal;
  /// Answers, on any thread, a request whose handler has returned without an answer. Keeps the service as
  /// long as a copy lives. Null for handlers that return their answer.
  std::function<void(Result<HttpAnswer>)> answer = nullptr;

  /// A segment of the path that the route names.
  const std::string& name(const std::string& key) const { return names.at(key); }
  /// The query parameter, empty if it is missing.
  std::string parameter(const std::string& key) const;
  /// A number in the query. Error `kInput`: not a number from 0 to `most`.
  Result<std::size_t> number(const std::string& key, std::size_t fallback, std::size_t most) const;
  /// A time in the query, or a day, of which `part` counts; nothing if it is missing. Error `kInput`.
  Result<std::optional<UnixMillis>> time(const std::string& key, DayPart part) const;
  /// The JSON object in the body; an empty object if there is no body. Error `kInput`: not one, or a key that
  /// is not among `keys`.
  Result<JsonObject> object(std::initializer_list<std::string_view> keys) const;
};

/// A text of an object's key; empty if it is missing. Error `kInput`: not a string.
Result<std::string> text_of(const JsonObject& object, std::string_view key);

/// A truth value of an object's key; false if it is missing. Error `kInput`: not one.
Result<bool> truth_of(const JsonObject& object, std::string_view key);

/// Takes a request apart. Error `kInput`: a path or query that is not valid.
Result<Call> parse_call(ReceivedRequest request);

}  // namespace praxis::server
