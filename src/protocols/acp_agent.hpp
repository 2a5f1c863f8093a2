// Carries out what an editor asks (protocols/acp_serving.hpp): the requests in acp_serving.cpp, turns in
// acp_turns.cpp, prompts of servers in acp_prompts.cpp, questions to the user in acp_questions.cpp.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "mcp/message.hpp"
#include "protocols/acp_conversation.hpp"
#include "protocols/acp_files.hpp"
#include "protocols/acp_peer.hpp"

namespace praxis::protocols {

/// One editor. `take` is called by one thread; what runs at the same time are turns and questions.
class AcpAgent {
 public:
  AcpAgent(const AcpServing& serving, int out) : serving_(serving), peer_(out) {}
  AcpAgent(const AcpAgent&) = delete;
  AcpAgent& operator=(const AcpAgent&) = delete;
  ~AcpAgent() { finish(); }

  /// Takes one message of the editor.
  void take(std::string_view line);
  /// Interrupts what runs, and waits for it.
  void finish();

 private:
  enum class Replay : bool { kNo, kYes };
  /// Counts what runs on other threads.
  class Working {
   public:
    explicit Working(AcpAgent& agent);
    ~Working();
    Working(const Working&) = delete;
    Working& operator=(const Working&) = delete;

   private:
    AcpAgent& agent_;
  };
  using WorkingPtr = std::shared_ptr<Working>;

  // Requests. An error is the answer.
  Result<Json> answer_to(const McpMessage& request);
  Json initialized(const Json& params);
  Result<Json> new_session(const Json& params);
  Result<Json> open_session(const Json& params, Replay replay);
  Result<Json> fork_session(const Json& params);
  Result<Json> list_sessions(const Json& params);
  Result<Json> close_session(const Json& params);
  Result<Json> delete_session(const Json& params);
  Result<Json> set_mode(const Json& params);
  Result<Json> set_option(const Json& params);
  void prompt(const McpMessage& request);
  void cancel(const Json& params);

  // Conversations.
  Result<std::shared_ptr<AcpFolder>> folder_at(const std::string& path);
  Result<AcpConversationPtr> conversation(const Json& params);
  AcpConversationPtr conversation_of(const SessionId& id);
  AcpConversationPtr conversation_above(Journal& journal, const SessionId& session);
  Result<AcpConversationPtr> reopened(const std::shared_ptr<AcpFolder>& folder, const std::string& id,
                                      Replay replay);
  void follow(const AcpConversationPtr& conversation);
  std::unique_ptr<AcpUpdates> gone_through(const AcpFolder& folder, const SessionId& id, Replay replay);
  Status change(const AcpConversationPtr& conversation, AcpChoice choice);
  JsonObject options_of(const AcpConversation& conversation) const;
  void update(const SessionId& id, Json update);
  void show_commands(const AcpConversationPtr& conversation, std::string_view method);
  void show_prompts(const AcpConversationPtr& conversation);

  // Turns.
  void fill_prompt(const AcpConversationPtr& conversation, const Json& id, Message message);
  void accept(const AcpConversationPtr& conversation, const Json& id, Message message);
  void begin(const AcpConversationPtr& conversation, Message message);
  void go_on(const AcpConversationPtr& conversation);
  bool answer_pending(const AcpConversationPtr& conversation, const Message& message);
  void ended(const AcpConversationPtr& conversation, const Result<AgentResult>& report);
  void show_questions(const AcpConversation& conversation);
  void show_usage(const AcpConversation& conversation);
  void give_result(const AcpConversation& conversation, const Json& prompt, bool cancelled,
                   const Result<AgentResult>& report);

  // Questions to the user.
  std::optional<Approval> ask(AcpFolder& folder, const ParkedStep& step, const std::stop_token& stop);
  std::optional<Approval> ask_permission(const AcpConversationPtr& conversation, const ParkedStep& step,
                                         const std::stop_token& stop);
  std::optional<Approval> ask_form(const AcpConversation& conversation, const ParkedStep& step,
                                   const std::stop_token& stop);
  std::optional<Approval> ask_choice(const AcpConversation& conversation, const ParkedStep& step,
                                     const std::stop_token& stop);
  Json call_in_question(const AcpConversation& conversation, const ParkedStep& step) const;

  const AcpServing& serving_;
  AcpPeer peer_;
  bool takes_forms_ = false;  ///< the editor shows forms
  AcpFileAccess file_access_;

  std::stop_source over_;  ///< ends the look-up of prompts

  std::mutex mutex_;  ///< guards the next members, and those of conversations that say so
  std::condition_variable idle_;
  std::size_t working_ = 0;
  // Conversations end before the runtimes of their folders, and those before what they report to.
  std::map<std::string, std::shared_ptr<AcpFolder>> folders_;  ///< by path
  std::map<SessionId, AcpConversationPtr> conversations_;
};

}  // namespace praxis::protocols
