#include "cli/server_turn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "app/envelope.hpp"
#include "app/hints.hpp"
#include "app/read_program_json.hpp"
#include "cli/answer_pieces.hpp"
#include "cli/denials.hpp"
#include "cli/progress.hpp"
#include "cli/server_events.hpp"
#include "cli/step_dialog.hpp"
#include "cli/turn.hpp"

namespace praxis::cli {
namespace {

constexpr std::chrono::milliseconds kQuiet{500};  ///< after which a run that may wait is looked at
constexpr std::chrono::milliseconds kNap{15'000};
constexpr int kMostLooks = 10;  ///< at a run that a restarted server may not have taken up yet

/// Why a turn is no longer followed.
enum class FollowEnd : std::uint8_t { kTurnOver, kParked, kDeserted };

/// The agent ids from a root down to its sub-agents, from the events that announce them.
class AgentPaths {
 public:
  AgentPaths(const ServerClient& client, std::string run) : client_(client), run_(std::move(run)) {}

  void add(const Event& event) {
    const auto* spawned = std::get_if<events::ChildSpawned>(&event.body);
    if (spawned == nullptr) return;
    const std::string above = event.agent.id.str() == run_ ? "" : below(event.agent.id) + '/';
    paths_[spawned->child] = above + spawned->name;
  }
  /// Asks the server for those that were announced before the first event.
  std::string below(const SessionId& session) {
    if (!paths_.contains(session)) read();
    return paths_[session];
  }

 private:
  void read() {
    const auto tree = client_.call("GET", "/api/v1/runs/" + path_segment(run_) + "/tree");
    if (!tree || !json_at(*tree, "nodes").is_array()) return;
    for (const Json& json : json_at(*tree, "nodes").get_array()) {
      const std::string path = json_string(json, "path");
      const auto root = std::min(path.find('/'), path.size());
      paths_[SessionId(json_string(json, "id"))] = path.substr(std::min(root + 1, path.size()));
    }
  }

  const ServerClient& client_;
  const std::string run_;
  std::map<SessionId, std::string> paths_;
};

/// The first signal: the run continues without this command.
ExitStatus leave_at_server(const ServerClient& client, const std::string& run, const Interrupts& interrupts,
                           Console& console) {
  const Error error = make_error(ErrorCode::kCancelled, "interrupted; the run continues at the server");
  console.result(app::run_fields(error, SessionId(run)));
  console.err.write(fmt::format("run {} continues at the server\nfollow: {}\nstop: praxis tree stop {}{}\n",
                                run, app::resume_command(client.workspace(), SessionId(run)), run,
                                app::place_options(client.workspace())));
  return exit_status(error, interrupts.received());
}

/// One turn at a server.
class ServerTurn {
 public:
  ServerTurn(const ServerClient& client, const std::string& run, std::string after, const TurnOutput& output,
             Interrupts& interrupts, Console& console)
      : client_(client),
        run_(run),
        output_(output),
        interrupts_(interrupts),
        console_(console),
        events_(client, run, std::move(after)),
        pieces_(output.json ? "" : run),
        paths_(client, run),
        denials_(SessionId(run)) {
    if (output.json) return;
    progress_.emplace(
        console, SessionId(run), [this](const SessionId& session) { return paths_.below(session); },
        verbosity_of(output));
  }

  Result<ExitStatus> follow() {
    interrupts_.on_first([] {});
    auto ending = read_events();
    while (ending && *ending == FollowEnd::kParked && asks()) ending = read_events();
    if (interrupts_.received() != 0) return detach();
    if (!ending) return lost(ending.error());
    return *ending == FollowEnd::kDeserted ? desert() : end();
  }
  /// Whether another turn can begin, with a queued message.
  bool is_resumable() const { return is_resumable_; }

 private:
  Result<Json> run_json() const {
    return client_.call_surely("GET", "/api/v1/runs/" + path_segment(run_) + "?whole=true");
  }

  /// Shows events until the turn is over or waits.
  Result<FollowEnd> read_events() {
    int looks = 0;
    for (;;) {
      auto sent = events_.next(may_wait_ || looks > 0 ? kQuiet : kNap);
      if (!sent) return fail(sent.error());
      if (events_.reconnected()) {
        pieces_.reconnected();
        looks = kMostLooks;
      }
      const bool is_quiet = !sent->has_value();
      if (!is_quiet && show(**std::move(sent))) return FollowEnd::kTurnOver;
      // Not between two events: those that are on their way are shown first.
      const bool may_look =
          std::exchange(says_that_it_waits_, false) || (is_quiet && (may_wait_ || looks > 0));
      if (!may_look || !events_.is_connected()) continue;
      const auto ending = look(looks == 1);
      if (!ending) return fail(ending.error());
      if (*ending) return **ending;
      if (looks > 0) --looks;
    }
  }

  /// Whether the run waits for people or, at the last look, is left by its process.
  Result<std::optional<FollowEnd>> look(bool is_last) const {
    const auto run = run_json();
    if (!run) return fail(run.error());
    const auto status = session_status_from(json_string(*run, "status"));
    if (status == SessionStatus::kAwaitingUser) return std::optional(FollowEnd::kParked);
    if (status == SessionStatus::kInterrupted && is_last) return std::optional(FollowEnd::kDeserted);
    return std::optional<FollowEnd>();
  }

  /// Returns whether the turn is over.
  bool show(Json sent) {
    bool is_over = false;
    for (const Json& json : pieces_.take(std::move(sent))) {
      const Event event = app::event_from(json);
      const bool is_of_run = event.agent.id.str() == run_;
      if (std::holds_alternative<events::StepParked>(event.body)) may_wait_ = true;
      if (is_of_run && json_text(json, "event") == "agent.status" &&
          json_text(json, "status") == "awaiting_user")
        says_that_it_waits_ = true;
      denials_.add(event);
      paths_.add(event);
      if (progress_) {
        progress_->show(event);
      } else {
        console_.json(json);
      }
      is_over = is_over || (is_of_run && ends_turn(event.body));
    }
    return is_over;
  }

  /// Asks the user about the steps that wait. False: one is left for later, or no user is asked.
  bool asks() {
    if (!progress_ || output_.no_input || !StepDialog::can_ask(console_)) return false;
    const auto run = run_json();
    if (!run) return false;
    const AgentResult result = app::result_from(*run);
    StepDialog dialog(console_, nullptr);
    progress_->hold(true);
    bool is_decided = !result.pending.empty();
    for (const ParkedStep& step : result.pending) {
      const auto approval = dialog.ask(step, client_.stop());
      const Status decided = approval ? decide_at_server(client_, step, SessionId(run_), *approval)
                                      : Status(fail(ErrorCode::kCancelled, "left for later"));
      if (approval && !decided) console_.report(decided.error());
      is_decided = is_decided && decided;
    }
    progress_->hold(false);
    may_wait_ = false;
    return is_decided;
  }

  Result<ExitStatus> end() {
    auto run = run_json();
    if (interrupts_.received() != 0) return detach();
    if (!run) return lost(run.error());
    is_resumable_ = json_bool(*run, "resumable");
    TurnEnd ended{.result = app::result_from(*run), .fields = fields_of_run(std::move(run->get_object()))};
    for (const std::string& denial : denials_.below()) {
      ended.result.denials.push_back(denial);
      ended.fields["denials"].get_array().emplace_back(denial);
    }
    ended.can_continue = is_resumable_;
    ended.blocked = denials_.any() && !output_.denials_ok;
    if (progress_) progress_->finish(ended.result);
    progress_.reset();
    return tell(std::move(ended), client_.workspace(), output_, console_);
  }

  ExitStatus detach() {
    progress_.reset();
    return leave_at_server(client_, run_, interrupts_, console_);
  }

  std::unexpected<Error> lost(const Error& error) {
    progress_.reset();
    console_.result(app::run_fields(error, SessionId(run_)));
    return fail(error.code == ErrorCode::kModel
                    ? app::with_hint(error, resume_command() + " follows the run again")
                    : error);
  }

  std::unexpected<Error> desert() {
    return lost(make_error(ErrorCode::kModel, ErrorKind::kServer,
                           fmt::format("run {} was interrupted with its server, which leaves it so", run_)));
  }

  std::string resume_command() const { return app::resume_command(client_.workspace(), SessionId(run_)); }

  const ServerClient& client_;
  const std::string run_;
  const TurnOutput& output_;
  Interrupts& interrupts_;
  Console& console_;
  ServerEvents events_;
  AnswerPieces pieces_;
  AgentPaths paths_;
  Denials denials_;
  std::optional<Progress> progress_;
  bool may_wait_ = false;            ///< a step was parked
  bool says_that_it_waits_ = false;  ///< the last event shown
  bool is_resumable_ = false;
};

}  // namespace

Result<ExitStatus> follow_at_server(const ServerClient& client, const std::string& run, std::string after,
                                    const TurnOutput& output, Interrupts& interrupts, Console& console) {
  for (;;) {
    ServerTurn turn(client, run, std::move(after), output, interrupts, console);
    const auto status = turn.follow();
    if (!status || *status != ExitStatus::kFinished || !turn.is_resumable()) return status;
    const ServerClient sender = client.unstopped();
    const auto now = sender.call("GET", "/api/v1/runs/" + path_segment(run));
    if (!now) return fail(now.error());
    after = json_string(*now, "last_event_id");
    if (auto resumed = sender.call("POST", "/api/v1/runs/" + path_segment(run) + "/resume"); !resumed)
      return fail(resumed.error());
  }
}

Result<ExitStatus> send_and_follow(const ServerClient& client, const std::string& run,
                                   const std::string& prompt, const TurnOutput& output,
                                   Interrupts& interrupts, Console& console) {
  const std::string path = "/api/v1/runs/" + path_segment(run);
  const auto now = client.call("GET", path);
  if (!now) return fail(now.error());
  // Once the message is sent, its turn may begin: the first signal waits for the answer.
  interrupts.on_first([] {});
  if (auto sent = client.unstopped().call("POST", path + "/messages", JsonObject{{"prompt", prompt}}); !sent)
    return fail(sent.error());
  return follow_at_server(client, run, json_string(*now, "last_event_id"), output, interrupts, console);
}

JsonObject fields_of_run(JsonObject run) {
  for (const char* of_server : {"held", "records", "last_event_id", "resumable"}) run.stable_erase(of_server);
  return run;
}

Status decide_at_server(const ServerClient& client, const ParkedStep& step, const SessionId& session,
                        const Approval& approval) {
  const std::string& id = step.id.str();
  const auto slash = id.rfind('/');
  const std::string owner = slash == std::string::npos ? session.str() : id.substr(0, slash);
  JsonObject body{{"decision", to_string(approval.verb)}};
  if (approval.verb == ApprovalVerb::kEdit) {
    auto arguments = parse_json(approval.text);
    if (!arguments) return fail(arguments.error());
    body["arguments"] = *std::move(arguments);
  } else if (!approval.text.empty()) {
    body["text"] = approval.text;
  }
  const auto decided = client.call("POST",
                                   "/api/v1/runs/" + path_segment(owner) + "/steps/" +
                                       path_segment(id.substr(slash == std::string::npos ? 0 : slash + 1)),
                                   body);
  return decided ? Status() : Status(fail(decided.error()));
}

Status refuse_with_server(std::initializer_list<LocalOption> options) {
  for (const LocalOption& option : options) {
    if (option.is_given)
      return fail(
          app::usage_error(fmt::format("{} does not work with --server", option.name), option.instead));
  }
  return {};
}

Status check_no_place(const app::Place& place) {
  return refuse_with_server({
      {!place.journal.empty(), "--journal", "the server has its own journal: leave the option out"},
      {!place.profile.empty(), "--profile", "the configuration of the server counts: leave the option out"},
      {!place.folder.empty(), "-C", "runs work in the folder of the server: leave the option out"},
  });
}

Status check_turn_at_server(const app::Place& place, const TurnOutput& output) {
  if (auto fits = check_no_place(place); !fits) return fits;
  if (auto writable = check_output(output); !writable) return writable;
  return refuse_with_server({
      {!output.record_to.empty(), "--record", "the server talks to the models: leave the option out"},
      {!output.stream, "--no-stream", "the server talks to the models: leave the option out"},
  });
}

}  // namespace praxis::cli
