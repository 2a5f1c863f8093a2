#include "server/projection.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/project.hpp"
#include "logs/lineage.hpp"
#include "logs/read_part.hpp"

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

Projection::~Projection() {
  for (auto& [session, folded] : sessions_) give_back(folded);
}

void Projection::give_back(Folded& folded) const {
  if (folds_ && folded.seq != 0) folds_->keep(std::make_shared<const State>(std::move(folded.state)));
}

Status Projection::read_on(const SessionId& session, Folded& folded) const {
  const std::uint64_t from = folded.seq + 1;
  auto read =
      read_some_entries(*journal_, session, from, folded.until < from ? 0 : folded.until - folded.seq);
  if (!read) return fail(read.error());
  if (read->empty()) return fail(ErrorCode::kJournal, "the log of " + session.str() + " has lost its end");
  folded.following.assign(std::make_move_iterator(read->begin()), std::make_move_iterator(read->end()));
  return {};
}

Result<Record> Projection::apply_next(const SessionId& session, Folded& folded) const {
  auto next = decode_entry(*journal_, session, folded.following.front());
  auto applied = next ? apply_to(folded.state, next->record) : Status(fail(next.error()));
  if (!applied) {
    folded = {.state = {}, .seq = 0, .until = 0, .following = {}, .used = folded.used};  // it is unusable
    return fail(std::move(applied.error()));
  }
  folded.following.pop_front();
  folded.seq = next->seq;
  if (folds_ && folded.seq % folds_->stride() == 0) folds_->keep(std::make_shared<const State>(folded.state));
  return std::move(next->record);
}

/// Folds the records up to `seq` and reads the one after it.
Result<Projection::Folded*> Projection::fold_to(const SessionId& session, std::uint64_t seq) {
  Folded& folded = sessions_[session];
  folded.used = ++uses_;
  if (folded.seq > seq) {  // asked again
    const std::uint64_t until = folded.until;
    folded = {.state = {}, .seq = 0, .until = until, .following = {}, .used = folded.used};
  }
  if (folded.seq == 0 && folded.following.empty() && folds_) {
    auto kept = folds_->at_most(session, seq);
    // A long log is folded once for all that ask about it, to its end.
    if (!kept && seq >= folds_->stride() && folds_->last(session)) kept = folds_->at_most(session, seq);
    if (kept) {
      folded.state = *kept;
      folded.seq = kept->seq;
    }
  }
  while (true) {
    if (folded.following.empty()) {
      if (auto read = read_on(session, folded); !read) return fail(read.error());
    }
    if (folded.seq == seq) return &folded;
    if (auto applied = apply_next(session, folded); !applied) return fail(applied.error());
  }
}

Result<const State*> Projection::before(const SessionId& session, std::uint64_t seq) {
  const auto folded = fold_to(session, seq - 1);
  if (!folded) return fail(folded.error());
  return &(*folded)->state;
}

Result<std::vector<Event>> Projection::events_of(const SessionId& session, std::uint64_t seq) {
  const auto folded = fold_to(session, seq - 1);
  if (!folded) return fail(folded.error());
  const auto record = apply_next(session, **folded);
  if (!record) return fail(record.error());
  auto events = project(*record, (*folded)->state);
  forget_the_oldest();
  return events;
}

void Projection::forget_the_oldest() {
  if (sessions_.size() <= kMostFolded) return;
  const auto oldest =
      std::ranges::min_element(sessions_, {}, [](const auto& each) { return each.second.used; });
  give_back(oldest->second);
  sessions_.erase(oldest);
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
