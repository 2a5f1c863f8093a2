// For tests: the surroundings of turn drivers, without threads. A world plays journal, models, tools, clocks,
// hooks, approvers and budgets for a few sessions. At each step it offers every event that may happen next,
// and it reports violated invariants.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "core/testing/fold.hpp"
#include "driver/turn_driver.hpp"
#include "praxis/planners/model_planner.hpp"

namespace praxis::driver {

class World;

/// The error of an append that fails.
constexpr const char* kDiskFault = "the disk is full";

/// An outside event that happens once, at any step at which it is possible.
struct Outside {
  std::string name;
  std::function<bool(World&)> possible;
  std::function<void(World&)> happen;
};

struct Scenario {
  std::string name;
  AgentSpec agent;
  /// Answers by the number of the model call; the last one is repeated.
  std::vector<Result<ModelResponse>> script;
  std::vector<Outside> outside = {};
  HookSet hooks = {};
  bool failing_append = false;  ///< one append may fail
  bool crash = false;           ///< the process may die once, and another resumes the turn
  bool budget = false;          ///< reservations may have to wait, or be refused
  bool approver = false;        ///< there is an approval handler
  bool suspends = false;        ///< the state is dropped after each input
};

inline void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

/// One session and its running effects.
struct Node {
  struct Running {
    EffectKind kind = EffectKind::kModel;
    std::uint32_t attempt = 1;
    ToolCallPart call = {};
    std::uint64_t ordinal = 0;
    bool stopped = false;
    bool waits = false;  ///< for a sub-agent or a call within this one
  };
  struct Timer {
    std::chrono::nanoseconds due{0};
  };

  SessionId id;
  Setup setup;
  std::unique_ptr<TurnDriver> driver;
  std::vector<Record> log;  ///< durable
  std::optional<std::vector<Record>> appending;
  std::map<EffectId, Running> running;
  std::map<Token, Timer> timers;
  std::optional<AskHooks> hooks;
  std::optional<AskAfterTurn> ended;
  std::map<Token, ParkedStep> questions;
  std::set<Token> reserved;  ///< not answered yet
  std::set<Token> busy, granted;
  std::map<Token, std::uint64_t>
      promised;                  ///< waiters, and the number of records that have to be durable for them
  std::set<Token> resting;       ///< waiters for the end or a wait of the turn
  std::map<Token, int> answers;  ///< by waiter
  std::map<Token, std::vector<AgentResult>> results;    ///< by reader
  std::map<Token, std::vector<Error>> errors;           ///< by reader
  std::map<Token, std::pair<Node*, EffectId>> callers;  ///< of calls within calls
  std::map<Token, CallId> inner;
  std::vector<std::string> events;
  std::deque<std::function<void()>> inbox;  ///< inputs from the sessions below
  Actions actions;                          ///< not carried out yet
  bool busy_carrying_out = false;
  bool gave_up = false;
};

/// An event that may happen now.
struct Choice {
  std::string name;
  std::function<void()> happen;
  bool fault = false;
  bool outside = false;
};

class World {
 public:
  explicit World(const Scenario& scenario) : scenario_(scenario), pending_(scenario.outside) {
    make_node(SessionId{"s1"}, scenario_.agent, nullptr);
    ask(root(), "go");
  }

  Node& root() { return *nodes_.front(); }
  const State& state(Node& node) { return (revive(node), node.driver->state()); }
  const std::vector<std::string>& complaints() const { return complaints_; }
  const std::vector<std::string>& story() const { return story_; }
  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }

  void feed(Node& node, Input input) {
    revive(node);
    node.driver->take(moment(), std::move(input), node.actions);
    if (node.driver->failure() && !failed_) complain(node, node.driver->failure()->message);
    if (std::exchange(node.busy_carrying_out, true)) return;
    // An action may add further actions, which come after it.
    for (std::size_t i = 0; i < node.actions.size(); ++i) {
      Action action = std::move(node.actions[i]);
      std::visit([&](auto& each) { carry_out(node, each); }, action);
    }
    node.actions.clear();
    node.busy_carrying_out = false;
    if (scenario_.suspends) node.driver->suspend();
  }

  /// Gives records from outside, with a caller that waits for them.
  void give(Node& node, std::vector<RecordBody> records) {
    const Token waiter = ++tokens_;
    RecordsGiven given;
    node.promised[waiter] = state(node).seq + records.size();  // at least
    given.records = std::move(records);
    given.waiter = waiter;
    feed(node, std::move(given));
    if (!node.gave_up) node.promised[waiter] = state(node).seq;
  }
  void ask(Node& node, std::string prompt) {
    std::vector<Message> messages;
    messages.push_back(text_message(Role::kUser, std::move(prompt)));
    feed(node,
         TurnRequested{std::move(messages), nullptr, nullptr, {++tokens_, node.setup.parent != nullptr}});
    node.results[tokens_];
  }
  /// Lets a caller wait until the turn has ended or needs an approval to continue.
  void await_rest(Node& node) {
    node.resting.insert(++tokens_);
    feed(node, RestAwaited{tokens_});
  }
  void complain(const Node& node, const std::string& what) {
    complaints_.push_back(node.id.str() + ": " + what);
  }
  void pass(std::chrono::nanoseconds time) { now_ += time; }
  void set_approver(Token generation) { approver_ = generation; }

