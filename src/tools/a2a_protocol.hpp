// What a client reads of the Agent2Agent protocol 1.0, within bounds: cards, tasks, messages and errors. Does
// no I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "praxis/json/json.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis::a2a {

inline constexpr std::size_t kMostCard = std::size_t{256} * 1024;         ///< bytes of a card
inline constexpr std::size_t kMostAnswer = std::size_t{4} * 1024 * 1024;  ///< bytes of an answer, an event
inline constexpr std::size_t kMostStream = std::size_t{8} * 1024 * 1024;  ///< bytes of one stream
inline constexpr std::size_t kMostId = 256;                               ///< bytes of an id
inline constexpr std::size_t kMostShown = 2000;                           ///< bytes of a text for people
inline constexpr JsonLimits kJson{.max_depth = 64, .max_bytes = kMostAnswer};

/// Where and how an agent is reached.
struct Interface {
  std::string url;      ///< without `/` at the end
  bool is_rpc = false;  ///< JSON-RPC; else HTTP+JSON
  std::string tenant;
  bool streams = false;
};
/// The first interface of a card that this client speaks. `home`: the address that the user wrote. Error
/// `kTool`: it is missing, its address has another scheme, host or port, or the agent requires an extension.
Result<Interface> interface_of(const Json& card, const Url& home);

/// Whether a text can be an id: visible ASCII of at most `kMostId` characters.
bool is_id(std::string_view text);
/// A foreign text, safe to display.
std::string shown(std::string_view text, std::size_t most = kMostShown);

/// How far a task is.
enum class Phase : std::uint8_t { kWorking, kWaiting, kDone, kFailed };
Phase phase_of(std::string_view state);

/// A task within the bounds.
struct Task {
  std::string id;
  std::string context;  ///< may be empty
  std::string state;    ///< such as `completed`; `unknown` for one that the protocol does not have
  std::string text;     ///< of its artifacts; if it has none, of the message of its status
  std::string said;     ///< the message of its status, safe to display
  std::string mark;     ///< differs when the status differs
};
/// Error `kTool`: not a task, or one with an unusable id.
Result<Task> read_task(const Json& json, std::size_t most_text);
Json to_json(const Task& task);
/// The inverse of `to_json`. `std::nullopt`: `json` is not a task.
std::optional<Task> task_from(const Json& json);

/// The text of the parts of a message or an artifact: texts, and `data` as JSON. Files are named only.
std::string text_of_parts(const Json& parts, std::size_t most);
/// The error that an error object of JSON-RPC, or of the body of an HTTP error, reports.
Error reported(const Json& error);

}  // namespace praxis::a2a
