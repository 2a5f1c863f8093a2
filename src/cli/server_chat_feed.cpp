#include "cli/server_chat_feed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <tuple>
#include <utility>

#include "app/context_report.hpp"
#include "app/read_program_json.hpp"
#include "cli/server_events.hpp"
#include "core/waiting.hpp"
#include "praxis/core/state.hpp"
#include "praxis/policy/policy.hpp"

namespace praxis::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 400ms;           ///< without an event, until figures are looked at
constexpr auto kLongestLook = 1000ms;   ///< likewise, while events come and the agents are shown
constexpr auto kRetry = 1000ms;         ///< after the server has not been there for long
constexpr auto kFactsLimit = 10'000ms;  ///< for a request besides the stream
constexpr int kMostSilent = 2;
constexpr std::array kPastRecords{5000, 500, 50};  ///< fewer if an answer would be too large

bool may_come_back(const Error& error) {
  return error.kind() == ErrorKind::kNetwork || error.kind() == ErrorKind::kOverloaded ||
         error.kind() == ErrorKind::kConnect;
}

/// Whether the event changes tokens or the window.
bool changes_figures(const EventBody& body) {
  return std::holds_alternative<events::ModelResponded>(body) ||
         std::holds_alternative<events::ChildSettled>(body) ||
         std::holds_alternative<events::ToolCompleted>(body) || ends_turn(body);
}

ParkId whole_step_id(const ParkId& id, const SessionId& session) {
  return id.str().contains('/') ? id : qualified_id(session, id);
}

}  // namespace

ServerChatFeed::ServerChatFeed(ServerClient client, SessionId run, std::shared_ptr<tui::EventFeed> to)
    : client_(std::move(client)), run_(std::move(run)), to_(std::move(to)), pieces_(run_.str()) {}

ServerChatFeed::~ServerChatFeed() = default;

Status ServerChatFeed::show_past(const EventHandler& show) {
  Result<Json> answer = Json();
  for (const int most : kPastRecords) {
    answer = client_.call_surely("GET", fmt::format("{}/history?limit={}", path(), most));
    if (answer || answer.error().kind() != ErrorKind::kTooLarge) break;
  }
  if (!answer) return fail(answer.error());
  last_ = json_string(*answer, "last_event_id");
  if (const JsonArray* sent = json_at(*answer, "events").if_array()) {
    for (const Json& each : *sent) take(each, show);
  }
  look_at_figures();
  return {};
}

void ServerChatFeed::begin(std::vector<ParkedStep> pending) {
  pending_ = std::move(pending);
  is_past_ = false;
  thread_ = std::jthread([this] { follow(); });
}

void ServerChatFeed::follow() {
  if (!pending_.empty()) {
    AgentResult report;
    report.session = run_;
    for (ParkedStep& step : pending_) {
      look_at_step(step, step.session.empty() ? run_ : step.session);
      report.pending.push_back(std::move(step));
    }
    to_->add(std::move(report));
  }
  ServerEvents events(client_, run_.str(), last_);
  while (!client_.stop().stop_requested() && hear(events)) {
  }
}

/// Waits a moment for the next event. False: nothing more can be heard.
bool ServerChatFeed::hear(ServerEvents& events) {
  auto sent = events.next(kLook);
  silent_ = events.is_connected() ? 0 : silent_ + 1;
  const bool is_lost = !sent || silent_ > kMostSilent;
  const char* const trouble = is_lost ? "no connection to the server" : "";
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(trouble_, trouble) != trouble) to_->wake();
  }
  if (!sent && may_come_back(sent.error())) return wait_unless_stopped(kRetry, client_.stop());
  if (!sent) {
    if (sent.error().code != ErrorCode::kCancelled) to_->add_item(tui::Undelivered{sent.error(), ""});
    return false;
  }
  if (events.reconnected()) pieces_.reconnected();
  const bool is_quiet = !sent->has_value();
  if (!is_quiet) take(**std::move(sent), [this](const Event& event) { to_->add(event); });
  if (events.is_connected() && is_look_due(is_quiet)) {
    look_at_figures();
    to_->wake();
  }
  return true;
}

/// An agent that streams is no reason to show the others as they were.
bool ServerChatFeed::is_look_due(bool is_quiet) const {
  const std::lock_guard lock(mutex_);
  if (is_quiet) return changed_ || nodes_wanted_;
  return nodes_wanted_ && std::chrono::steady_clock::now() - looked_ >= kLongestLook;
}

void ServerChatFeed::take(Json sent, const EventHandler& show) {
  // What an ended process had written of an answer is no part of the one that follows.
  if (json_text(sent, "event") == "session.recovered" && json_text(sent, "session") == run_.str())
    pieces_.begin_again(run_.str());
  for (const Json& json : pieces_.take(std::move(sent))) {
    const Event event = app::event_from(json);
    note(event);
    show(event);
  }
}

