#include "server/remote_answers.hpp"

#include <algorithm>
#include <string>

#include "server/event_redactor.hpp"

namespace praxis::server {

RemoteAnswers::Taken RemoteAnswers::take(RemotePiece& piece) {
  const Event& event = piece.event;
  const auto head = head_of(event.agent.id);
  if (!head) return Taken::kAsk;
  if (*head > event.seq) return Taken::kOld;
  if (!is_answer_piece(event.body)) return Taken::kNew;
  Answer& answer = answers_[event.agent.id];
  const std::pair known(answer.seq, answer.attempt), given(event.seq, event.attempt);
  if (given < known) return Taken::kOld;
  if (given > known) answer = {event.seq, event.attempt, 0};
  std::string& text = *delta_text(piece.event);
  if (piece.at > answer.bytes) return Taken::kGap;
  const std::uint64_t had = answer.bytes - piece.at;
  if (had >= text.size()) return Taken::kOld;
  text.erase(0, had);
  answer.bytes += text.size();
  return Taken::kNew;
}

bool RemoteAnswers::is_past(const Event& event) const {
  return head_of(event.agent.id).value_or(0) > event.seq;
}

void RemoteAnswers::note_record(const SessionId& session, std::uint64_t seq) {
  if (heads_.size() >= kMostHeads) older_heads_ = std::exchange(heads_, {});
  heads_[session] = std::max(seq, head_of(session).value_or(0));
  const auto answer = answers_.find(session);
  if (answer != answers_.end() && answer->second.seq < seq) answers_.erase(answer);
}

std::vector<SessionId> RemoteAnswers::open() const {
  std::vector<SessionId> sessions;
  for (const auto& [session, answer] : answers_) sessions.push_back(session);
  return sessions;
}

std::optional<std::uint64_t> RemoteAnswers::head_of(const SessionId& session) const {
  for (const auto* heads : {&heads_, &older_heads_}) {
    if (const auto found = heads->find(session); found != heads->end()) return found->second;
  }
  return std::nullopt;
}

}  // namespace praxis::server
