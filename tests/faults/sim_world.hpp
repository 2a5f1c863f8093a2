// A simulated process whose sessions are turn drivers (src/driver), in one thread: its disk, model, tools,
// clocks, hooks, users and programs come from one seed. It does what the shell (src/runtime) does for a
// driver, in every order, and injects kills between any two actions, failing appends, leases that another
// process takes, and late or repeated results. It reports violated invariants.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "jumping_clock.hpp"
#include "praxis/domain/command.hpp"
#include "sim_agents.hpp"
#include "sim_checks.hpp"
#include "sim_node.hpp"

namespace praxis::faults::sim {

/// What the programs of a world do.
enum class Play : std::uint8_t {
  kMixed,  ///< tools of all kinds, small trees
  kTrees,  ///< wide and deep trees with budgets at every level
};

class World {
 public:
  explicit World(std::uint64_t seed, Play play = Play::kMixed);
  /// Runs for at least `steps`, then until everything is idle.
  RunOutcome run(std::uint64_t steps);

 private:
  using Inputs = std::function<Result<std::vector<RecordBody>>(const State&)>;
  using Done = std::function<void(Status)>;
  using GotResult = std::function<void(Result<AgentResult>)>;
  /// How the process treats its sessions; drawn again for each life.
  struct Life {
    bool hooks = false;     ///< hooks answer, and sometimes deny, change or pause
    bool suspends = false;  ///< states are dropped now and then
    bool observed = false;  ///< an observer wants all events
    bool closing = false;   ///< the runtime is being destroyed
    bool ending = false;    ///< the process ends soon
    driver::Token approver = 0;
    Millis grace{10};
  };

  // The process (sim_world.cpp).
  void begin_life();
  void end_life();
  void kill();
  void check();
  bool is_at_rest();
  std::size_t width_of(const ToolCallPart& call) const;
  void steal(Node& node);
  void complain(const Node& node, const std::string& what);
  void complain_of_unrest();
  Node& make_node(Lease lease, AgentSpecPtr agent, State state, Node* above, const CallId& call);
  void begin(Node& node);
  Node* find(const SessionId& session);
  Result<Node*> open(const SessionId& session, AgentSpecPtr agent, Node* above, const CallId& call);
  Result<State> read_state(const SessionId& session);
  const State& state(Node& node);
  void feed(Node& node, driver::Input input);
  void drain(Node& node);
  driver::Moment moment(const Node& node);
  void leave_when_quiet(Node& node);
  void give_back(const Lease& lease);
  bool expire(Node& node);
  void submit(Node& node, const Inputs& inputs, Done done);
  void write(Node& node);
  Result<std::uint64_t> write(Append append);
  void keep(const SessionId& session);
  Status record_at_rest(const SessionId& session, const InboxRequest& request);

  // Actions of the driver (sim_actions.cpp).
  void perform(Node& node, driver::AppendRecords& action);
  void perform(Node& node, driver::AwaitActions& action);
  void perform(Node& node, driver::StartModel& action);
  void perform(Node& node, driver::StartTool& action);
  void perform(Node& node, driver::StopEffect& action);
  void perform(Node& node, driver::DropEffect& action);
  void perform(Node& node, driver::ArmTimer& action);
  void perform(Node& node, driver::DisarmTimer& action);
  void perform(Node& node, driver::AskHooks& action);
  void perform(Node& node, driver::AskAfterTurn& action);
  void perform(Node& node, driver::AskPerson& action);
  void perform(Node& node, driver::WithdrawQuestion& action);
  void perform(Node& node, driver::Publish& action);
  void perform(Node& node, driver::FinishTurn& action);
  void perform(Node& node, driver::FinishReaders& action);
  void perform(Node& node, driver::ReadersChanged& action);
  void perform(Node& node, driver::ShowSession& action);
  void perform(Node& node, driver::TellParent& action);
  void perform(Node& node, driver::CloseLeft& action);
  driver::ChildClosed close_left(const SessionId& child);
  void perform(Node& node, driver::AnswerWaiter& action);
  void perform(Node& node, driver::HandBack& action);
  void perform(Node& node, driver::ReserveBudget& action);
  void perform(Node& node, driver::ExtendBudget& action);
  void perform(Node& node, driver::SettleBudget& action);
  void perform(Node& node, driver::CloseBudget& action);
  void perform(Node& node, driver::GiveUp& action);
  void finish(Node& node, const driver::Readers& readers, const Result<AgentResult>& result);
  driver::HooksAnswered hooks_answer(const Node& node, const driver::AskHooks& asked);
  driver::Review review(const Node& node, const driver::Rules& rules, const ToolCallPart& call);
  std::shared_ptr<Budget> budget(Node& node);
  void send_up(Node& above, driver::Input input);
  void check_start(Node& node, const EffectId& effect, std::uint32_t attempt);
  void check_rest(Node& node);

