#include "server/event_feed.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

namespace praxis::server {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kBatch = 512;             // entries of the journal that are read at once
constexpr std::size_t kMostTransient = 20'000;  // that wait; what exceeds them is dropped
constexpr auto kLook = 250ms;                   // between looks for what other processes wrote
constexpr std::uint64_t kIdleTicks = 60;        // of these, 15 seconds, between signs of life
constexpr auto kRetry = 20ms;                   // until an observer has room again
constexpr std::uint64_t kReadLooks = 8;         // of these, 2 seconds, for a record that cannot be read
constexpr std::size_t kMostUnreadable = 1000;   // sessions that are remembered as such

/// Whether no record holds the event, so that only who watches sees it.
bool is_transient(const EventBody& body) {
  return is_delta(body) || std::holds_alternative<events::ToolProgress>(body) ||
         std::holds_alternative<events::AgentStatus>(body) ||
         std::holds_alternative<events::HookFailed>(body) || std::holds_alternative<events::Custom>(body);
}

/// Whether to go on without a record that could not be read, or to read it again at a later look. A session
/// that stays unreadable, such as one of a newer program, keeps observers waiting once.
bool gives_up(std::map<SessionId, std::uint64_t>& unreadable, const SessionId& session, std::uint64_t look) {
  if (unreadable.size() >= kMostUnreadable && !unreadable.contains(session)) unreadable.clear();
  return look - unreadable.try_emplace(session, look).first->second >= kReadLooks;
}

/// The last record of which an observer has all events, when the last event that it has is at `after`.
std::uint64_t last_whole_record(const Position& after) {
  return after.event == UINT32_MAX || after.record == 0 ? after.record : after.record - 1;
}

}  // namespace

EventFeed::EventFeed(std::shared_ptr<Runtime> runtime, std::shared_ptr<Journal> journal,
                     std::shared_ptr<Executor> executor, std::shared_ptr<Folds> folds,
                     EventRedactor::RedactionOf redaction_of, EventRedactor::RedactionOf shown_filters_of)
    : runtime_(std::move(runtime)),
      journal_(std::move(journal)),
      executor_(std::move(executor)),
      folds_(std::move(folds)),
      redactor_(std::move(redaction_of), std::move(shown_filters_of)),
      lineages_(journal_),
      projection_(journal_, folds_) {}

EventFeed::~EventFeed() { stop(); }

void EventFeed::start() {
  subscription_ = runtime_->on("*", [weak = weak_from_this()](const Event& event) {
    if (const auto self = weak.lock()) self->publish(event, Source::kOwn);
  });
}

void EventFeed::stop() {
  subscription_.reset();
  std::vector<ObserverPtr> observers;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    executor_->cancel(timer_);
    observers.swap(joined_);
  }
  for (const ObserverPtr& observer : observers) observer->sink->on_end();
}

// ---- what happens

std::vector<Frame> EventFeed::frames_of(const std::vector<Event>& pieces, const Event& event, Source source) {
  std::vector<Frame> frames;
  for (const Event& piece : pieces) {
    const bool is_last = &piece == &pieces.back();
    frames.push_back(frame_of(std::make_shared<const Event>(piece),
                              is_last ? std::make_shared<const Event>(event) : nullptr, std::nullopt, {}));
    frames.back().is_remote = source == Source::kOther;
  }
  return frames;
}

void EventFeed::publish(const Event& event, Source source) {
  bool is_watched = observers_ > 0;
  std::vector<Frame> frames;
  std::vector<Event> pieces;
  if (is_transient(event.body)) pieces = redactor_.pieces(event);
  if (is_watched) {
    frames = frames_of(pieces, event, source);
  } else if (ends_answer(event.body)) {
    redactor_.forget(event.agent.id);
  }
  {
    const std::lock_guard lock(mutex_);
    if (!is_watched && !joined_.empty()) {  // an observer has joined meanwhile
      is_watched = true;
      frames = frames_of(pieces, event, source);
    }
    if (source == Source::kOther && remote_.is_past(event)) return redactor_.forget(event.agent.id);
    if (source == Source::kOwn && follows_others_) remote_.note_record(event.agent.id, event.seq);
    const std::uint64_t ordinal = note_partial(event, source);
    for (const Event& piece : pieces) note_shown(piece);
    for (Frame& frame : frames) {
      if (transient_count_ >= kMostTransient) break;
      frame.ordinal = is_answer_piece(frame.event->body) ? std::max<std::uint64_t>(ordinal, 1) : 0;
      ++transient_count_;
      transient_[event.agent.id].push_back(std::move(frame));
    }
  }
  if (is_watched) wake();
}

