// The run of a chat, for every kind of terminal: takes its events, sends messages and commands, keeps the
// steps that wait for the user. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tui/chat.hpp"
#include "tui/chat_view.hpp"
#include "tui/choice_list.hpp"
#include "tui/event_feed.hpp"
#include "tui/followed_agent.hpp"
#include "tui/prompt_names.hpp"
#include "tui/shell_commands.hpp"
#include "tui/status_facts.hpp"
#include "tui/step_card.hpp"
#include "tui/tree_text.hpp"

namespace praxis::tui {

/// When a message reaches the agent.
enum class Delivery : bool {
  kNow,   ///< a new turn or, while one is in progress, at its next step
  kQueue  ///< a turn of its own, after the one in progress
};

/// How long a rule holds that allows calls without asking.
enum class RuleLife : bool {
  kChat,   ///< until this chat ends
  kSaved,  ///< for all runs
};

/// What a request to stop went to.
enum class Interrupted : bool { kAgent, kShellCommand };

/// Something to choose from.
struct Offer {
  std::string title;    ///< a question
  std::string command;  ///< what choosing a value is the short form of: `/resume `
  std::vector<Choice> choices;
};

class Conversation {
 public:
  Conversation(const ChatSetup& setup, std::unique_ptr<ChatRun> run);

  /// What happened before, for the scrollback; resumes a turn that is open.
  std::string begin(std::size_t columns);
  /// What has happened since the last call; complete lines for the scrollback.
  std::string take_events(std::size_t columns);
  /// Readable when something has happened.
  int fd() const { return feed_->fd(); }
  /// Makes `fd` readable; from any thread.
  std::function<void()> waker() const;

  /// Sends a message, or carries out a `/command`. Returns what to print.
  std::string submit(const std::string& text, Delivery delivery, std::size_t columns);
  /// Runs a command in the user's shell; an empty one leaves the outputs so far out of the next message.
  /// Returns what to print.
  std::string run_shell_command(const std::string& line);
  const std::optional<ShellCommands::Running>& shell_command() const { return shell_.running(); }
  /// Whether that command was asked to stop.
  bool shell_command_stops() const { return shell_.is_stopping(); }
  /// The outputs of such commands that go with the next message.
  const ShellOutputs& shell_outputs() const { return shell_outputs_; }
  /// What the last command offers, once: the chat lets the user choose. Nothing on a plain chat.
  std::optional<Offer> take_offer() { return std::exchange(offer_, std::nullopt); }
  /// Offers the turns, to go back to before one; returns what to print.
  std::string offer_turns();
  /// Carries out what the user chose. Returns what to print.
  std::string choose(const Offer& offer, const Choice& choice, std::size_t columns);
  /// The messages that wait, those for the next step first.
  std::vector<WaitingMessage> waiting() const;
  /// Whether the last command asked for the list of what waits; once.
  bool take_queue_wish() { return std::exchange(shows_queue_, false); }
  /// Takes a waiting message back. Error: it does not wait any more, or what became of it is not known yet;
  /// then `take_unread` has its text if it was taken back after all.
  Status withdraw(const WaitingMessage& message);
  /// Puts a waiting message one place up or down among those of its kind. Returns what to print.
  std::string move(std::uint64_t message, bool up);
  std::string failure(const Error& error) const;
  /// Stops the command in the user's shell; without one, or when that was asked to stop before, the agent.
  Interrupted interrupt();
  /// The commands for completion: those of the chat, and the prompts of the agent's servers, which are looked
  /// up in the background.
  std::shared_ptr<const std::vector<Choice>> command_choices();
  /// Ends the chat: stops a turn that works and waits until it has settled. Returns what happened meanwhile.
  std::string settle(std::size_t columns);
  /// Decides a step. Returns what to print, such as why it could not be decided.
  std::string decide(const StepCard& card, const Approval& approval);
  /// Saves the rule of the card, or keeps it for this chat only, and allows its call.
  std::string decide_always(const StepCard& card, RuleLife life);
  /// The steps that wait for the user, the oldest first.
  std::deque<StepCard>& cards() { return cards_; }

