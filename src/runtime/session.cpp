#include "praxis/runtime/session.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "driver/command_records.hpp"
#include "logs/turn_schema.hpp"
#include "praxis/logs/logs.hpp"
#include "runtime/run_control.hpp"
#include "runtime/session_actor.hpp"

namespace praxis {

// ---- Run

namespace {

/// Acts on the turn of one session.
class SessionControl final : public RunControl {
 public:
  explicit SessionControl(std::shared_ptr<SessionActor> actor) : actor_(std::move(actor)) {}

  SessionId session_id() const override { return actor_->id(); }
  void command(CommandVerb verb, std::string text) override { actor_->command(verb, std::move(text)); }
  void interrupt() override { actor_->interrupt(); }

 private:
  const std::shared_ptr<SessionActor> actor_;
};

/// Interrupts the turn that `events` reads once `stop` is requested, as long as it runs.
void interrupt_on(std::stop_token stop, const std::shared_ptr<SessionActor>& actor,
                  const std::shared_ptr<EventQueue>& events) {
  if (!stop.stop_possible()) return;
  const auto interrupt = [session = actor->weak_from_this(), turn = std::weak_ptr(events)] {
    const auto strong = session.lock();
    if (auto queue = turn.lock(); queue && strong) strong->interrupt(std::move(queue));
  };
  using OnStop = std::stop_callback<std::function<void()>>;
  events->keep(std::make_shared<OnStop>(std::move(stop), interrupt));
}

/// The last record of a session whose next turn may continue one that gave no answer. Messages that wait are
/// new questions.
std::optional<std::uint64_t> end_of_unanswered(const State& s) {
  if (s.turn || !s.last || s.marks.empty() || !s.queue.empty() || !s.steering.empty()) return std::nullopt;
  const bool is_removed = s.last->id != s.id.str() + "/" + s.marks.back().turn.str();  // by a rewind
  return s.last->success && !is_removed ? std::nullopt : std::optional(s.seq);
}

}  // namespace

Run::Run(std::shared_ptr<SessionActor> actor, std::shared_ptr<EventQueue> events)
    : control_(std::make_shared<SessionControl>(std::move(actor))), events_(std::move(events)) {}
Run::Run(std::shared_ptr<RunControl> control, std::shared_ptr<EventQueue> events)
    : control_(std::move(control)), events_(std::move(events)) {}

Run Run::failed(Error error) {
  auto events = std::make_shared<EventQueue>(false);
  events->finish(fail(std::move(error)));
  return Run(std::shared_ptr<RunControl>(), std::move(events));
}

Run::Iterator& Run::Iterator::operator++() {
  auto next = events_->pop();
  event_ = next ? std::make_shared<const Event>(*std::move(next)) : nullptr;
  return *this;
}

std::optional<Event> Run::next(std::chrono::milliseconds limit) { return events_->pop(limit); }
bool Run::wait(std::chrono::milliseconds limit) { return events_->wait(limit); }
Result<AgentResult> Run::result() { return finished(report()); }
Result<AgentResult> Run::report() { return events_->result(); }
SessionId Run::session_id() const { return control_ ? control_->session_id() : SessionId{}; }
void Run::steer(std::string text) {
  if (control_) control_->command(CommandVerb::kSteer, std::move(text));
}
void Run::enqueue(std::string text) {
  if (control_) control_->command(CommandVerb::kEnqueue, std::move(text));
}
void Run::interrupt() {
  if (control_) control_->interrupt();
}
void Run::pause(std::string reason) {
  if (control_) control_->command(CommandVerb::kPause, std::move(reason));
}
void Run::unpause() {
  if (control_) control_->command(CommandVerb::kUnpause, {});
}

Result<Json> structured_of(const Result<AgentResult>& result) {
  if (auto ended = finished(result); !ended) return fail(std::move(ended.error()));
  if (result->success) return result->structured;
  return fail(make_error(ErrorCode::kPolicy, ErrorKind::kAwaitingUser,
                         "session " + result->session.str() + " waits for an approval before it can answer")
                  .set("session", result->session.str()));
}

Result<TypedAnswer> typed_answer(const Result<AgentResult>& result) {
  if (auto ended = finished(result); !ended) return fail(std::move(ended.error()));
  const Usage usage = result->usage + result->usage_children;
  return TypedAnswer{result->session, usage, usage.cost, result->pending};
}

// ---- Session

const SessionId& Session::session_id() const { return actor_->id(); }
SessionStatus Session::status() const {
  if (!actor_->usable()) return SessionStatus::kError;
  return actor_->status();
}
History Session::history() const {
  return actor_->query([](const State& s) { return s.conversation.history(); });
}
Result<Conversation> Session::transcript() const {
  const auto records = read_records(*actor_->services()->options.journal, session_id());
  return records ? praxis::transcript(*records) : Result<Conversation>(fail(records.error()));
}
std::vector<TurnView> Session::turns() const {
  std::vector<TurnView> turns;
  const History said = history();
  for (const MessagePtr& message : said.messages()) turns.push_back({message, message->usage});
  return turns;
}
Usage Session::token_usage() const {
  return actor_->query([](const State& s) { return s.subtree_usage(); });
}
std::pair<std::int64_t, std::int64_t> Session::context_usage() const {
  return actor_->query([](const State& s) { return std::pair(s.used_tokens(), s.context_window()); });
}
State Session::state() const {
  return actor_->query([](const State& s) { return s; });
}
int Session::context_usage_percent() const {
  const auto window = actor_->query([](const State& s) { return s.context_window(); });
  if (window == 0) return 0;
  return static_cast<int>(std::clamp<std::int64_t>(context_usage().first * 100 / window, 0, 100));
}
std::size_t Session::queued() const {
  return actor_->query([](const State& s) { return s.queue.size(); });
}
std::vector<WaitingMessage> Session::waiting() const {
  return actor_->query([](const State& s) {
    std::vector<WaitingMessage> all = s.steering;
    all.insert(all.end(), s.queue.begin(), s.queue.end());
    return all;
  });
}
AgentResult Session::last_result() const {
  return actor_->query([this](const State& s) { return actor_->shown(result_of(s)); });
}
std::vector<std::shared_ptr<PromptSource>> Session::prompt_sources() const {
  return actor_->description()->prompt_sources;
}
std::string Session::comment() const {
  return actor_->query([](const State& s) { return s.comment; });
}

Status Session::add_user_turn(std::string text) {
  auto said = actor_->outgoing(text_message(Role::kUser, std::move(text)));
  const Status allowed = said.allowed();
  auto message = std::make_shared<const Message>(std::move(said.message));
  const Status added = actor_->submit([&](const State& s) -> Result<std::vector<RecordBody>> {
    if (s.turn)
      return fail(ErrorCode::kInput,
                  "session " + s.id.str() + " is running; a user turn cannot be added now");
    std::vector<RecordBody> records;
    if (said.decided) records.emplace_back(*std::move(said.decided));
    if (allowed)
      records.emplace_back(records::MessageAppended{std::move(message), MessageSource::kUser,
                                                    NoteReason::kNone, std::move(said.original)});
    return records;
  });
  return added ? allowed : added;
}

Run Session::send(Message message, Json output_schema, std::stop_token stop) {
  auto events = std::make_shared<EventQueue>(true);
  std::vector<Message> messages;
  messages.push_back(std::move(message));
  actor_->start_turn(std::move(messages), events, std::move(output_schema));
  interrupt_on(std::move(stop), actor_, events);
  return Run(actor_, std::move(events));
}

Run Session::send_user_message(std::string text, std::stop_token stop) {
  return send(text_message(Role::kUser, std::move(text)), nullptr, std::move(stop));
}

Run Session::run(std::stop_token stop) {
  // A turn that continues one that did not finish has to give the same kind of answer.
  Json schema;
  if (const auto last = actor_->query(end_of_unanswered)) {
    auto found = read_schema_of_next_turn(*actor_->services()->options.journal, session_id(), *last,
                                          NextTurn::kConversation);
    if (!found) return Run::failed(found.error());
    schema = *std::move(found);
  }
  auto events = std::make_shared<EventQueue>(true);
  actor_->start_turn({}, events, std::move(schema));
  interrupt_on(std::move(stop), actor_, events);
  return Run(actor_, std::move(events));
}

Result<AgentResult> Session::ask(std::string text, std::stop_token stop, Json output_schema) {
  auto events = std::make_shared<EventQueue>(false);
  std::vector<Message> messages;
  messages.push_back(text_message(Role::kUser, std::move(text)));
  actor_->start_turn(std::move(messages), events, std::move(output_schema));
  const std::stop_callback interrupt(stop, [&] { actor_->interrupt(events); });
  return finished(events->result());
}

void Session::ask(std::string text, std::move_only_function<void(Result<AgentResult>)> done) {
  std::vector<Message> messages;
  messages.push_back(text_message(Role::kUser, std::move(text)));
  actor_->start_turn(std::move(messages), std::make_shared<EventQueue>(
                                              [done = std::move(done)](Result<AgentResult> report) mutable {
                                                done(finished(std::move(report)));
                                              }));
}

void Session::send(Message message, Json output_schema, TurnDone done) {
  std::vector<Message> messages;
  messages.push_back(std::move(message));
  actor_->start_turn(std::move(messages), std::make_shared<EventQueue>(std::move(done)),
                     std::move(output_schema));
}

void Session::resume(TurnDone done) {
  actor_->resume(
      std::make_shared<EventQueue>(std::move(done)),
      [](const State&) -> Result<std::vector<RecordBody>> { return std::vector<RecordBody>{}; }, false);
}

Run Session::resume(const Approvals& approvals, const Author& author) {
  auto events = std::make_shared<EventQueue>(true);
  auto own = actor_->decide_below(approvals, author);
  if (!own) {
    events->finish(fail(own.error()));
    return Run(actor_, std::move(events));
  }
  // A decision on a step below may already have let the turn here end.
  const bool decided_below = own->size() != approvals.size();
  actor_->resume(
      events, [own = *std::move(own), author](const State& s) { return approval_records(s, own, author); },
      decided_below);
  return Run(actor_, std::move(events));
}

Status Session::decide(const ParkId& park, Approval approval, Author author) {
  return actor_->decide({session_id(), park, std::move(approval), std::move(author)});
}

Status Session::answer(const ParkId& park, std::string text, Author author) {
  return decide(park, praxis::answer(std::move(text)), std::move(author));
}

void Session::steer(std::string text) { actor_->command(CommandVerb::kSteer, std::move(text)); }
void Session::enqueue(std::string text) { actor_->command(CommandVerb::kEnqueue, std::move(text)); }
void Session::interrupt() { actor_->interrupt(); }
void Session::pause(std::string reason) { actor_->command(CommandVerb::kPause, std::move(reason)); }
void Session::unpause() { actor_->command(CommandVerb::kUnpause, {}); }
void Session::annotate(std::string comment) { actor_->command(CommandVerb::kAnnotate, std::move(comment)); }

Status Session::modify(std::string content) {
  return actor_->carry_out(Commands{{CommandVerb::kModify, session_id(), std::move(content)}});
}
Status Session::withdraw(std::uint64_t message) {
  return actor_->carry_out(Commands{{CommandVerb::kWithdraw, session_id(), std::to_string(message)}});
}
Status Session::move(std::uint64_t message, std::uint64_t before) {
  return actor_->carry_out(Commands{
      {CommandVerb::kMove, session_id(), std::to_string(message) + " before " + std::to_string(before)}});
}
Status Session::compact() { return actor_->carry_out(Commands{{CommandVerb::kCompact, session_id()}}); }
Status Session::remove() { return actor_->carry_out(Commands{{CommandVerb::kDelete, session_id()}}); }

Status Session::rewind(const TurnId& turn) {
  return actor_->submit([&](const State& s) -> Result<std::vector<RecordBody>> {
    if (auto possible = check_rewind(s, turn); !possible) return fail(possible.error());
    return std::vector<RecordBody>{
        records::Intervened{CommandVerb::kRewind, turn.str(), nullptr, actor_->principal()}};
  });
}

Status Session::close() {
  const bool running = actor_->query([](const State& s) { return s.turn.has_value(); });
  if (running)
    return fail(ErrorCode::kInput, "session " + actor_->id().str() + " is in the middle of a turn");
  actor_->abandon();
  actor_->query(
      [](const State&) { return true; });  // runs on the strand after `abandon`, which releases the lease
  return {};
}

Status Session::emit(std::string name, Json payload) {
  if (auto own = check_event_name(name); !own) return own;
  actor_->emit(events::Custom{std::move(name), std::move(payload)});
  return {};
}

Subscription Session::on(std::string pattern, EventHandler handler) {
  return Subscription(actor_->observers().add(std::move(pattern), std::move(handler)));
}

}  // namespace praxis
