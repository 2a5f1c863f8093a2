// A conversation that a client names by an id of its own and sends whole with each request: which of our runs
// it is, and what of it is new.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "praxis/domain/approval.hpp"
#include "praxis/domain/message.hpp"
#include "server/handlers.hpp"
#include "server/turn_follower.hpp"

namespace praxis::server {

/// The messages of a request, the last one from the user, in a run that is found by `format` and `id`.
struct ClientTurn {
  std::string format;  ///< ids of different formats do not meet
  std::string id;      ///< as the client names it
  std::string agent;   ///< of a new run
  std::vector<Message> messages;
};

/// The run of a conversation: that of the principal with the client's id, or one whose id the client uses.
/// Empty: no such run.
SessionId run_of_conversation(Service& service, const std::string& format, const std::string& id,
                              const Principal& principal);

/// Starts a turn with the last message. A new run begins with the messages before it. In a run that exists,
/// the client may have gone back: what follows the place of its message is taken back first. `follower`
/// watches the run from before the turn. Once the message is durable, `begin` gets the run, and then
/// `follower` the errors of the turn. Errors, to the answer of
/// the call: `kConflict`, the run is in the middle of a turn; of `Runs::create` and `Runs::send`.
void start_client_turn(Service& service, ClientTurn turn, const Call& call,
                       std::shared_ptr<TurnFollower> follower,
                       std::move_only_function<void(const SessionId&)> begin);

/// A decision of the client on a step, by its id `SESSION/p1`.
struct ClientDecision {
  std::string step;
  bool approves = false;
  std::string text;                           ///< the reason, or the answer to a question
  std::optional<std::string> arguments = {};  ///< with which the call is to run instead
};
/// Decides steps of a run, and gives those that were waiting. Error `kInput`, with the field `field`: one of
/// them does not wait.
Result<std::vector<ParkedStep>> decide_for_client(Service& service, const SessionId& run,
                                                  const std::vector<ClientDecision>& decisions,
                                                  const Principal& principal, const std::string& field);

/// The id of a step as clients of these formats know it: `SESSION/p1`.
std::string client_step_id(const SessionId& run, const ParkedStep& step);

/// A call that a client has in its conversation, with its result, as messages.
void add_call_with_result(std::vector<Message>& messages, const std::string& id, const std::string& name,
                          const std::string& arguments, const std::string& result, bool failed);

}  // namespace praxis::server
