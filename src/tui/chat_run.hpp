// A run as a chat sees it, wherever it is worked on: in this process (`local_chat.hpp`), or by a server. What
// happens in it comes by an `EventFeed`.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/always_rules.hpp"
#include "app/context_report.hpp"
#include "app/doctor.hpp"
#include "app/run_files.hpp"
#include "app/slash_prompt.hpp"
#include "praxis/core/event.hpp"
#include "praxis/domain/command.hpp"
#include "praxis/domain/message.hpp"
#include "praxis/runtime/agent_tree.hpp"
#include "tui/choice_list.hpp"
#include "tui/event_feed.hpp"

namespace praxis::tui {

/// What the status line shows of a run.
struct RunFigures {
  Usage usage;              ///< with the sub-agents
  int context_percent = 0;  ///< of the window that is used; 0: unknown
  int compacts_percent =
      0;  ///< of the window, above which older messages are summarised; 0: never, or unknown
  bool operator==(const RunFigures&) const = default;
};

/// Those who can answer in the conversation of a team.
struct Members {
  std::string current;
  std::vector<std::string> all;
};

/// What the card of a step shows beyond the step.
struct StepFacts {
  std::optional<app::AlwaysRule> always;  ///< the rule that would allow the call from now on
  std::vector<std::string> changes;       ///< of a file, as `app::ChangePreview` has them
};

/// Which changes of files are taken back.
struct UndoWish {
  bool redo = false;  ///< instead, the last undo
  TurnId before;      ///< the changes from this turn on
};

/// A command to an agent, with the text that it takes.
using AgentCommand = std::pair<CommandVerb, std::string>;

/// How long an answer may take.
enum class Patience : bool {
  kNone,  ///< a frame waits: what is known already
  kSome   ///< the user waits
};

/// One thread, as the chat has one. Calls do not wait for the agent.
class ChatRun {
 public:
  virtual ~ChatRun() = default;

  /// Empty until the first message of a run that this message makes; then the feed has a `RunBegan`.
  virtual SessionId id() const = 0;
  /// Whether the run has a record, so that it can be opened again.
  virtual bool is_recorded() const = 0;
  /// From now on events go to the feed, also those of sub-agents. Call once, first.
  virtual void follow(std::shared_ptr<EventFeed> feed) = 0;
  /// Gives what happened before to `show`, in order. Returns whether a turn is open, or a message waits, that
  /// no process works on. Call once, of a run with a record.
  virtual Result<bool> show_past(const EventHandler& show) = 0;
  /// Gives what happened to one agent of the run, without those below it. Of a long conversation a server
  /// gives the end.
  virtual Status show_past_of(const SessionId& agent, const EventHandler& show) = 0;
  /// Releases the run, so that it can be opened again. Error `kInput`: a turn is in progress.
  virtual Status close() = 0;
  /// Ends the work of the chat on its run; waits until nothing more of it will come to the feed.
  virtual void leave() = 0;

  /// As the run last used it; `events::TurnStarted` says when it changes.
  virtual std::string model() const = 0;
  virtual RunFigures figures() const = 0;
  /// Why nothing is heard of the run now, in a few words; empty: it is.
  virtual std::string trouble() const { return {}; }
  virtual std::size_t queued() const = 0;  ///< messages whose turn has not begun
  /// Whether other members of the team are still to answer.
  virtual bool goes_on() const { return false; }
  /// Whether members of a team answer a message one after the other.
  virtual bool is_answered_by_team() const { return false; }
  /// Empty: the run has one agent, as far as is known here.
  virtual Members members() const { return {}; }
  /// Selects the member that answers from now on. Error `kInput`: there is no such member.
  virtual Status set_member(const std::string& name) = 0;
  /// The servers whose prompts are commands.
  virtual app::PromptSources prompt_sources() const { return {}; }

  // What fails later comes to the feed: as the report of a turn, or as an `Undelivered`.
  virtual void send(Message message) = 0;      ///< begins a turn
  virtual void steer(std::string text) = 0;    ///< reaches the agent at its next step
  virtual void enqueue(std::string text) = 0;  ///< a turn of its own, after the one in progress
  virtual void interrupt() = 0;
  virtual void resume() = 0;    ///< continues the open turn, or begins that of a queued message
  virtual void run_late() = 0;  ///< begins the turn of a message for the next step of a turn that had ended

  /// Carries out commands on an agent of the run, all or none, and waits for the answer. Error `kInput`: why
  /// they are refused; others: they may have been carried out.
  virtual Status command(const SessionId& agent, std::vector<AgentCommand> commands) = 0;

  /// Decides a step. `id` is whole: it names the session too. Error: it is not open, or not by this approval.
  virtual Status decide(const ParkId& id, const Approval& approval) = 0;
  /// Saves the rule, and allows the call of the step.
  virtual Status decide_by_rule(const ParkId& id, const app::AlwaysRule& rule) = 0;
  virtual StepFacts facts_of(const SessionId& session, const ParkedStep& step) = 0;

  /// Takes the conversation back to before a turn. Error `kInput`.
  virtual Status rewind(const TurnId& turn) = 0;
  /// The agents of the run that are active, each after the one above it.
  virtual std::vector<AgentNode> tree(Patience patience) = 0;
  virtual Result<app::ContextReport> context() = 0;
  /// As `app::transcript_for_export`.
  virtual Result<Json> transcript() = 0;
  /// What the run changed in files. `works`: a turn is in progress.
  virtual Result<std::vector<app::FileDiff>> diffs(bool works) = 0;
  /// What would be taken back in files or, with `acts`, was. Error `kInput`.
  virtual Result<std::vector<RestoreStep>> undo(const UndoWish& wish, bool acts) = 0;
};

/// Which run a chat opens.
struct ChatOpening {
  std::string id = {};     ///< empty: a new run
  std::string model = {};  ///< empty: the run's or the agent's
  std::string agent = {};  ///< of a new run; empty: that of the chat
};

/// Where the runs of a chat are: a journal, or a server. One thread.
class ChatPlace {
 public:
  virtual ~ChatPlace() = default;
  /// Opens a run. Asks nothing, because the chat has the terminal.
  virtual Result<std::unique_ptr<ChatRun>> open(const ChatOpening& opening) = 0;
  /// The root of the run that a text identifies (`find_session`).
  virtual Result<SessionId> find(const std::string& text) = 0;
  /// Makes a branch of a run.
  virtual Result<SessionId> fork(const std::string& text) = 0;
  /// All runs, the newest first.
  virtual Result<std::vector<SessionRow>> runs() = 0;
  /// The models to choose from.
  virtual Result<std::vector<Choice>> models() = 0;
  virtual Result<std::vector<std::string>> agents() = 0;
  using Examination = std::function<Result<std::vector<app::Finding>>()>;
  /// What finds whether the place is set up well. It blocks, may be called on any thread and when the place
  /// is gone, and asks no provider.
  virtual Examination doctor() = 0;
};

}  // namespace praxis::tui
