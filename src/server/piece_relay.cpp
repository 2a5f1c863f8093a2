#include "server/piece_relay.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <ranges>
#include <tuple>
#include <utility>

namespace praxis::server {
namespace {

using namespace std::chrono_literals;

constexpr auto kBeacon = 1'000ms;  // between two signs of interest
constexpr auto kForget = 5'000ms;  // of a reader that shows none
constexpr auto kGather = 25ms;     // between two messages with pieces
constexpr auto kRetryConnect = 1'000ms;
constexpr auto kAskAgain = 500ms;  // between two requests for the same answer
constexpr auto kIdle = 60'000ms;
constexpr std::size_t kMostWanted = 50;  // sessions in one message

}  // namespace

struct PieceRelay::Bell {
  FileDescriptor file{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::atomic<bool> has_interests = false, ends = false;

  void ring() const {
    const std::uint64_t one = 1;
    std::ignore = write(file.get(), &one, sizeof one);
  }
  void silence() const {
    std::uint64_t count = 0;
    std::ignore = read(file.get(), &count, sizeof count);
  }
};

PieceRelay::PieceRelay(std::string address, std::string name, std::shared_ptr<EventFeed> feed,
                       std::shared_ptr<Runs> runs, std::shared_ptr<RelayCounts> counts, Warn warn)
    : address_(std::move(address)),
      name_(std::move(name)),
      feed_(std::move(feed)),
      runs_(std::move(runs)),
      counts_(std::move(counts)),
      warn_(std::move(warn)),
      bell_(std::make_shared<Bell>()),
      outbox_(std::make_shared<RelayOutbox>([bell = bell_] { bell->ring(); })) {
  feed_->follow_others([bell = bell_] {
    if (!bell->has_interests.exchange(true)) bell->ring();
  });
  thread_ = std::thread([this] { work(); });
}

PieceRelay::~PieceRelay() {
  bell_->ends = true;
  bell_->ring();
  thread_.join();
}

void PieceRelay::work() {
  while (!bell_->ends) {
    if (live_ || connect()) {
      step();
    } else {
      pollfd bell{bell_->file.get(), POLLIN, 0};
      std::ignore = poll(&bell, 1, static_cast<int>(kRetryConnect.count()));
      bell_->silence();
    }
  }
  end_all();
}

bool PieceRelay::connect() {
  auto opened = PostgresLive::open(address_, name_);
  if (!opened) {
    if (!std::exchange(has_warned_, true) && warn_)
      warn_("readers of runs of other servers get no deltas: " + opened.error().message);
    return false;
  }
  live_.emplace(*std::move(opened));
  has_warned_ = false;
  // What was under way is lost: ask again for the open answers from their beginning.
  for (auto& [session, wanted] : wanted_) wanted.epoch = ++epochs_;
  end_all();
  is_changed_ = true;
  return true;
}

void PieceRelay::step() {
  auto texts = live_->receive(bell_->file.get(), pause());
  bell_->silence();
  if (!texts) return live_.reset();
  for (const std::string& text : *texts) take(text);
  Messages messages;
  if (bell_->has_interests.exchange(false)) refresh_wanted();
  const auto now = Clock::now();
  if (is_changed_ || now - beacon_at_ >= kBeacon) {
    refresh_wanted();  // a session may have come here, or gone
    tidy();
    add_beacons(messages);
  }
  if (now - pieces_at_ >= kGather) add_pieces(messages);
  if (!messages.empty() && !live_->send(messages)) live_.reset();
}

std::chrono::milliseconds PieceRelay::pause() const {
  const auto since = [](Clock::time_point time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - time);
  };
  if (!outbox_->is_empty()) return std::max(kGather - since(pieces_at_), 0ms);
  const bool is_idle = wanted_.empty() && readers_.empty();
  return is_idle && !is_changed_ ? kIdle : std::max(kBeacon - since(beacon_at_), 0ms);
}

// ---- what others say

void PieceRelay::take(const std::string& text) {
  const Json json = parse_json(text).value_or(nullptr);
  const std::string from = json_string(json, "from");
  if (from == name_) return;
  if (json_at(json, "wants").is_array()) return take_beacon(from, json);
  take_pieces(json);
}

void PieceRelay::take_beacon(const std::string& from, const Json& text) {
  Reader& reader = readers_[from];
  reader.seen = Clock::now();
  const auto round = static_cast<std::uint64_t>(json_int(text, "round"));
  for (const Json& each : json_at(text, "wants").as_array()) {
    const SessionId session(json_string(each, "session"));
    const auto epoch = static_cast<std::uint64_t>(json_int(each, "epoch"));
    Relayed& relayed = reader.relayed[session];
    relayed.round = round;
    const bool is_new = !relayed.sink || relayed.epoch != epoch;
    const bool caught_up = relayed.sink && relayed.sink->is_lost() && outbox_->is_empty(from);
    relayed.epoch = epoch;
    if ((is_new || caught_up) && (session.empty() || runs_->has_open(session))) begin(relayed, from, session);
  }
  if (!json_bool(text, "last")) return;
  for (auto& [session, relayed] : reader.relayed) {
    if (relayed.round != round) end(relayed);
  }
  std::erase_if(reader.relayed, [&](const auto& each) { return each.second.round != round; });
  if (reader.relayed.empty()) readers_.erase(from);
}

void PieceRelay::take_pieces(const Json& text) {
  ++counts_->received;
  for (RemotePiece& piece : relayed_pieces(text)) {
    const SessionId session = piece.event.agent.id;
    if (runs_->has_open(session)) continue;  // what this process writes itself, on its way back
    if (!feed_->take_remote(std::move(piece))) ask_again(session);
  }
  if (json_bool(text, "records")) feed_->wake();
}

/// Asks for an answer from its beginning, because pieces of it are missing.
void PieceRelay::ask_again(const SessionId& session) {
  const auto now = Clock::now();
  for (auto& [interest, wanted] : wanted_) {
    const bool covers = interest.empty() || runs_->lineages().is_within(session, interest);
    if (!covers || now - wanted.asked < kAskAgain) continue;
    wanted = {++epochs_, now};
    is_changed_ = true;
    ++counts_->gaps;
  }
}

void PieceRelay::begin(Relayed& relayed, const std::string& reader, const SessionId& session) {
  end(relayed);
  relayed.sink = std::make_shared<RelaySink>(outbox_, reader);
  relayed.leave = feed_->subscribe({.session = session, .relays = true}, std::nullopt, relayed.sink);
}

void PieceRelay::end(Relayed& relayed) {
  if (relayed.leave) std::exchange(relayed.leave, nullptr)();
  relayed.sink = nullptr;
}

void PieceRelay::end_all() {
  for (auto& [name, reader] : readers_) {
    for (auto& [session, relayed] : reader.relayed) end(relayed);
  }
  readers_.clear();
  std::ignore = outbox_->take();
}

/// Drops the readers that are gone.
void PieceRelay::tidy() {
  for (auto& [name, reader] : readers_) {
    if (Clock::now() - reader.seen < kForget) continue;
    for (auto& [session, relayed] : reader.relayed) end(relayed);
    reader.relayed.clear();
  }
  std::erase_if(readers_, [](const auto& each) { return each.second.relayed.empty(); });
}

// ---- what this one says

/// What observers here watch and this process does not run, without what is below another such session.
void PieceRelay::refresh_wanted() {
  std::set<SessionId> all = feed_->interests();
  if (all.contains(SessionId())) all = {SessionId()};
  std::set<SessionId> wanted;
  for (const SessionId& session : all) {
    const bool is_below = std::ranges::any_of(all, [&](const SessionId& other) {
      return other != session && runs_->lineages().is_within(session, other);
    });
    if (!is_below && (session.empty() || !runs_->has_open(session))) wanted.insert(session);
  }
  const std::size_t before = wanted_.size();
  std::erase_if(wanted_, [&](const auto& each) { return !wanted.contains(each.first); });
  const bool has_fewer = wanted_.size() < before;
  for (const SessionId& session : wanted) {
    if (wanted_.contains(session)) continue;
    wanted_[session] = {++epochs_, Clock::now()};
    is_changed_ = true;
  }
  if (!has_fewer) return;
  is_changed_ = true;
  feed_->forget_unwatched();
}

void PieceRelay::add_beacons(Messages& messages) {
  beacon_at_ = Clock::now();
  if (!std::exchange(is_changed_, false) && wanted_.empty()) return;
  ++rounds_;
  auto next = wanted_.begin();
  do {
    JsonArray wants;
    for (; next != wanted_.end() && wants.size() < kMostWanted; ++next)
      wants.push_back(JsonObject{{"session", next->first.str()}, {"epoch", next->second.epoch}});
    messages.push_back({"", to_json_text(JsonObject{{"from", name_},
                                                    {"round", rounds_},
                                                    {"wants", std::move(wants)},
                                                    {"last", next == wanted_.end()}})});
  } while (next != wanted_.end());
}

void PieceRelay::add_pieces(Messages& messages) {
  pieces_at_ = Clock::now();
  for (auto& [reader, waiting] : outbox_->take()) {
    for (std::string& text : relay_texts(name_, std::move(waiting), PostgresLive::kMostBytes)) {
      messages.push_back({reader, std::move(text)});
      ++counts_->sent;
    }
  }
}

}  // namespace praxis::server