  // Models and tools (sim_effects.cpp).
  void nap(Work* work, std::uint64_t most_ms, Task then);
  void interrupt_nap(Work* work);
  void stop(Work* work);
  void speak(Work* work);
  void end_model(Work* work, Result<ModelResponse> response);
  void run_tool(Work* work);
  void act(Work* work, std::uint64_t most_ms);
  void dawdle(Work* work, std::uint64_t naps, std::uint64_t most_ms, Task then);
  void say(Work* work, std::string text);
  void call_within(Work* work, const std::string& tool, std::function<void(const std::string&)> then);
  void end_tool(Work* work, Result<ToolOutcome> outcome);
  void deliver(Work* work, const Result<ToolOutcome>& outcome);

  // Sub-agents (sim_tree.cpp).
  std::string key_of(Work& work, const std::string& identity);
  void delegate(Work* work);
  void spawn(const Sub& sub);
  void attach(const Sub& sub, int tries);
  void start_child(const Sub& sub, Node& child, bool recorded);
  void child_ended(Work* work, const Result<AgentResult>& result);
  void stop_child(const Work& work, Node& child);
  void stop_children(Work& work);
  void close_children(Work* work, std::function<void()> then);

  // Programs and users (sim_people.cpp).
  void client(Root& root);
  void turn(Root& root, Node& node);
  void prompt(Root& root, Node& node);
  void ask(Node& node, std::vector<Message> messages, bool stays, GotResult done);
  void turn_ended(Root& root, Node& node, const Result<AgentResult>& result);
  std::optional<Approval> approval_on(const ParkedStep& step, bool always);
  void decide(const AgentResult& result);
  void decide_step(const ParkedStep& step);
  void carry_out(const SessionId& session, const InboxRequest& request, Done done);
  void meddle();
  void unpause_some();
  void meddle_with(const SessionId& session);
  void command(const SessionId& session, CommandVerb verb, const std::string& text = {});
  void post(const SessionId& session, const std::string& text);
  void collect_inbox(Node& node);
  void nap(std::uint64_t most_ms, Task then) {
    agenda_.after(Millis{random_.below(most_ms)}, std::move(then));
  }
  void promise(const SessionId& session, std::string what, std::function<bool(const Log&)> kept);

  const Play play_;
  Agenda agenda_;
  Random& random_;
  Vendor vendor_{random_};
  Vendor calm_{random_, true};  ///< answers instead of the vendor
  JumpingClock clock_;
  const std::shared_ptr<Journal> disk_ = memory_journal();
  const std::shared_ptr<const Planner> planner_;
  /// A session as its log on the disk gives it: the records and their state.
  struct Kept {
    Log log;
    State state;
  };
  std::map<SessionId, Kept> kept_;
  const bool replays_;  ///< the logs are replayed at the end
  std::vector<Deed> deeds_;
  std::deque<Root> roots_;
  std::vector<SessionId> sessions_;  ///< every session ever created
  std::vector<Promise> promises_;
  std::set<std::pair<SessionId, std::uint64_t>> taken_;       ///< leases that another process took
  std::set<std::pair<SessionId, std::uint64_t>> given_back_;  ///< leases
  std::deque<Node> nodes_;                                    ///< of this life
  std::unordered_map<SessionId, Node*> active_;
  Life life_;
  std::deque<Work> works_;     ///< of this life
  bool killed_ = false;        ///< nothing more happens in this life
  std::uint64_t kill_at_ = 0;  ///< so many actions from now; 0: not
  std::uint64_t kill_once_in_;
  driver::Token tokens_ = 0;
  RunOutcome outcome_;
};

}  // namespace praxis::faults::sim
