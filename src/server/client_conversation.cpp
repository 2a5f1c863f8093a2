#include "server/client_conversation.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace praxis::server {
namespace {

std::string key_of(const std::string& format, const std::string& id) { return format + " " + id; }

std::size_t prompts_in(const std::vector<MessagePtr>& messages, std::size_t count) {
  const auto end = messages.begin() + static_cast<std::ptrdiff_t>(std::min(count, messages.size()));
  return static_cast<std::size_t>(
      std::count_if(messages.begin(), end, [](const MessagePtr& m) { return m->role == Role::kUser; }));
}

/// The turn that the last of `prompts` messages of the user takes the place of; empty if it follows the
/// others.
TurnId replaced_turn(const State& state, std::size_t prompts) {
  if (state.marks.empty() || prompts == 0) return {};
  const auto& messages = state.conversation.history().messages();
  const std::size_t before = prompts_in(messages, state.marks.front().messages);
  const std::size_t index = prompts - 1 - std::min(before, prompts - 1);
  return index < state.marks.size() ? state.marks[index].turn : TurnId{};
}

/// What a turn begins with once its message is durable.
class ClientBegin {
 public:
  ClientBegin(const Call& call, std::shared_ptr<TurnFollower> follower,
              std::move_only_function<void(const SessionId&)> begin)
      : answer_(call.answer), follower_(std::move(follower)), begin_(std::move(begin)) {}

  std::function<Status(const SessionId&)> prepare() const {
    return [follower = follower_](const SessionId& run) { return follower->watch(run); };
  }
  std::function<void(const Result<AgentResult>&)> done() const {
    return [watch = watch_](const Result<AgentResult>& result) { watch->report(result); };
  }
  void operator()(const Result<SessionId>& run) {
    if (!run) return answer_(fail(run.error()));
    begin_(*run);
    watch_->give(follower_);
  }

 private:
  std::function<void(Result<HttpAnswer>)> answer_;
  std::shared_ptr<TurnFollower> follower_;
  std::move_only_function<void(const SessionId&)> begin_;
  std::shared_ptr<BeginWatch> watch_ = std::make_shared<BeginWatch>();
};

void start_client_run(Service& service, ClientTurn turn, const Principal& principal, ClientBegin begin) {
  NewRun run;
  run.agent = std::move(turn.agent);
  run.content = std::move(turn.messages.back().parts);
  run.metadata = turn.messages.back().metadata;
  turn.messages.pop_back();
  run.before = std::move(turn.messages);
  run.idempotency = run.request = key_of(turn.format, turn.id);
  run.prepare = begin.prepare();
  run.done = begin.done();
  service.runs->create(std::move(run), principal,
                       [&service, begin = std::move(begin)](const Result<Created>& made) mutable {
                         if (!made) return begin(fail(made.error()));
                         if (!made->is_new)
                           return begin(fail(conflict("another request has just begun this conversation")));
                         ++service.counters.runs_created;
                         begin(made->id);
                       });
}

}  // namespace

SessionId run_of_conversation(Service& service, const std::string& format, const std::string& id,
                              const Principal& principal) {
  for (const SessionId& run : {Runs::id_of_key(principal.account(), key_of(format, id)), SessionId(id)}) {
    if (service.runs->lineages().root_of(run) == run && service.runs->may_see(principal, run)) return run;
  }
  return {};
}

void start_client_turn(Service& service, ClientTurn turn, const Call& call,
                       std::shared_ptr<TurnFollower> follower,
                       std::move_only_function<void(const SessionId&)> begin) {
  const Principal& principal = call.principal;
  ClientBegin then(call, std::move(follower), std::move(begin));
  SessionId run = run_of_conversation(service, turn.format, turn.id, principal);
  if (run.empty()) return start_client_run(service, std::move(turn), principal, std::move(then));
  const auto stored = service.runs->stored(run);
  if (!stored) return then(fail(stored.error()));
  if (stored->state.turn)
    return then(fail(conflict("the conversation is in the middle of a turn, or waits for a decision")));
  auto slot = service.runs->begin_turn(principal);
  if (!slot) return then(fail(slot.error()));
  const auto prompts = static_cast<std::size_t>(
      std::ranges::count_if(turn.messages, [](const Message& m) { return m.role == Role::kUser; }));
  if (const TurnId replaced = replaced_turn(stored->state, prompts); !replaced.empty()) {
    if (auto gone = service.runs->rewind(run, replaced); !gone) return then(fail(gone.error()));
  }
  if (auto watched = then.prepare()(run); !watched) return then(fail(watched.error()));
  auto done = then.done();
  service.runs->send(
      run, *std::move(slot), std::move(turn.messages.back()), nullptr,
      [run, then = std::move(then)](const Status& begun) mutable {
        then(begun ? Result<SessionId>(run) : fail(begun.error()));
      },
      std::move(done));
}

Result<std::vector<ParkedStep>> decide_for_client(Service& service, const SessionId& run,
                                                  const std::vector<ClientDecision>& decisions,
                                                  const Principal& principal, const std::string& field) {
  const auto stored = service.runs->stored(run);
  if (!stored) return fail(stored.error());
  const auto pending = waiting_steps(*stored);
  if (!pending) return fail(pending.error());
  std::vector<Approval> approvals;
  for (const ClientDecision& decision : decisions) {
    const auto step = std::ranges::find_if(
        *pending, [&](const ParkedStep& each) { return client_step_id(run, each) == decision.step; });
    if (step == pending->end())
      return fail(field_error(field, "decides \"" + decision.step + "\", which does not wait"));
    const auto allowed = allowed_approvals(step->kind);
    const bool asks = std::ranges::find(allowed, ApprovalVerb::kApprove) == allowed.end();
    if (decision.approves && asks && decision.text.empty())
      return fail(field_error(field, "has no answer to the question"));
    approvals.push_back(!decision.approves   ? reject(decision.text)
                        : asks               ? answer(decision.text)
                        : decision.arguments ? Approval(edit(*decision.arguments))
                                             : approve());
  }
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    const std::string& id = decisions[i].step;
    const std::size_t slash = id.rfind('/');
    auto decided = service.runs->decide(SessionId(id.substr(0, slash)), id.substr(slash + 1),
                                        std::move(approvals[i]), principal);
    if (!decided) return fail(decided.error());
  }
  return *pending;
}

std::string client_step_id(const SessionId& run, const ParkedStep& step) {
  if (step.id.str().contains('/')) return step.id.str();
  return (step.session.empty() ? run : step.session).str() + "/" + step.id.str();
}

void add_call_with_result(std::vector<Message>& messages, const std::string& id, const std::string& name,
                          const std::string& arguments, const std::string& result, bool failed) {
  Message call;
  call.role = Role::kAssistant;
  call.parts.emplace_back(ToolCallPart{CallId(id), name, arguments, true, nullptr});
  Message answer;
  answer.role = Role::kTool;
  answer.parts.emplace_back(
      ToolResultPart{CallId(id), name, failed ? ToolStatus::kError : ToolStatus::kOk, result});
  messages.push_back(std::move(call));
  messages.push_back(std::move(answer));
}

}  // namespace praxis::server
