#include "server/turn_follower.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "app/pending_steps.hpp"
#include "core/project.hpp"
#include "policy/event_texts.hpp"
#include "policy/filters.hpp"
#include "server/problem.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kMostUntaken = 4 * 1024 * 1024;  // bytes that a client may leave before it is dropped

std::vector<ParkedStep> steps_of(const State& state) {
  std::vector<ParkedStep> steps;
  for (const auto& [id, step] : state.parked) steps.push_back(step);
  return steps;
}

/// Whether the session itself only waits. A call that an approver has just allowed is about to run.
bool only_waits(const State& state) {
  if (state.status() != SessionStatus::kAwaitingUser) return false;
  return std::ranges::none_of(state.turn->calls, [](const CallState& call) {
    return call.phase == CallState::Phase::kApproved || call.phase == CallState::Phase::kProposed;
  });
}

}  // namespace

Result<std::vector<ParkedStep>> waiting_steps(const app::StoredSession& stored) {
  const bool may_wait = stored.state.turn && (stored.state.parked.empty() || only_waits(stored.state));
  return may_wait ? app::pending_steps(stored) : std::vector<ParkedStep>{};
}

bool replay_into(const std::vector<StoredRecord>& records, std::uint64_t from, std::size_t skipped,
                 TurnCodec& codec, std::string& out) {
  State state;
  LogReplay replay(codec, state);
  for (const StoredRecord& stored : records) {
    const bool is_new = stored.seq > from || (stored.seq == from && skipped == 0);
    const auto* decided = std::get_if<records::Decided>(&stored.record.body);
    if (is_new && decided != nullptr && !decided->park.empty() && only_waits(state) &&
        codec.take_decision(decided->park, steps_of(state), out))
      return true;
    if (stored.seq < from) {
      if (!replay.skip(stored)) return false;
      continue;
    }
    const auto ended = replay.take(stored, stored.seq == from ? skipped : 0, out);
    if (!ended) return false;
    if (*ended) return true;
  }
  return false;
}

Status LogReplay::skip(const StoredRecord& stored) { return apply_to(state_, stored.record); }

Result<bool> LogReplay::take(const StoredRecord& stored, std::size_t left_out, std::string& out) {
  if (auto applied = skip(stored); !applied) return fail(applied.error());
  if (agent_ != state_.agent) {
    agent_ = state_.agent;
    shown_ =
        redact::Redaction().then(filters::text_rule(filters::filters_of(*agent_), filters::Point::kShown));
  }
  for (Event& event : project(stored.record, state_)) {
    redact_event(event, shown_);
    if (left_out > 0) {
      --left_out;
    } else if (codec_.take(event, out)) {
      return true;
    }
  }
  return false;
}

void BeginWatch::report(const Result<AgentResult>& result) {
  std::shared_ptr<TurnFollower> follower;
  {
    const std::lock_guard lock(mutex_);
    follower = follower_.lock();
    if (!result) error_ = result.error();
  }
  if (!result && follower) follower->fail_with(result.error());
}

void BeginWatch::give(const std::shared_ptr<TurnFollower>& follower) {
  std::optional<Error> error;
  {
    const std::lock_guard lock(mutex_);
    error = error_;
    if (!error) follower_ = follower;
  }
  if (error) follower->fail_with(*error);
}

TurnFollower::TurnFollower(const Service& service, HttpReply reply, std::shared_ptr<TurnCodec> codec,
                           Gives gives)
    : EventSink(std::move(reply)),
      journal_(service.journal),
      runs_(service.runs),
      codec_(std::move(codec)),
      gives_(gives),
      watched_(service.feed) {}

Status TurnFollower::watch(const SessionId& run) {
  {
    const std::lock_guard lock(mutex_);
    if (!run_.empty()) return {};
    run_ = run;
  }
  return watched_.begin({.session = run});
}

void TurnFollower::replay(const app::StoredSession& stored) {
  const std::lock_guard lock(mutex_);
  is_over_ = replay_into(stored.records, 0, 0, *codec_, before_);
  replayed_ = taken_ = seen_[stored.id] = stored.records.empty() ? 0 : stored.records.back().seq;
  taken_events_ = SIZE_MAX;
  may_wait_ = stored.state.turn.has_value();
  missed_pieces_ = stored.state.turn && stored.state.turn->effect;
}

void TurnFollower::start_after(const app::StoredSession& stored) {
  const std::lock_guard lock(mutex_);
  replayed_ = taken_ = seen_[stored.id] = stored.state.seq;
  taken_events_ = SIZE_MAX;
  may_wait_ = true;
}

void TurnFollower::begin_with(const std::string& text) {
  const std::lock_guard lock(mutex_);
  before_ += text;
}

