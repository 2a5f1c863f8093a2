#include "mcp/held_calls.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "praxis/base/digest.hpp"
#include "praxis/base/reach.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMostHeld = 64;
constexpr std::size_t kMostAddresses = 8;
constexpr int kRpcAddressesRequired = -32042;
constexpr const char* kQuestion = "question";  ///< name of the request; the server gave none
constexpr std::string_view kAgain = "again";   ///< the state of a call that was refused, not begun

constexpr std::size_t kDigestBytes = 16;  ///< that tell questions apart

/// Tells apart the calls of all processes, and ends with a digest of the question.
std::string new_state(const Json& question) {
  std::random_device random;
  return "open " + std::to_string(random()) + std::to_string(random()) + ' ' +
         digest_of(to_json_text(question)).hex(kDigestBytes);
}

const JsonArray* addresses_in(const Error& error) {
  return json_at(json_at(error.detail(), "rpc_data"), "elicitations").if_array();
}

}  // namespace

HeldCalls::~HeldCalls() {
  for (const Held& each : held_) each.connection->abandon(each.open);
}

McpResult HeldCalls::hold(std::shared_ptr<McpConnection> connection, McpOpenRequest open) {
  McpResult result;
  result.input =
      McpInput{{{kQuestion, JsonObject{{"method", open.asked.method}, {"params", open.asked.params}}}},
               new_state(open.asked.params)};
  const std::lock_guard lock(mutex_);
  if (held_.size() == kMostHeld) {
    held_.front().connection->abandon(held_.front().open);
    held_.pop_front();
  }
  held_.push_back({*result.input->state, std::move(connection), std::move(open)});
  return result;
}

Result<Json> HeldCalls::answer(const std::string& state, const JsonObject& answers,
                               const McpRequest& request) {
  const auto lost = [](const char* why, Reach reach) {
    return fail(with_reach(make_error(ErrorCode::kTool, ErrorKind::kClosed, why), reach));
  };
  if (state == kAgain)
    return lost(
        "the server wants an address to be opened first, and the "
        "person declined",
        Reach::kAnswered);
  std::optional<Held> held;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(held_, state, &Held::state);
    if (found != held_.end()) {
      held = std::move(*found);
      held_.erase(found);
    }
  }
  if (!held || !held->connection->is_open())
    return lost(
        "the server asked in the middle of the call, and the "
        "connection of the call has ended before the answer "
        "came; whether the call took effect is not known",
        Reach::kSent);
  const Json* const given = answers.if_contains(kQuestion);
  return held->connection->go_on(held->open, given != nullptr ? *given : Json(nullptr), request);
}

bool HeldCalls::holds(const std::string& state) {
  const std::lock_guard lock(mutex_);
  return std::ranges::find(held_, state, &Held::state) != held_.end();
}

bool HeldCalls::asks_the_same(const std::string& state, const McpInput& input) {
  const auto digest = [](const std::string& text) { return text.substr(text.rfind(' ') + 1); };
  return input.state && state.starts_with("open ") && digest(state) == digest(*input.state);
}

bool HeldCalls::calls_again(const McpCallOptions& options) {
  return !options.state ||
         (*options.state == kAgain && std::ranges::all_of(options.answers, [](const auto& each) {
           return json_string(each.value(), "action") == "accept";
         }));
}

bool HeldCalls::wants_addresses(const Error& error) {
  return json_int(error.detail(), "rpc_code") == kRpcAddressesRequired && addresses_in(error) != nullptr;
}

Result<McpResult> HeldCalls::addresses_of(const Error& error, const McpBounds& bounds) {
  McpResult result;
  result.input = McpInput{{}, std::string(kAgain)};
  for (const Json& each : *addresses_in(error)) {
    const std::size_t count = result.input->requests.size();
    if (count == kMostAddresses || to_json_text(each).size() > bounds.error_bytes) return fail(error);
    result.input->requests["address " + std::to_string(count + 1)] =
        JsonObject{{"method", kMcpQuestion}, {"params", each}};
  }
  if (result.input->requests.empty()) return fail(error);
  return result;
}

}  // namespace praxis
