#include "server/projection.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/project.hpp"
#include "logs/lineage.hpp"

namespace praxis::server {

std::string Position::text() const { return std::to_string(record) + '.' + std::to_string(event); }

std::optional<Position> Position::parse(std::string_view text) {
  Position position;
  const char* const end = text.data() + text.size();
  const auto whole = std::from_chars(text.data(), end, position.record);
  if (whole.ec != std::errc()) return std::nullopt;
  if (whole.ptr == end) {
    position.event = UINT32_MAX;
    return position;
  }
  if (*whole.ptr != '.') return std::nullopt;
  const auto part = std::from_chars(whole.ptr + 1, end, position.event);
  if (part.ec != std::errc() || part.ptr != end) return std::nullopt;
  return position;
}

Result<std::vector<Event>> Projection::events_of(const SessionId& session, std::uint64_t seq) {
  Folded& folded = sessions_[session];
  folded.used = ++uses_;
  if (folded.seq >= seq)
    folded = {.state = {}, .seq = 0, .following = {}, .used = folded.used};  // asked again
  while (folded.seq < seq) {
    if (folded.following.empty()) {
      auto read = read_records(*journal_, session, folded.seq + 1);
      if (!read) return fail(read.error());
      if (read->empty())
        return fail(ErrorCode::kJournal, "the log of " + session.str() + " has lost its end");
      folded.following.assign(std::make_move_iterator(read->begin()), std::make_move_iterator(read->end()));
    }
    const StoredRecord next = std::move(folded.following.front());
    folded.following.pop_front();
    if (auto applied = apply_to(folded.state, next.record); !applied) return fail(applied.error());
    folded.seq = next.seq;
    if (folded.seq == seq) {
      auto events = project(next.record, folded.state);
      forget_the_oldest();
      return events;
    }
  }
  return std::vector<Event>{};
}

void Projection::forget_the_oldest() {
  if (sessions_.size() <= kMostFolded) return;
  sessions_.erase(std::ranges::min_element(sessions_, {}, [](const auto& each) { return each.second.used; }));
}

std::vector<SessionId> Lineages::of(const SessionId& session) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = known_.find(session);
    if (known != known_.end()) return known->second;
  }
  auto sessions = lineage(*journal_, session);
  if (!sessions) return {};
  const std::lock_guard lock(mutex_);
  if (known_.size() > kMostKept) known_.clear();
  return known_[session] = *std::move(sessions);
}

SessionId Lineages::root_of(const SessionId& session) {
  const auto sessions = of(session);
  return sessions.empty() ? SessionId() : sessions.back();
}

bool Lineages::is_within(const SessionId& session, const SessionId& ancestor) {
  return std::ranges::count(of(session), ancestor) > 0;
}

}  // namespace praxis::server
