#include "tui/local_chat.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "app/change_text.hpp"
#include "app/doctor.hpp"
#include "app/provider_status.hpp"
#include "app/run_files.hpp"
#include "app/shown_run.hpp"
#include "app/team_run.hpp"
#include "app/transcript.hpp"
#include "app/without_secrets.hpp"
#include "core/context.hpp"
#include "logs/read_state.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/core/state.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/models/catalog.hpp"

namespace praxis::tui {
namespace {

class LocalChatRun final : public ChatRun {
 public:
  LocalChatRun(const app::Workspace& workspace, std::shared_ptr<Runtime> runtime, Author author,
               Session session, std::shared_ptr<Team> team)
      : workspace_(workspace),
        runtime_(std::move(runtime)),
        author_(std::move(author)),
        first_(std::move(session)),
        team_(std::move(team)),
        id_(first_.session_id()) {}

  SessionId id() const override { return id_; }
  bool is_recorded() const override { return journal().session(id_).has_value(); }

  void follow(std::shared_ptr<EventFeed> feed) override {
    feed_ = std::move(feed);
    const auto add = [to = feed_](const Event& event) { to->add(event); };
    subscription_ = team_ ? team_->on("*", add) : first_.on("*", add);
  }

  Result<bool> show_past(const EventHandler& show) override {
    const auto state = app::show_past(journal(), id_, app::Redactions(workspace_), show);
    if (!state) return fail(state.error());
    return state->turn || !state->queue.empty() || app::team_goes_on(*state);
  }

  Status show_past_of(const SessionId& agent, const EventHandler& show) override {
    const auto state = app::show_past(journal(), agent, app::Redactions(workspace_), show);
    return state ? Status() : fail(state.error());
  }

  Status close() override {
    subscription_.cancel();
    if (auto closed = session().close(); !closed) return closed;
    team_.reset();
    return {};
  }
  void leave() override { runtime_->stop(); }

  std::string model() const override { return session().last_result().model; }
  RunFigures figures() const override {
    const Session now = session();
    RunFigures figures{now.token_usage(), now.context_usage_percent(), 0};
    if (figures.context_percent > 0) figures.compacts_percent = compacts_percent(now);
    return figures;
  }
  std::size_t queued() const override { return session().queued(); }
  bool goes_on() const override {
    const auto state = read_state(journal(), id_);
    return team_ && state && app::team_goes_on(*state);
  }
  bool is_answered_by_team() const override { return team_ != nullptr; }

  Members members() const override {
    if (!team_) return {};
    Members members{team_->current_agent().spec().id, {}};
    for (const Agent& each : team_->agents()) members.all.push_back(each.spec().id);
    return members;
  }
  Status set_member(const std::string& name) override { return team_->set_agent_by_id(name); }
  app::PromptSources prompt_sources() const override { return session().prompt_sources(); }

  void send(Message message) override {
    if (team_) return work(team_->stream(std::move(message)));
    first_.send(std::move(message), nullptr,
                [feed = feed_](Result<AgentResult> report) { feed->add(std::move(report)); });
  }
  void steer(std::string text) override { session().steer(std::move(text)); }
  void enqueue(std::string text) override { session().enqueue(std::move(text)); }
  void interrupt() override {
    if (working_ && !working_->wait({})) return working_->interrupt();
    session().interrupt();
  }
  void resume() override {
    if (team_) return work(team_->stream_resume({}, author_));
    first_.resume([feed = feed_](Result<AgentResult> report) { feed->add(std::move(report)); });
  }
  void run_late() override { session().run(); }

  Status command(const SessionId& agent, std::vector<AgentCommand> commands) override {
    Commands all;
    for (auto& [verb, text] : commands) all.push_back({verb, agent, std::move(text), author_});
    return runtime_->command(std::move(all));
  }
  Status decide(const ParkId& id, const Approval& approval) override {
    return session().decide(id, approval, author_);
  }
  Status decide_by_rule(const ParkId& id, const app::AlwaysRule& rule) override {
    if (auto saved = app::save_rule(rule); !saved) return saved;
    return decide(id, approve());
  }
  StepFacts facts_of(const SessionId& session, const ParkedStep& step) override {
    StepFacts facts;
    if (step.kind == ParkKind::kApproval) {
      if (auto rule = app::always_rule_for(journal(), session, step)) facts.always = *std::move(rule);
    }
    facts.changes = app::ChangePreview(&journal()).lines(session, step);
    return facts;
  }