void TurnFollower::ignore_waits() {
  const std::lock_guard lock(mutex_);
  ignores_waits_ = true;
}

void TurnFollower::follow(HttpHeaders headers) {
  bool is_over = false;
  {
    const std::lock_guard lock(mutex_);
    is_over = std::exchange(is_over_, false);
    if (gives_ == Gives::kStream) {
      HttpHeaders all = event_headers(reply());
      all.insert(all.end(), headers.begin(), headers.end());
      reply().begin(200, std::move(all));
    }
    if (!deliver(std::exchange(before_, {}), is_over)) return;
  }
  watched_.give_to(shared_from_this());
  const std::lock_guard lock(mutex_);
  if (may_wait_) look_whether_it_waits();
}

void TurnFollower::fail_with(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (is_over_) return;
  std::string out;
  codec_->take_error(error, out);
  std::ignore = deliver(std::move(out), true);
}

bool TurnFollower::on_frame(const Frame& frame) {
  const std::lock_guard lock(mutex_);
  if (is_over_) return false;
  if (!frame.exact) return true;
  const Event& event = *frame.exact;
  const bool is_durable = frame.position.has_value();
  if (skips(event, is_durable)) return true;
  if (is_durable) seen_[event.agent.id] = event.seq;
  const bool is_step = std::holds_alternative<events::StepParked>(event.body) ||
                       std::holds_alternative<events::StepDecided>(event.body);
  may_wait_ = may_wait_ || is_step;
  if (!give(event, is_durable)) return false;
  if (is_durable && may_wait_) look_whether_it_waits();
  return true;
}

/// Whether the codec has the event already, or cannot use the piece because it missed those before it.
bool TurnFollower::skips(const Event& event, bool is_durable) {
  // A piece that the feed kept for those who come late may be given after its answer.
  if (is_delta(event.body) && event.seq < seen_[event.agent.id]) return true;
  if (event.agent.id != run_) return false;
  if (is_durable) return event.seq <= replayed_;
  if (!missed_pieces_ || event.seq != replayed_ || !is_delta(event.body)) return false;
  const auto* text = std::get_if<events::TextDelta>(&event.body);
  if (text != nullptr && text->item == 0) return false;  // the feed gives the text so far as one piece
  return true;
}

bool TurnFollower::give(const Event& event, bool is_durable) {
  if (is_durable && event.agent.id == run_) {
    taken_events_ = event.seq == taken_ ? taken_events_ + 1 : 1;
    taken_ = event.seq;
  }
  std::string out;
  const bool is_last = codec_->take(event, out);
  return deliver(std::move(out), is_last);
}

/// False: the client gets no more.
bool TurnFollower::deliver(std::string out, bool is_last) {
  if (gives_ == Gives::kStream) {
    if (reply().waiting() > kMostUntaken) is_last = true;
    const bool is_there = out.empty() || reply().write(std::make_shared<const std::string>(std::move(out)));
    if (is_last) reply().finish();
    is_over_ = is_last || !is_there;
  } else if (is_last || (gives_ == Gives::kWhenBegun && codec_->has_begun())) {
    reply().send(codec_->answer());
    is_over_ = true;
  }
  return !is_over_;
}

// ---- waiting for people

void TurnFollower::look_whether_it_waits() {
  if (ignores_waits_) return;
  looks_again_ = true;
  if (std::exchange(is_looking_, true)) return;
  runs_->post([self = shared_from_this()] { self->look(); });
}

/// Only the log tells whether the run waits for people: it may be another process that continues it.
void TurnFollower::look() {
  while (true) {
    SessionId run;
    {
      const std::lock_guard lock(mutex_);
      if (is_over_ || !std::exchange(looks_again_, false)) {
        is_looking_ = false;
        return;
      }
      run = run_;
    }
    const auto stored = app::read_session(journal_, run);
    const auto pending = stored ? waiting_steps(*stored) : Result<std::vector<ParkedStep>>();
    if (!stored || !pending || pending->empty()) continue;
    const std::lock_guard lock(mutex_);
    if (is_over_) return;
    std::string out;
    const std::size_t skipped = taken_events_;
    if (!replay_into(stored->records, taken_, skipped, *codec_, out)) codec_->take_wait(*pending, out);
    std::ignore = deliver(std::move(out), true);
    return;
  }
}

// ---- now and then

bool TurnFollower::on_idle() {
  if (gives_ != Gives::kStream) return true;
  return EventSink::on_idle();
}

void TurnFollower::on_end() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(is_over_, true)) return;
  if (gives_ == Gives::kStream) return reply().finish();
  reply().send(problem(make_error(ErrorCode::kCancelled, "the server is shutting down")));
}

}  // namespace praxis::server
