// The ids of OpenAI's Responses and Conversations: they say where in which log to look.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "praxis/core/records.hpp"

namespace praxis::server {

/// Which part of which run a response is. As text `resp_RUN~t1`, or after a decision on step p1
/// `resp_RUN~t1~p1` (of a session below it `resp_RUN~t1~SESSION~p1`).
struct ResponseId {
  SessionId run;
  TurnId turn;
  SessionId decided_in = {};  ///< the session of that step
  ParkId decided = {};        ///< empty: from the beginning of the turn

  std::string text() const;
  /// Nothing if the text has another form.
  static std::optional<ResponseId> parse(std::string_view text);
  bool operator==(const ResponseId&) const = default;
};

/// A step that waits as `mcpr_RUN~p1` or `mcpr_RUN~SESSION~p1`.
struct ApprovalRequestId {
  SessionId run, session;
  ParkId step;

  static ApprovalRequestId of(const SessionId& run, const ParkedStep& step);
  std::string text() const;
  static std::optional<ApprovalRequestId> parse(std::string_view text);
};

/// The run that holds a conversation. As text `conv_RUN`.
struct ConversationId {
  SessionId run;

  std::string text() const;
  /// Nothing if the text has another form.
  static std::optional<ConversationId> parse(std::string_view text);
};

}  // namespace praxis::server