/// Adds the part of a piece that observers may see to the text that those who come late get.
void EventFeed::note_shown(const Event& piece) {
  const auto partial = partials_.find(piece.agent.id);
  if (!is_answer_piece(piece.body) || partial == partials_.end()) return;
  // What was held back of a part may be shown when the next one has begun.
  for (Part& part : std::views::reverse(partial->second.parts)) {
    if (!continues(part.event, piece)) continue;
    part.shown += *delta_text(piece);
    return;
  }
}

/// Keeps the text of answers that are being written, for observers that come late. Returns the number of the
/// piece.
std::uint64_t EventFeed::note_partial(const Event& event, Source source) {
  if (!is_answer_piece(event.body)) {
    if (ends_answer(event.body)) partials_.erase(event.agent.id);
    return 0;
  }
  Partial& partial = partials_[event.agent.id];
  std::vector<Part>& parts = partial.parts;
  if (!parts.empty() && !partial.has(event)) parts.clear();
  partial.source = source;
  if (!parts.empty() && continues(parts.back().event, event)) {
    *delta_text(parts.back().event) += *delta_text(event);
  } else {
    parts.push_back({event, {}});
  }
  return partial.ordinal = ++pieces_;
}

/// A record may be read before its events are published. An observer that joins then has the answer already,
/// and must not get what was written of it.
void EventFeed::note_end(const Event& event) {
  if (!ends_answer(event.body)) return;
  const std::lock_guard lock(mutex_);
  drop_ended(partials_, event);
}

/// Drops the answer that ended with `end`. One that began after it stays: the record of an end is often read
/// when the next answer is being written.
void EventFeed::drop_ended(Partials& partials, const Event& end) {
  const auto found = partials.find(end.agent.id);
  if (found != partials.end() && found->second.is_before(end.seq)) partials.erase(found);
}

/// Drops what an observer would get of answers that have ended since it joined.
void EventFeed::drop_closed(Observer& observer) {
  const std::lock_guard lock(mutex_);
  std::erase_if(observer.partials, [&](const auto& each) {
    const auto found = partials_.find(each.first);
    return found == partials_.end() || !found->second.has(each.second.parts.back().event);
  });
}

void EventFeed::wake() {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_ || joined_.empty()) return;
    if (std::exchange(pumping_, pumping_ == Pumping::kNo ? Pumping::kYes : Pumping::kAgain) != Pumping::kNo)
      return;
  }
  executor_->post_blocking([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->pump();
  });
}

void EventFeed::pump() {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      pumping_ = Pumping::kYes;
    }
    pump_once();
    const std::lock_guard lock(mutex_);
    if (pumping_ == Pumping::kYes || stopped_) {
      pumping_ = Pumping::kNo;
      return;
    }
  }
}

/// Moves the transient events that wait behind those in `transient`.
void EventFeed::take_transient(std::map<SessionId, std::deque<Frame>>& transient) {
  const std::lock_guard lock(mutex_);
  for (auto& [session, frames] : transient_)
    std::ranges::move(frames, std::back_inserter(transient[session]));
  transient_.clear();
  transient_count_ = 0;
}

/// Returns what `take_transient` took, before what came meanwhile.
void EventFeed::give_back(std::map<SessionId, std::deque<Frame>>& transient) {
  const std::lock_guard lock(mutex_);
  for (auto& [session, frames] : transient) {
    transient_count_ += frames.size();
    std::deque<Frame>& later = transient_[session];
    std::ranges::move(later, std::back_inserter(frames));
    later = std::move(frames);
  }
}

// A transient event is published after the records before it were committed, and before the record after it
// is: what is taken once records were read has all that comes before them, and what was taken before nothing
// more was read has no record missing before it. So each finds its place before the first record with a
// higher `seq`.
void EventFeed::pump_once() {
  std::map<SessionId, std::deque<Frame>> transient;
  std::vector<ObserverPtr> observers;
  take_transient(transient);
  while (true) {
    observers = joined();
    const auto changes = journal_->changes(live_position(), kBatch);
    if (!changes || changes->empty()) break;  // an unreadable journal stops the runs, which say so
    note_records(*changes);                   // no piece before them comes after what is taken now
    take_transient(transient);
    if (!deliver_records(*changes, transient)) return give_back(transient);
  }
  for (auto& [session, frames] : transient) deliver_before(session, UINT64_MAX, transient);
  // Who joined after that last look may hold an answer that was begun after a record which is not read yet.
  for (const ObserverPtr& observer : observers) {
    drop_closed(*observer);
    while (!observer->gone && !observer->partials.empty())
      give_partial(*observer, observer->partials.begin()->first);
    if (observer->gone) leave(observer);
  }
}

/// The events of a record whose session has its place in a tree. Errors: `kJournal`.
Result<std::vector<Event>> EventFeed::events_of(const Change& change, Projection& projection) {
  if (lineages_.root_of(change.session).empty())
    return fail(ErrorCode::kJournal, "session " + change.session.str() + " cannot be read");
  return projection.events_of(change.session, change.seq);
}

