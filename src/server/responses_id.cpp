#include "server/responses_id.hpp"

#include <vector>

#include "server/split.hpp"

namespace praxis::server {
namespace {

constexpr std::string_view kResponse = "resp_", kApproval = "mcpr_", kConversation = "conv_";
constexpr char kBetween = '~';  // occurs in no id of a session

/// The parts of an id with this beginning, none of them empty; no parts if it has another form.
std::vector<std::string> id_parts(std::string_view text, std::string_view begins) {
  std::vector<std::string> parts;
  if (!text.starts_with(begins)) return parts;
  bool is_valid = true;
  split(text.substr(begins.size()), kBetween, [&](std::string_view part) {
    is_valid = is_valid && !part.empty();
    parts.emplace_back(part);
  });
  if (!is_valid) parts.clear();
  return parts;
}

}  // namespace

std::string ResponseId::text() const {
  std::string text = std::string(kResponse) + run.str() + kBetween + turn.str();
  if (decided.empty()) return text;
  if (decided_in != run) text += kBetween + decided_in.str();
  return text + kBetween + decided.str();
}

std::optional<ResponseId> ResponseId::parse(std::string_view text) {
  const auto parts = id_parts(text, kResponse);
  if (parts.size() < 2 || parts.size() > 4) return std::nullopt;
  ResponseId id{SessionId(parts[0]), TurnId(parts[1])};
  if (parts.size() > 2) {
    id.decided_in = SessionId(parts.size() == 4 ? parts[2] : parts[0]);
    id.decided = ParkId(parts.back());
  }
  return id;
}

ApprovalRequestId ApprovalRequestId::of(const SessionId& run, const ParkedStep& step) {
  const auto slash = step.id.str().rfind('/');
  if (slash == std::string::npos) return {run, step.session.empty() ? run : step.session, step.id};
  return {run, SessionId(step.id.str().substr(0, slash)), ParkId(step.id.str().substr(slash + 1))};
}

std::string ApprovalRequestId::text() const {
  std::string text = std::string(kApproval) + run.str();
  if (session != run) text += kBetween + session.str();
  return text + kBetween + step.str();
}

std::optional<ApprovalRequestId> ApprovalRequestId::parse(std::string_view text) {
  const auto parts = id_parts(text, kApproval);
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  const SessionId run(parts[0]);
  return ApprovalRequestId{run, SessionId(parts.size() == 3 ? parts[1] : parts[0]), ParkId(parts.back())};
}

std::string ConversationId::text() const { return std::string(kConversation) + run.str(); }

std::optional<ConversationId> ConversationId::parse(std::string_view text) {
  if (!text.starts_with(kConversation) || text.size() == kConversation.size()) return std::nullopt;
  return ConversationId{SessionId(std::string(text.substr(kConversation.size())))};
}

}  // namespace praxis::server