  /// The theme of what is shown from now on.
  void set_theme(Theme theme);
  const ChatView& view() const { return *view_; }
  /// Messages that come back into the composer: those of `ChatView::take_unread`, those that could not be
  /// sent, and the one of a turn that was taken back.
  std::vector<std::string> take_unread();
  bool is_busy() const { return works() || filling_.has_value(); }
  /// Whether there is something that `interrupt` stops: also `/doctor`, and a command in the user's shell.
  bool can_interrupt() const {
    return is_busy() || examining_ || (shell_.running() && !shell_.is_stopping());
  }
  /// Whether the run is one of a server.
  bool is_at_server() const { return !setup_.workspace.server_options.empty(); }
  /// What the line below the composer is made from.
  StatusFacts status_facts(std::size_t columns) const;
  /// The agents of the run that are active.
  std::vector<AgentNode> agents(Patience patience) const { return run_->tree(patience); }
  std::vector<TreeLine> drawn(const std::vector<AgentNode>& nodes, std::size_t columns) const;
  /// Keeps the conversation of an agent of the run from now on. Error: it cannot be read.
  Status follow_agent(const SessionId& agent);
  void unfollow_agent() { followed_.reset(); }
  /// Null: no agent is followed.
  const FollowedAgent* followed() const { return followed_ ? &*followed_ : nullptr; }
  /// Gives a command to an agent of the run. Returns what to print.
  std::string command_agent(const SessionId& agent, CommandVerb verb, const std::string& text);
  const SessionId& id() const { return id_; }
  /// Whether the run has a record, so that it can be opened again.
  bool is_recorded() const;
  bool wants_to_leave() const { return leaves_; }
  /// Runs what blocks, such as looking for files.
  std::shared_ptr<Executor> executor() const { return setup_.executor; }
  UnixMillis now() const { return setup_.environment->now(); }

 private:
  /// Whether a turn is in progress or about to begin.
  bool works() const { return view_->busy_since().has_value() || sent_; }
  std::string command(const std::string& line, std::size_t columns);
  std::vector<std::string> tree(std::size_t columns) const;
  /// Whether the conversation so far is printed when a run is opened.
  enum class Past : bool { kHide, kShow };
  std::string open(const ChatOpening& opening, Past past, std::size_t columns);
  std::string resume_run(const std::string& text, std::size_t columns);
  std::string fork_run(const std::string& text, std::size_t columns);
  std::string rewind_run(std::string turn, const std::function<void()>& done);
  std::string change_model(const std::string& model, std::size_t columns);
  std::string change_member(const std::string& member, std::size_t columns);
  std::string offer_runs();
  std::string offer_models();
  std::string offer_agents();
  std::string export_run(const std::string& file) const;
  std::string diff() const;
  std::string undo_files(const std::string& rest);
  std::string cost() const;
  std::string doctor();
  std::string take_examined(const Examined& examined);
  std::string take_shell_command();
  void attach_outputs(Message& message);
  void put_outputs_back(std::uint64_t message);
  void forget_outputs();
  std::string context(std::size_t columns) const;
  std::string waiting_steps(std::size_t columns) const;
  std::string change_queue(const std::string& rest);
  std::string waiting_lines() const;
  std::string compact();
  void note_withdrawn(const records::Intervened& command);
  void follow();
  /// Removes the card of a step that is decided.
  void take_away(const ParkId& step);
  void add_card(ParkedStep step, const SessionId& session);
  void take_event(const Event& event);
  void end_turn(const Event& event);
  void resume();
  void send(Message message);
  std::string deliver(Message message, Delivery delivery);
  std::string fill_prompt(const std::string& line, Delivery delivery);
  std::string take_prompt(FilledPrompt prompt);
  void note_turn(const Event& event);
  std::string take_undelivered(Undelivered undelivered);
  void take_report(const AgentResult& report);

  const ChatSetup& setup_;
  std::unique_ptr<ChatRun> run_;
  SessionId id_;
  Styles styles_;
  std::shared_ptr<EventFeed> feed_ = std::make_shared<EventFeed>();
  ShellCommands shell_;
  ShellOutputs shell_outputs_;
  std::map<std::uint64_t, std::vector<std::string>> outputs_of_;  ///< of messages that wait
  std::unique_ptr<ChatView> view_;
  std::optional<FollowedAgent> followed_;
  std::deque<StepCard> cards_;
  std::vector<app::AlwaysRule> saved_;  ///< in this chat
  std::optional<Offer> offer_;
  std::vector<std::string> unread_;
  std::vector<WaitingMessage> asked_back_;  ///< without an answer so far
  std::vector<std::uint64_t> taken_back_;   ///< messages that the view still has
  bool shows_queue_ = false;
  bool resumed_ = false;         ///< the last turn was begun by `resume`
  std::vector<ParkId> decided_;  ///< a report that was on its way may still name them
  bool sent_ = false;            ///< a message was sent whose turn has not begun
  bool team_answers_ = false;    ///< members of a team answer a message
  bool leaves_ = false;
  bool recorded_ = false;
  RunFigures figures_;
  std::string model_;
  TurnId last_turn_;
  /// A turn with its message, and the outputs that came with it.
  struct Turn {
    Choice choice;
    std::vector<std::string> outputs;
  };
  std::vector<Turn> turns_;                  ///< of the conversation as it stands
  std::optional<std::stop_source> filling_;  ///< a prompt
  bool examining_ = false;                   ///< `/doctor`
  std::shared_ptr<PromptNames> prompts_;     ///< null: not looked up for this run
  std::string undo_asked_;                   ///< what `/undo` was asked last and has not done
};

}  // namespace praxis::tui