/// False: a record could not be read. It and those after it come again with a later look.
bool EventFeed::deliver_records(const std::vector<Change>& changes,
                                std::map<SessionId, std::deque<Frame>>& transient) {
  for (const Change& change : changes) {
    deliver_before(change.session, change.seq, transient);
    const auto events = events_of(change, projection_);
    if (events) {
      unreadable_.erase(change.session);
      std::ranges::for_each(*events, [this](const Event& event) { note_end(event); });
    }
    std::vector<ObserverPtr> observers;
    {
      const std::lock_guard lock(mutex_);
      if (!events && !gives_up(unreadable_, change.session, ticks_)) return false;
      live_ = change.position;
      observers = joined_;
    }
    if (!events || std::ranges::any_of(*events, ends_answer, &Event::body)) deliver_rest(change, observers);
    if (!events) continue;
    const SessionId root = lineages_.root_of(change.session);
    for (std::uint32_t i = 0; i < events->size(); ++i)
      deliver(frame_of((*events)[i], Position{change.position, i}, root, redactor_), observers);
  }
  return true;
}

void EventFeed::deliver_before(const SessionId& session, std::uint64_t seq,
                               std::map<SessionId, std::deque<Frame>>& transient) {
  const auto found = transient.find(session);
  if (found == transient.end() || found->second.empty()) return;
  const SessionId root = lineages_.root_of(session);
  const auto observers = joined();
  std::deque<Frame>& frames = found->second;
  while (!frames.empty() && frames.front().event->seq < seq) {
    frames.front().root = root;
    deliver(frames.front(), observers);
    frames.pop_front();
  }
}

/// Gives what was held back of a text that was complete before a record, to those that have not got the
/// record. Who came after the end of an answer has nothing of it, and gets it whole.
void EventFeed::deliver_rest(const Change& change, const std::vector<ObserverPtr>& observers) {
  const auto rest = redactor_.rest(change.session, change.seq);
  if (!rest) return;
  Frame frame = frame_of(std::make_shared<const Event>(*rest), nullptr, std::nullopt,
                         lineages_.root_of(change.session));
  const bool is_piece = is_answer_piece(rest->body);
  if (is_piece) frame.ordinal = UINT64_MAX;
  for (const ObserverPtr& observer : observers) {
    const auto partial = observer->partials.find(change.session);
    const bool has_part = partial != observer->partials.end() && partial->second.is_before(change.seq);
    const bool lacks_beginning = is_piece && !has_part && !observer->reads.contains(change.session);
    if (!lacks_beginning && observer->after < Position{change.position, 0}) deliver(frame, {observer});
  }
}

std::vector<EventFeed::ObserverPtr> EventFeed::joined() {
  const std::lock_guard lock(mutex_);
  return joined_;
}

void EventFeed::deliver(const Frame& frame, const std::vector<ObserverPtr>& observers) {
  for (const ObserverPtr& observer : observers) {
    if (observer->gone) continue;
    give(*observer, frame);
    if (observer->gone) leave(observer);
  }
}

void EventFeed::give(Observer& observer, const Frame& frame) {
  const SessionId& session = frame.event->agent.id;
  if (ends_answer(frame.event->body)) {  // also if the observer has the record
    observer.reads.erase(session);
    drop_ended(observer.partials, *frame.event);
  }
  if (frame.position) {
    if (*frame.position <= observer.after) return;
    observer.after = *frame.position;
  }
  if (!concerns(observer.filter, frame)) return;
  if (frame.ordinal > 0) {
    if (frame.ordinal <= observer.joined_at) return;
    if (observer.partials.contains(session)) give_partial(observer, session);
    observer.reads.insert(session);
  }
  if (!observer.sink->on_frame(frame)) observer.gone = true;
}

bool EventFeed::concerns(const FeedFilter& filter, const Frame& frame) {
  return wants(filter, frame.event->body) && covers(filter, lineages_, frame.event->agent.id, frame.root);
}

void EventFeed::give_partial(Observer& observer, const SessionId& session) {
  observer.reads.insert(session);
  auto node = observer.partials.extract(session);
  for (Part& part : node.mapped().parts) {
    auto exact = std::make_shared<const Event>(part.event);
    *delta_text(part.event) = std::move(part.shown);
    Frame frame = frame_of(std::make_shared<const Event>(std::move(part.event)), std::move(exact),
                           std::nullopt, lineages_.root_of(session));
    frame.is_remote = node.mapped().source == Source::kOther;
    if (observer.gone || !concerns(observer.filter, frame)) continue;
    if (!observer.sink->on_frame(frame)) observer.gone = true;
  }
}

// ---- what observers missed

