// A conversation of an editor (Agent Client Protocol): a run of the journal that is open.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "app/always_rules.hpp"
#include "app/workspace.hpp"
#include "praxis/runtime/runtime.hpp"
#include "protocols/acp_commands.hpp"
#include "protocols/acp_serving.hpp"
#include "protocols/acp_updates.hpp"

namespace praxis::protocols {

/// A folder in which an editor works, with the runtime of its conversations.
struct AcpFolder {
  std::string path;
  app::Workspace workspace;
  std::shared_ptr<Runtime> runtime;
};

/// Which agent answers.
struct AcpChoice {
  std::string agent;  ///< a name, or a path; empty: the default agent, which has no tools
  std::string model;  ///< empty: that of the agent
};

struct AcpConversation {
  SessionId id;
  std::shared_ptr<AcpFolder> folder;
  std::optional<Session> session;
  AcpChoice choice;
  std::vector<ListedSkill> skills;      ///< of the agent that answers
  std::unique_ptr<AcpUpdates> updates;  ///< used on the strand of the session
  Subscription events;

  // Guarded by the mutex of the agent.
  std::optional<std::stop_source> filling;  ///< a prompt of a server
  bool busy = false;                        ///< a turn runs, or is about to
  bool cancelled = false;                   ///< the editor wants the turn to stop
  std::optional<Json>
      prompt;  ///< id of the request that the turn answers; empty: it continues an earlier one
  std::deque<std::pair<Json, Message>> waiting;  ///< prompts that came meanwhile
  std::vector<ParkedStep> pending;               ///< what the last turn waits for
  std::vector<app::AlwaysRule> saved;            ///< rules that the user made here
};
using AcpConversationPtr = std::shared_ptr<AcpConversation>;

/// The agent of a new conversation. Error `kInput`.
Result<Agent> acp_agent(const AcpServing& serving, const AcpFolder& folder, const AcpChoice& choice);

/// The choice that the description of a run says.
AcpChoice acp_choice_of(const AcpServing& serving, const AcpFolder& folder, const AgentSpec& spec);

/// The members `modes` and `configOptions` of an answer: agents are modes, and both are options.
JsonObject acp_options(const AcpFolder& folder, const AcpChoice& choice, const std::string& model);

/// The runs of the journal for `session/list`. Error `kJournal`.
Result<Json> acp_session_list(const AcpFolder& folder, const Json& params);

}  // namespace praxis::protocols
