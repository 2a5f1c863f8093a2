#include "cli/server_chat_run.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "app/hints.hpp"
#include "app/read_program_json.hpp"
#include "cli/call_queue.hpp"
#include "cli/server_chat_feed.hpp"
#include "cli/server_turn.hpp"
#include "praxis/base/base64.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/base/reach.hpp"

namespace praxis::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kUserPatience = 20'000ms;  ///< for an answer while the user waits
constexpr auto kLeavePatience = 5'000ms;  ///< for what was sent last to arrive

/// The session and the name of a step, as its route has them.
std::string step_path(const ParkId& id) {
  const auto slash = id.str().rfind('/');
  return "/api/v1/runs/" + path_segment(id.str().substr(0, slash)) + "/steps/" +
         path_segment(id.str().substr(slash + 1));
}

/// The images of a message as the server takes them; texts go as its prompt.
JsonArray attachments_of(const Message& message) {
  JsonArray attachments;
  for (const Part& part : message.parts) {
    const auto* image = std::get_if<ImagePart>(&part);
    if (image == nullptr) continue;
    const std::string data = "data:" + image->source.mime + ";base64," + base64_encode(image->source.data);
    attachments.push_back(JsonObject{{"url", data}});
  }
  return attachments;
}

JsonObject command_json(CommandVerb verb, const std::string& text) {
  // The name of the record, `resume`, is another request here.
  const std::string_view name = verb == CommandVerb::kUnpause ? "unpause" : to_string(verb);
  return {{"verb", name}, {"text", text}};
}

Json commands_of(CommandVerb verb, const std::string& text) {
  return JsonObject{{"commands", JsonArray{command_json(verb, text)}}};
}

/// Whether an event says that a message of the user arrived.
bool brings(const Json& event, const std::string& text) {
  if (json_text(event, "event") == "session.intervened") return json_text(event, "text") == text;
  if (json_text(event, "event") != "message.added") return false;
  const auto message = message_from_json(json_at(event, "message"));
  return message && message->text() == text;
}

class ServerChatRun final : public tui::ChatRun {
 public:
  ServerChatRun(const ServerClient& client, std::stop_source stop, SessionId run, std::string agent,
                std::string model)
      : client_(client),
        brief_(client.within(kUserPatience)),
        stop_(std::move(stop)),
        agent_(std::move(agent)),
        model_(std::move(model)),
        id_(std::move(run)) {}
  ~ServerChatRun() override { stop_.request_stop(); }

  SessionId id() const override {
    const std::lock_guard lock(mutex_);
    return id_;
  }
  bool is_recorded() const override { return !id().empty(); }
  void follow(std::shared_ptr<tui::EventFeed> feed) override { to_ = std::move(feed); }
  Result<bool> show_past(const EventHandler& show) override;
  Status show_past_of(const SessionId& agent, const EventHandler& show) override;
  Status close() override {
    leave();
    return {};
  }
  void leave() override {
    calls_.settle(kLeavePatience);
    stop_.request_stop();
    const std::lock_guard lock(mutex_);
    feed_.reset();
  }

  std::string model() const override { return model_; }
  tui::RunFigures figures() const override {
    const auto feed = this->feed();
    return feed ? feed->figures() : tui::RunFigures();
  }
  std::string trouble() const override {
    const auto feed = this->feed();
    return feed ? feed->trouble() : "";
  }
  std::size_t queued() const override {
    const auto feed = this->feed();
    return feed ? feed->queued() : 0;
  }
  Status set_member(const std::string& /*name*/) override {
    return fail(app::usage_error("the members of a team at a server take turns as its agent file says"));
  }