  /// Returns the possible events; those that make progress come first.
  std::vector<Choice> choices(bool faults) {
    std::vector<Choice> all;
    for (const auto& node : nodes_) offer(*node, all, faults);
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      if (!pending_[i].possible(*this)) continue;
      all.push_back({pending_[i].name,
                     [this, i] {
                       const Outside outside = pending_[i];
                       pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
                       outside.happen(*this);
                     },
                     false, true});
    }
    if (faults && scenario_.crash && !crashed_ && !root().gave_up)
      all.push_back({"crash", [this] { crash(); }, true});
    return all;
  }
  void happen(const Choice& choice) {
    story_.push_back(choice.name);
    choice.happen();
  }
  /// Checks that no session is in the middle of a turn when only outside events are left.
  void check_quiet();
  /// Checks the final state, when no event is left.
  void check_end();

 private:
  // Actions of the driver.
  void carry_out(Node& node, AppendRecords& action);
  void carry_out(Node& node, AwaitActions& /*action*/) { feed(node, ActionsDone{}); }
  void carry_out(Node& node, StartModel& action);
  void carry_out(Node& node, StartTool& action);
  void carry_out(Node& node, StopEffect& action);
  void carry_out(Node& node, DropEffect& action);
  void carry_out(Node& node, ArmTimer& action);
  void carry_out(Node& node, DisarmTimer& action);
  void carry_out(Node& node, AskHooks& action);
  void carry_out(Node& node, AskAfterTurn& action) {
    if (node.ended) complain(node, "two turns are shown to hooks at once");
    node.ended = std::move(action);
  }
  void carry_out(Node& node, driver::AskPerson& action);
  void carry_out(Node& node, WithdrawQuestion& action);
  void carry_out(Node& node, Publish& action);
  void carry_out(Node& node, FinishTurn& action);
  void carry_out(Node& node, FinishReaders& action);
  void carry_out(Node& /*node*/, ReadersChanged& /*action*/) {}
  void carry_out(Node& node, ShowSession& action);
  void carry_out(Node& node, TellParent& action);
  /// The sub-agents of these scenarios have no logs.
  void carry_out(Node& node, const CloseLeft& action) {
    for (const SessionId& child : action.children) feed(node, ChildClosed{child});
  }
  void carry_out(Node& node, AnswerWaiter& action);
  void carry_out(Node& node, HandBack& action);
  void carry_out(Node& node, ReserveBudget& action);
  void carry_out(Node& node, ExtendBudget& action);
  void carry_out(Node& node, SettleBudget& action);
  void carry_out(Node& node, CloseBudget& action);
  void carry_out(Node& node, GiveUp& action);

  // Possible events.
  void offer(Node& node, std::vector<Choice>& all, bool faults);
  void offer_effects(Node& node, std::vector<Choice>& all);
  void offer_ended(Node& node, std::vector<Choice>& all) {
    if (!node.ended) return;
    all.push_back({node.id.str() + " hooks see the turn", [this, &node] {
                     feed(node, TurnReported{std::exchange(node.ended, std::nullopt)->result});
                   }});
  }
  void offer_budget(Node& node, std::vector<Choice>& all);
  /// An answer becomes longer than its reservation, and the budgets have no more.
  void offer_long_answers(Node& node, std::vector<Choice>& all) {
    for (const auto& [id, running] : node.running) {
      if (running.kind != EffectKind::kModel || running.stopped) continue;
      const AnswerGrew grew{id, running.attempt, std::size_t{1} << 20U};
      all.push_back(
          {node.id.str() + " " + id.str() + " grows", [this, &node, grew] { feed(node, grew); }, true});
    }
  }
  void end_append(Node& node, bool well);
  void end_effect(Node& node, const EffectId& effect, bool cancelled);
  void run_tool(Node& node, const EffectId& effect);
  void crash();

  Node& make_node(SessionId id, AgentSpec agent, std::shared_ptr<const ParentAddress> parent);
  void revive(Node& node);
  Moment moment();
  void check_intent(Node& node, const EffectId& effect, std::uint32_t attempt, EffectKind kind);
  void check_alive(const Node& node, const char* what) {
    if (node.gave_up) complain(node, std::string(what) + " after the end");
  }
  void hear(Node& node, const CallId& of, const ChildLost& lost);
  void check_fault(Node& node);
  void check_log(Node& node);
  void check_effects(Node& node);
  void check_waiters(Node& node);

  Scenario scenario_;
  std::vector<Outside> pending_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::string> complaints_, story_;
  std::set<std::pair<EffectId, std::uint32_t>> started_;  ///< by this process
  std::chrono::nanoseconds now_{0};
  Token tokens_ = 0;
  Token approver_ = 0;
  bool failed_ = false, crashed_ = false;
};

inline State fold_log(const std::vector<Record>& log, const SessionId& id) {
  State state;
  state.id = id;
  for (const Record& record : log) {
    if (auto applied = apply_to(state, record); !applied) throw std::logic_error(applied.error().message);
  }
  return state;
}

/// Checks that a fault of the journal is in no log.
inline void World::check_fault(Node& node) {
  for (const Record& record : node.log) {
    const auto* settled = std::get_if<records::EffectSettled>(&record.body);
    if (settled != nullptr && settled->error && settled->error->message == kDiskFault)
      complain(node, settled->effect.str() + " was settled with a fault of the journal");
  }
}

/// A session hears that a sub-agent gave up: it gives up too, unless the call is over.
inline void World::hear(Node& node, const CallId& of, const ChildLost& lost) {
  const CallState* call = node.gave_up ? nullptr : state(node).find_call(of);
  const bool runs = call != nullptr && call->phase == CallState::Phase::kRunning;
  feed(node, lost);
  if (runs && lost.fault && !node.gave_up) complain(node, "continues although its sub-agent gave up");
}

}  // namespace praxis::driver