void ServerChatFeed::note(const Event& event) {
  changed_ = changed_ || changes_figures(event.body);
  if (const auto* parked = std::get_if<events::StepParked>(&event.body); parked != nullptr && !is_past_)
    look_at_step(parked->step, event.agent.id);
  if (const auto* answered = std::get_if<events::ModelResponded>(&event.body)) {
    const std::lock_guard lock(mutex_);
    figures_.usage += answered->usage;  // until the figures are looked at
  }
  if (event.agent.id != run_) return;
  const auto* command = std::get_if<events::SessionIntervened>(&event.body);
  const auto* said = std::get_if<events::MessageAdded>(&event.body);
  const std::lock_guard lock(mutex_);
  last_seq_ = std::max(last_seq_, event.seq);
  if (said != nullptr && said->source == MessageSource::kQueue && !queued_.empty())
    queued_.erase(queued_.begin());
  if (command != nullptr) note_waiting(event.seq, command->intervention);
}

/// Keeps the ids of what is queued; the lock is held.
void ServerChatFeed::note_waiting(std::uint64_t seq, const records::Intervened& command) {
  std::vector<WaitingMessage> steering;
  if (command.verb == CommandVerb::kEnqueue) queued_.push_back({seq, command.verb, ""});
  if (command.verb == CommandVerb::kWithdraw || command.verb == CommandVerb::kMove)
    std::ignore = change_waiting(steering, queued_, {}, command.verb, command.text);
}

/// Asks what the card of the step shows, before the step is reported.
void ServerChatFeed::look_at_step(const ParkedStep& step, const SessionId& session) {
  const ParkId id = whole_step_id(step.id, session);
  const auto slash = id.str().rfind('/');
  const auto answer = client_.within(kFactsLimit)
                          .call("GET", "/api/v1/runs/" + path_segment(id.str().substr(0, slash)) + "/steps/" +
                                           path_segment(id.str().substr(slash + 1)));
  if (!answer) return;
  tui::StepFacts facts;
  if (const JsonArray* changes = json_at(*answer, "changes").if_array()) {
    for (const Json& line : *changes) facts.changes.push_back(to_plain_text(line));
  }
  const Json& offered = json_at(*answer, "rule");
  if (auto rule = call_rule_from_json(json_at(offered, "call"))) {
    facts.always = app::AlwaysRule{*std::move(rule), {}};
    if (const JsonArray* files = json_at(offered, "files").if_array()) {
      for (const Json& file : *files) facts.always->files.push_back(to_plain_text(file));
    }
  }
  const std::lock_guard lock(mutex_);
  facts_[id] = std::move(facts);
}

/// Reads the agents with their usage, and how full the window is.
void ServerChatFeed::look_at_figures() {
  changed_ = false;
  {
    const std::lock_guard lock(mutex_);
    nodes_wanted_ = false;
  }
  const ServerClient brief = client_.within(kFactsLimit);
  const auto tree = brief.call("GET", path() + "/tree");
  const auto context = brief.call("GET", path() + "/context");
  std::vector<AgentNode> nodes;
  const JsonArray* all = tree ? json_at(*tree, "nodes").if_array() : nullptr;
  for (const Json& node : all == nullptr ? JsonArray() : *all) nodes.push_back(app::node_from(node));
  looked_ = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  const auto root = std::ranges::find(nodes, run_, &AgentNode::id);
  if (root != nodes.end()) {
    figures_.usage = root->subtree;
    nodes_ = std::move(nodes);
  }
  const std::int64_t window = context ? json_int(*context, "window") : 0;
  if (window <= 0) return;
  const auto percent = [&](const char* of) {
    return static_cast<int>(std::clamp<std::int64_t>(json_int(*context, of) * 100 / window, 0, 100));
  };
  figures_.context_percent = percent("used");
  figures_.compacts_percent = percent("compacts_above");
}

tui::RunFigures ServerChatFeed::figures() const {
  const std::lock_guard lock(mutex_);
  return figures_;
}

std::string ServerChatFeed::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

std::size_t ServerChatFeed::queued() const {
  const std::lock_guard lock(mutex_);
  return queued_.size();
}

std::uint64_t ServerChatFeed::last_seq() const {
  const std::lock_guard lock(mutex_);
  return last_seq_;
}

tui::StepFacts ServerChatFeed::facts_of(const ParkId& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = facts_.find(id);
  return found == facts_.end() ? tui::StepFacts() : found->second;
}

std::vector<AgentNode> ServerChatFeed::nodes() {
  const std::lock_guard lock(mutex_);
  nodes_wanted_ = true;
  return nodes_;
}

}  // namespace praxis::cli