  void send(Message message) override {
    calls_.add([this, message = std::move(message)] {
      deliver(message.text(), [&] { return begin_turn(message); });
    });
  }
  void steer(std::string text) override { command(CommandVerb::kSteer, std::move(text)); }
  void enqueue(std::string text) override { command(CommandVerb::kEnqueue, std::move(text)); }
  void interrupt() override { command(CommandVerb::kInterrupt, ""); }
  void resume() override {
    calls_.add([this] {
      const auto done = client_.call_surely("POST", path() + "/resume");
      if (done) return;
      // Another terminal was faster: the turn may be over already.
      const bool was_done = done.error().kind() == ErrorKind::kConflict;
      to_->add_item(tui::Undelivered{was_done ? std::nullopt : std::optional(done.error()), ""});
    });
  }
  void run_late() override { resume(); }

  Status command(const SessionId& agent, std::vector<tui::AgentCommand> commands) override {
    JsonArray all;
    for (const auto& [verb, text] : commands) all.push_back(command_json(verb, text));
    return status_of(brief_.call("POST", "/api/v1/runs/" + path_segment(agent.str()) + "/commands",
                                 JsonObject{{"commands", std::move(all)}}));
  }
  Status decide(const ParkId& id, const Approval& approval) override {
    ParkedStep step;
    step.id = id;
    return decide_at_server(brief_, step, this->id(), approval);
  }
  Status decide_by_rule(const ParkId& id, const app::AlwaysRule& rule) override {
    auto json = parse_json(app::rule_to_edit(rule));
    if (!json) return fail(json.error());
    return status_of(
        brief_.call("POST", step_path(id),
                    JsonObject{{"decision", to_string(ApprovalVerb::kApprove)}, {"rule", *std::move(json)}}));
  }
  tui::StepFacts facts_of(const SessionId& /*session*/, const ParkedStep& step) override {
    const auto feed = this->feed();
    return feed ? feed->facts_of(step.id) : tui::StepFacts();
  }

  Status rewind(const TurnId& turn) override {
    return status_of(brief_.call("POST", path() + "/rewind", JsonObject{{"turn", turn.str()}}));
  }
  std::vector<AgentNode> tree(tui::Patience patience) override;
  Result<app::ContextReport> context() override {
    if (!is_recorded()) return fail(app::usage_error("there is no run yet: the first message makes it"));
    const auto answer = brief_.call("GET", path() + "/context");
    return answer ? Result<app::ContextReport>(app::context_from(*answer)) : fail(answer.error());
  }
  Result<Json> transcript() override;
  Result<std::vector<app::FileDiff>> diffs(bool works) override;
  Result<std::vector<RestoreStep>> undo(const tui::UndoWish& wish, bool acts) override;

 private:
  static Status status_of(const Result<Json>& answer) {
    return answer ? Status() : Status(fail(answer.error()));
  }
  std::string path() const { return "/api/v1/runs/" + path_segment(id().str()); }
  std::shared_ptr<ServerChatFeed> feed() const {
    const std::lock_guard lock(mutex_);
    return feed_;
  }

  // On the thread of the calls.
  void command(CommandVerb verb, std::string text);
  Status send_command(CommandVerb verb, const std::string& text) {
    return status_of(client_.call("POST", path() + "/commands", commands_of(verb, text)));
  }
  Status begin_turn(const Message& message);
  Status create(JsonObject request);
  void deliver(const std::string& text, const std::function<Status()>& send);
  bool has_arrived(const std::string& text, std::uint64_t after) const;

  const ServerClient client_, brief_;
  std::stop_source stop_;
  const std::string agent_;
  std::string model_;
  std::shared_ptr<tui::EventFeed> to_;

  mutable std::mutex mutex_;  ///< guards the next members
  SessionId id_;
  std::shared_ptr<ServerChatFeed> feed_;

  CallQueue calls_;  ///< the last member: its thread ends first
};

Result<bool> ServerChatRun::show_past(const EventHandler& show) {
  auto feed = std::make_shared<ServerChatFeed>(client_, id_, to_);
  if (auto shown = feed->show_past(show); !shown) return fail(shown.error());
  // Read after the past, so that no step is missing that was parked between the two.
  const auto run = client_.call_surely("GET", path());
  if (!run) return fail(run.error());
  AgentResult result = app::result_from(*run);
  model_ = result.model;
  const std::lock_guard lock(mutex_);
  feed_ = std::move(feed);
  feed_->begin(std::move(result.pending));
  return json_bool(*run, "resumable") && !json_bool(*run, "held");
}

