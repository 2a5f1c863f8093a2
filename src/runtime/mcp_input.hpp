// Questions that an MCP server asks before or while it carries out a call (elicitation by forms and
// addresses), and its requests for a model's answer that a person decides:
// each becomes a parked question of the run. What the server wants back is recorded with it, so that the
// answer may come in another process, unless the server asked in the middle of a call (versions with
// a handshake).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "praxis/mcp/mcp_client.hpp"
#include "praxis/tools/tool.hpp"

namespace praxis {

/// One round of a call: what the server asked, and what was answered so far.
struct McpRound {
  /// Rounds of one call; more are an error.
  static constexpr std::int64_t kMost = 8;
  /// Requests of one round; more are an error.
  static constexpr std::size_t kMostAtOnce = 16;

  std::int64_t number = 0;  ///< 0: the server has asked nothing yet
  McpInput input;
  JsonObject answers = {};  ///< in the protocol's form, by the names of the requests; null: declined
  std::vector<std::string> allowed = {};  ///< requests for a model's answer that a person allowed

  /// Whether every request of the round has an answer.
  bool is_complete() const { return answers.size() >= input.requests.size(); }
};

/// The round that the answers of a call belong to.
McpRound round_of(const std::vector<CallAnswer>& answers);
/// The question for the first request without an answer: an error that parks the call (`fail_question`).
/// Another error: the server asks for what this client does not give, or too often.
Error next_question(const std::string& server, const McpRound& round, const McpBounds& bounds);

}  // namespace praxis