  Status rewind(const TurnId& turn) override { return session().rewind(turn); }
  std::vector<AgentNode> tree(Patience /*patience*/) override {
    std::vector<AgentNode> below;
    std::set<SessionId> known;
    for (AgentNode& node : runtime_->agent_tree()) {
      if (node.id != id_ && !known.contains(node.parent)) continue;
      known.insert(node.id);
      below.push_back(std::move(node));
    }
    return below;
  }
  Result<app::ContextReport> context() override { return app::context_report(session().state()); }
  Result<Json> transcript() override {
    const auto records = read_records(journal(), id_);
    if (!records) return fail(records.error());
    const auto state = fold(*records);
    if (!state) return fail(state.error());
    return app::transcript_for_export(*records, *state, app::Redactions(workspace_));
  }
  Result<std::vector<app::FileDiff>> diffs(bool works) override;
  Result<std::vector<RestoreStep>> undo(const UndoWish& wish, bool acts) override;

 private:
  /// Looked at once: it takes a copy of the state. The members of a team have different ones.
  int compacts_percent(const Session& now) const {
    if (team_) return 0;
    if (!compacts_percent_) {
      const State state = now.state();
      const std::int64_t window = state.context_window();
      const auto mark = compaction_mark(state);
      compacts_percent_ = mark && window > 0 ? static_cast<int>(*mark * 100 / window) : 0;
    }
    return *compacts_percent_;
  }
  Journal& journal() const { return runtime_->journal(); }
  /// The run; that of a team as the member has it who runs it now.
  Session session() const { return team_ ? team_->begin().value_or(first_) : first_; }
  /// Waits for all members that answer. Their events come by the subscription.
  void work(Run run) {
    working_ = run;
    runtime_->model_services().executor->post_blocking([run, feed = feed_]() mutable {
      for ([[maybe_unused]] const Event& event : run) continue;
      feed->add(run.report());
    });
  }

  const app::Workspace& workspace_;
  const std::shared_ptr<Runtime> runtime_;
  const Author author_;
  Session first_;
  std::shared_ptr<Team> team_;
  const SessionId id_;
  std::shared_ptr<EventFeed> feed_;
  std::optional<Run> working_;  ///< the message that members of a team answer
  Subscription subscription_;
  mutable std::optional<int> compacts_percent_;
};

Result<std::vector<app::FileDiff>> LocalChatRun::diffs(bool works) {
  const auto use = works ? app::RunInUse::kYes : app::RunInUse::kNo;
  const auto files = app::files_of_run(workspace_, journal(), id_, use);
  if (!files) return fail(files.error());
  if (!files->history || files->operations.empty()) return std::vector<app::FileDiff>();
  return app::file_diffs(*files->history, files->operations, app::DiffForm::kSafe);
}

Result<std::vector<RestoreStep>> LocalChatRun::undo(const UndoWish& wish, bool acts) {
  app::UndoRequest request;
  request.redo = wish.redo;
  if (!request.redo) {
    const auto records = read_records(journal(), id_);
    if (!records) return fail(records.error());
    const auto before = app::record_before_turn(*records, wish.before);
    if (!before) return fail(before.error());
    request.after = *before;
  }
  return app::undo_in_files(workspace_, journal(), id_, app::RunInUse::kNo, request,
                            acts ? app::UndoAct::kCarryOut : app::UndoAct::kPlan,
                            runtime_->environment().now());
}

}  // namespace

std::unique_ptr<ChatRun> make_local_run(const app::Workspace& workspace, std::shared_ptr<Runtime> runtime,
                                        Author author, Session session, std::shared_ptr<Team> team) {
  return std::make_unique<LocalChatRun>(workspace, std::move(runtime), std::move(author), std::move(session),
                                        std::move(team));
}

Result<SessionId> LocalChatPlace::find(const std::string& text) {
  const auto found = find_session(runtime_->journal(), text);
  return found ? app::root_of(runtime_->journal(), *found) : found;
}

Result<SessionId> LocalChatPlace::fork(const std::string& text) {
  const auto from = find_session(runtime_->journal(), text);
  return from ? fork_session(runtime_->journal(), runtime_->environment(), *from) : from;
}

Result<std::vector<SessionRow>> LocalChatPlace::runs() { return runtime_->journal().sessions(); }

Result<std::vector<Choice>> LocalChatPlace::models() {
  const auto catalog = app::open_catalog(workspace_);
  if (!catalog) return fail(catalog.error());
  std::vector<Choice> choices;
  for (const std::string& provider : (*catalog)->providers()) {
    if (!app::status_of(*(*catalog)->provider(provider), workspace_).configured) continue;
    for (const ModelFacts& model : (*catalog)->models(provider)) {
      const std::string name = model.provider + ':' + model.id;
      choices.push_back({name, name, model.name});
    }
  }
  return choices;
}

Result<std::vector<std::string>> LocalChatPlace::agents() { return app::agent_names(workspace_); }

ChatPlace::Examination LocalChatPlace::doctor() {
  return [workspace = workspace_]() -> Result<std::vector<app::Finding>> {
    std::vector<app::Finding> findings = app::examine_workspace(workspace, false);
    std::ranges::move(app::examine_sandbox(), std::back_inserter(findings));
    return findings;
  };
}

}  // namespace praxis::tui