Status ServerChatRun::show_past_of(const SessionId& agent, const EventHandler& show) {
  Result<Json> answer = Json();
  for (const char* const most : {"1000", "100", "10"}) {  // fewer if an answer would be too large
    answer = brief_.call("GET",
                         "/api/v1/runs/" + path_segment(agent.str()) + "/history?below=false&limit=" + most);
    if (answer || answer.error().kind() != ErrorKind::kTooLarge) break;
  }
  if (!answer) return fail(answer.error());
  if (const JsonArray* events = json_at(*answer, "events").if_array()) {
    for (const Json& event : *events) show(app::event_from(event));
  }
  return {};
}

// ---- what is sent

void ServerChatRun::command(CommandVerb verb, std::string text) {
  calls_.add([this, verb, text = std::move(text)] {
    if (verb == CommandVerb::kInterrupt && !is_recorded()) return;
    deliver(text, [&] {
      auto done = send_command(verb, text);
      // The turn was over when it arrived.
      const bool came_late =
          verb == CommandVerb::kInterrupt && !done && done.error().code == ErrorCode::kInput;
      return came_late ? Status() : done;
    });
  });
}

/// A turn that another terminal has begun meanwhile gets the message at its next step, if it is a text.
Status ServerChatRun::begin_turn(const Message& message) {
  JsonArray attachments = attachments_of(message);
  const bool is_text = attachments.empty();
  JsonObject request{{"prompt", message.text()}};
  if (!is_text) request["attachments"] = std::move(attachments);
  if (!is_recorded()) return create(std::move(request));
  const auto sent = client_.call("POST", path() + "/messages", std::move(request));
  if (!sent && sent.error().kind() == ErrorKind::kConflict && is_text)
    return send_command(CommandVerb::kSteer, message.text());
  return status_of(sent);
}

Status ServerChatRun::create(JsonObject request) {
  if (!agent_.empty()) request["agent"] = agent_;
  if (!model_.empty()) request["model"] = model_;
  // With the key a request that arrives twice is one run.
  const HttpHeaders once{{"Idempotency-Key", "chat-" + system_environment()->new_id()}};
  const auto made = client_.call_surely("POST", "/api/v1/runs", std::move(request), once);
  if (!made) return fail(made.error());
  const SessionId run(json_string(*made, "id"));
  to_->add_item(tui::RunBegan{run});
  const std::lock_guard lock(mutex_);
  id_ = run;
  feed_ = std::make_shared<ServerChatFeed>(client_, run, to_);
  feed_->begin();
  return {};
}

/// Sends, and reports what has not arrived. A message whose answer was lost is looked for, so that it is not
/// sent twice.
void ServerChatRun::deliver(const std::string& text, const std::function<Status()>& send) {
  const auto feed = this->feed();
  const std::uint64_t before = feed ? feed->last_seq() : 0;
  const Status sent = send();
  if (sent) return;
  const bool may_have_arrived =
      sent.error().kind() == ErrorKind::kNetwork && reach_of(sent.error()) != Reach::kNotSent;
  if (may_have_arrived && !text.empty() && is_recorded() && has_arrived(text, before)) return;
  to_->add_item(tui::Undelivered{sent.error(), text});
}

/// Whether an event after a record says that the message arrived.
bool ServerChatRun::has_arrived(const std::string& text, std::uint64_t after) const {
  const auto last = client_.call_surely("GET", path() + "/history?limit=100&below=false");
  const JsonArray* events = last ? json_at(*last, "events").if_array() : nullptr;
  if (events == nullptr) return false;
  return std::ranges::any_of(*events, [&](const Json& event) {
    return std::cmp_greater(json_int(event, "seq"), after) && brings(event, text);
  });
}

