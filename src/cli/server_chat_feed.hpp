// Follows a run at a server for a chat: what happened, what happens over as many connections as it takes, and
// the figures of its status line.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "cli/answer_pieces.hpp"
#include "cli/server_client.hpp"
#include "tui/chat_run.hpp"

namespace praxis::cli {

class ServerEvents;

/// A thread follows the run from `begin` until the object is destroyed, which the stop of `client` must come
/// before. Other members are for one other thread.
class ServerChatFeed {
 public:
  ServerChatFeed(ServerClient client, SessionId run, std::shared_ptr<tui::EventFeed> to);
  ~ServerChatFeed();
  ServerChatFeed(const ServerChatFeed&) = delete;
  ServerChatFeed& operator=(const ServerChatFeed&) = delete;

  /// Gives what happened so far to `show`; what happens later goes to the feed. Errors of `call_surely`.
  Status show_past(const EventHandler& show);
  /// Follows the run: from where `show_past` ended, else from its beginning. `pending`: the steps that wait
  /// already.
  void begin(std::vector<ParkedStep> pending = {});

  tui::RunFigures figures() const;
  std::string trouble() const;
  std::size_t queued() const;
  /// The last record of the run that an event was of.
  std::uint64_t last_seq() const;
  /// Of a step that was reported; `id` is whole.
  tui::StepFacts facts_of(const ParkId& id) const;
  /// The agents as last seen. They are looked at again soon.
  std::vector<AgentNode> nodes();

 private:
  void follow();
  bool hear(ServerEvents& events);
  void take(Json sent, const EventHandler& show);
  void note(const Event& event);
  void note_waiting(std::uint64_t seq, const records::Intervened& command);
  void look_at_step(const ParkedStep& step, const SessionId& session);
  bool is_look_due(bool is_quiet) const;
  void look_at_figures();
  std::string path() const { return "/api/v1/runs/" + path_segment(run_.str()); }

  const ServerClient client_;
  const SessionId run_;
  const std::shared_ptr<tui::EventFeed> to_;
  AnswerPieces pieces_;
  std::string last_;  ///< id of the last event of the past
  std::vector<ParkedStep> pending_;
  bool is_past_ = true;                           ///< what is taken happened before the chat
  bool changed_ = true;                           ///< the figures, since they were looked at
  int silent_ = 0;                                ///< looks without a connection
  std::chrono::steady_clock::time_point looked_;  ///< at the figures and agents

  mutable std::mutex mutex_;  ///< guards the next members
  tui::RunFigures figures_;
  std::string trouble_;
  std::vector<WaitingMessage> queued_;  ///< without texts
  std::uint64_t last_seq_ = 0;
  std::map<ParkId, tui::StepFacts> facts_;
  std::vector<AgentNode> nodes_;
  bool nodes_wanted_ = false;

  std::jthread thread_;
};

}  // namespace praxis::cli
