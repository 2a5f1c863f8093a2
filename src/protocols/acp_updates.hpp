// The events of a run as updates of a conversation in an editor (Agent Client Protocol, version 1,
// `session/update`).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "praxis/core/event.hpp"
#include "praxis/json/json.hpp"
#include "protocols/acp_calls.hpp"

namespace praxis::protocols {

/// Turns the events of one session and of those below it into updates, in their order. Of sub-agents, calls
/// are shown, not what they write. Not thread-safe.
class AcpUpdates {
 public:
  enum class Of : bool {
    kPast,     ///< what the log holds: with the messages of the user, without a look at files
    kPresent,  ///< what happens now: the editor knows the prompts that it sent
  };
  AcpUpdates(SessionId root, Of of) : root_(std::move(root)), of_(of) {}

  /// The updates that an event means, each the member `update` of a notification.
  std::vector<Json> of(const Event& event);
  /// What follows happens now: the past has been gone through.
  void arrive() { of_ = Of::kPresent; }

 private:
  struct OpenCall {
    std::string tool;
    Json diff = nullptr;  ///< the change that it makes; null: none
    bool asks = false;    ///< its handler waits for an answer, with which it goes on
  };

  void text_delta(const Event& event, const std::string& text, const char* kind);
  void whole_text(const Event& event, const std::string& text, const char* kind);
  void message(const events::MessageAdded& added);
  void turn_ended(const Event& event, const AgentResult& result);
  void called(const Event& event, const CallId& call, const std::string& name, const std::string& arguments);
  void started(const Event& event, const events::ToolStarted& tool);
  void completed(const Event& event, const events::ToolCompleted& tool);
  void failed(const Event& event, const CallId& call, const std::string& why);
  void parked(const Event& event, const ParkedStep& step);
  void decided(const Event& event, const records::Decided& decision);
  void finished(const Event& event, const CallId& call, const std::string& text, const ToolResultPart* result,
                const Json& value);
  void used(const Event& event, const Usage& usage);
  void add(const char* kind, JsonObject members);
  void add_chunk(const Event& event, const char* kind, Json content);
  std::string call_id(const Event& event, const CallId& call) const;
  AcpCall call_of(const Event& event, const CallId& call, const std::string& name,
                  const std::string& arguments) const;
  const AgentSpec* spec_of(const Event& event) const;

  const SessionId root_;
  Of of_;
  std::vector<Json> out_;
  std::map<SessionId, AgentSpecPtr> agents_;
  std::map<std::string, OpenCall> open_;  ///< calls without an end
  std::string half_;                      ///< the start of a character whose end is in the next delta
  std::string said_;                      ///< what the editor got of the last text of the agent
  bool streamed_ = false;                 ///< deltas of the text that the model is writing were given
  bool reasoned_ = false;                 ///< the same for its reasoning
};

}  // namespace praxis::protocols