// ---- what is asked

std::vector<AgentNode> ServerChatRun::tree(tui::Patience patience) {
  const auto feed = this->feed();
  if (patience == tui::Patience::kNone) return feed ? feed->nodes() : std::vector<AgentNode>();
  std::vector<AgentNode> nodes;
  const auto answer = is_recorded() ? brief_.call("GET", path() + "/tree") : Result<Json>(Json());
  const JsonArray* all = answer ? json_at(*answer, "nodes").if_array() : nullptr;
  for (const Json& node : all == nullptr ? JsonArray() : *all) nodes.push_back(app::node_from(node));
  return nodes;
}

/// All pages of the conversation as one.
Result<Json> ServerChatRun::transcript() {
  Json whole;
  for (std::string from = "1"; !from.empty();) {
    auto page = brief_.call("GET", path() + "/messages?limit=5000&from=" + from);
    if (!page) return page;
    const Json& next = json_at(*page, "next");
    from = next.is_null() ? "" : to_plain_text(next);
    if (whole.is_null()) {
      whole = *std::move(page);
      continue;
    }
    JsonArray& items = whole.get_object()["items"].get_array();
    for (Json& item : page->get_object()["items"].get_array()) items.push_back(std::move(item));
  }
  return whole;
}

Result<std::vector<app::FileDiff>> ServerChatRun::diffs(bool /*works*/) {
  std::vector<app::FileDiff> diffs;
  if (!is_recorded()) return diffs;
  const auto answer = brief_.call("GET", path() + "/diff");
  if (!answer) return fail(answer.error());
  const JsonArray* files = json_at(*answer, "files").if_array();
  for (const Json& file : files == nullptr ? JsonArray() : *files) {
    app::FileDiff diff{.step = {},
                       .name = json_string(file, "path"),
                       .status = json_string(file, "status"),
                       .binary = json_bool(file, "binary"),
                       .added = static_cast<std::size_t>(json_int(file, "added")),
                       .removed = static_cast<std::size_t>(json_int(file, "removed")),
                       .lines = {}};
    if (const JsonArray* lines = json_at(file, "lines").if_array()) {
      for (const Json& line : *lines) diff.lines.push_back(to_plain_text(line));
    }
    diffs.push_back(std::move(diff));
  }
  return diffs;
}

Result<std::vector<RestoreStep>> ServerChatRun::undo(const tui::UndoWish& wish, bool acts) {
  if (!wish.redo && wish.before.empty())
    return fail(app::usage_error("there is no turn to take back here; name one", "/undo t2"));
  JsonObject request{{"dry_run", !acts}};
  if (wish.redo) {
    request["redo"] = true;
  } else {
    request["turn"] = wish.before.str();
  }
  const auto answer = brief_.call("POST", path() + "/undo", std::move(request));
  if (!answer) return fail(answer.error());
  std::vector<RestoreStep> plan;
  const JsonArray* files = json_at(*answer, "files").if_array();
  for (const Json& file : files == nullptr ? JsonArray() : *files)
    plan.push_back(app::restore_step_from(file));
  return plan;
}

Result<std::unique_ptr<tui::ChatRun>> opened(const ServerPlace& place, const SessionId& run,
                                             const std::string& agent, const std::string& model) {
  std::stop_source stop;
  const auto client = ServerClient::open(place, stop.get_token());
  if (!client) return fail(client.error());
  return std::make_unique<ServerChatRun>(*client, std::move(stop), run, agent, model);
}

}  // namespace

Result<std::unique_ptr<tui::ChatRun>> new_run_at_server(const ServerPlace& place, const std::string& agent,
                                                        const std::string& model) {
  return opened(place, {}, agent, model);
}

Result<std::unique_ptr<tui::ChatRun>> run_at_server_by_id(const ServerPlace& place, const SessionId& run,
                                                          const std::string& model) {
  return opened(place, run, "", model);
}

}  // namespace praxis::cli