Task EventFeed::subscribe(FeedFilter filter, std::optional<Position> after, std::shared_ptr<FeedSink> sink) {
  auto observer = std::make_shared<Observer>();
  observer->filter = std::move(filter);
  observer->sink = std::move(sink);
  ++observers_;
  executor_->post_blocking([weak = weak_from_this(), observer, after] {
    const auto self = weak.lock();
    if (!self) return;
    // A client may bring any id; what lies after the end of the journal is its end.
    const auto last = self->journal_->last_position();
    if (!last) return self->leave(observer);
    const Position end{*last, UINT32_MAX};
    observer->after = std::min(after.value_or(end), end);
    self->catch_up(observer, std::make_shared<Projection>(self->journal_, self->folds_));
  });
  return [weak = weak_from_this(), weak_observer = std::weak_ptr(observer)] {
    const auto self = weak.lock();
    const auto ended = weak_observer.lock();
    if (self && ended) self->leave(ended);
  };
}

Status EventFeed::join(FeedFilter filter, std::shared_ptr<FeedSink> sink) {
  const auto last = journal_->last_position();
  if (!last) return fail(last.error());
  auto observer = std::make_shared<Observer>();
  observer->filter = std::move(filter);
  observer->sink = std::move(sink);
  observer->after = Position{*last, UINT32_MAX};
  ++observers_;
  while (!try_join(observer)) observer->after = Position{live_position(), UINT32_MAX};
  return {};
}

void EventFeed::catch_up(const ObserverPtr& observer, const std::shared_ptr<Projection>& projection) {
  while (!try_join(observer)) {
    const std::uint64_t live = live_position();
    const auto changes = journal_->changes(last_whole_record(observer->after), kBatch);
    if (!changes || observer->gone) return leave(observer);
    note_records(*changes);
    // Nothing is left of the records up to `live`: the last of them were removed.
    if (changes->empty()) observer->after = std::max(observer->after, Position{live, UINT32_MAX});
    for (const Change& change : *changes) {
      const SessionId root = lineages_.root_of(change.session);
      if (root.empty() || covers(observer->filter, lineages_, change.session, root)) {
        const auto events = events_of(change, *projection);
        if (!events && !gives_up(observer->unreadable, change.session, observer->looks++))
          return catch_up_after(kLook, observer, projection);
        if (events) observer->unreadable.erase(change.session);
        for (std::uint32_t i = 0; events && i < events->size() && !observer->gone; ++i) {
          note_end((*events)[i]);
          give(*observer, frame_of((*events)[i], Position{change.position, i}, root, redactor_));
        }
      }
      observer->after = std::max(observer->after, Position{change.position, UINT32_MAX});
      if (observer->gone) return leave(observer);
      if (!observer->sink->has_room()) return catch_up_after(kRetry, observer, projection);
    }
  }
}

void EventFeed::catch_up_after(std::chrono::milliseconds pause, const ObserverPtr& observer,
                               const std::shared_ptr<Projection>& projection) {
  executor_->after(pause, [weak = weak_from_this(), observer, projection] {
    const auto self = weak.lock();
    if (!self) return;
    self->executor_->post_blocking([self, observer, projection] { self->catch_up(observer, projection); });
  });
}

std::uint64_t EventFeed::live_position() {
  const std::lock_guard lock(mutex_);
  return live_;
}

// An observer joins those that get what happens when it has everything that they have. What they get next has
// a later position, and what it has already it gets once, because `give` compares positions.
bool EventFeed::try_join(const ObserverPtr& observer) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_ || observer->gone) return true;
    const std::uint64_t has = last_whole_record(observer->after);
    if (joined_.empty()) live_ = std::max(live_, has);
    if (has < live_) return false;
    if (observer->filter.deltas) observer->partials = partials_;
    observer->joined_at = pieces_;
    joined_.push_back(observer);
    if (!std::exchange(ticking_, true)) tick_later();
  }
  wake();
  if (on_interests_) on_interests_();
  return true;
}

void EventFeed::leave(const ObserverPtr& observer) {
  observer->gone = true;
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(observer->left, true)) --observers_;
    std::erase(joined_, observer);
  }
  if (on_interests_) on_interests_();
}

// ---- now and then

void EventFeed::tick_later() {
  timer_ = executor_->after(kLook, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->tick();
  });
}

void EventFeed::tick() {
  std::vector<ObserverPtr> asked;
  {
    const std::lock_guard lock(mutex_);
    ticking_ = !stopped_ && !joined_.empty();
    if (!ticking_) return;
    if (++ticks_ % kIdleTicks == 0) asked = joined_;
    tick_later();
  }
  for (const ObserverPtr& observer : asked) {
    if (!observer->gone && !observer->sink->on_idle()) leave(observer);
  }
  wake();
}

}  // namespace praxis::server
