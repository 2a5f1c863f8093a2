// Turns of conversations in an editor: from `session/prompt` to its answer.
#include <algorithm>
#include <utility>

#include "app/slash_prompt.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/core/state.hpp"
#include "protocols/acp_agent.hpp"
#include "protocols/acp_content.hpp"

namespace praxis::protocols {
namespace {

constexpr std::size_t kMostWaiting = 16;  ///< prompts of one conversation

/// How the turn ended for the editor; empty: by an error.
std::string_view stop_reason_of(const AgentResult& result) {
  if (!result.reason) return "end_turn";  // it waits for an approver
  switch (*result.reason) {
    case StopReason::kFinished:
      return "end_turn";
    case StopReason::kMaxSteps:
    case StopReason::kMaxToolCalls:
      return "max_turn_requests";
    case StopReason::kTokenLimit:
    case StopReason::kContextLimit:
    case StopReason::kOutputLimit:
      return "max_tokens";
    case StopReason::kRefused:
      return "refusal";
    case StopReason::kCancelled:
      return "cancelled";
    default:
      return {};
  }
}

bool is_question(const ParkedStep& step) { return step.kind == ParkKind::kQuestion; }

ParkId whole_park_id(const ParkedStep& step, const SessionId& root) {
  if (step.id.str().find('/') != std::string::npos) return step.id;
  return qualified_id(step.session.empty() ? root : step.session, step.id);
}

}  // namespace

void AcpAgent::prompt(const McpMessage& request) {
  const auto found = conversation(request.body);
  if (!found) return peer_.refuse(request.id, kRpcInvalidParams, found.error().message);
  auto message = acp_prompt(json_at(request.body, "prompt"));
  if (!message) return peer_.refuse(request.id, kRpcInvalidParams, message.error().message);
  bool is_answer = false;
  {
    const std::lock_guard lock(mutex_);
    is_answer = !(*found)->pending.empty();
  }
  if (!is_answer && app::names_prompt(message->text(), (*found)->session->prompt_sources()))
    return fill_prompt(*found, request.id, *std::move(message));
  if (!is_answer) expand_acp_command(*message, (*found)->skills);
  accept(*found, request.id, *std::move(message));
}

/// Begins the turn of a message, or keeps it until the present one has ended.
void AcpAgent::accept(const AcpConversationPtr& conversation, const Json& id, Message message) {
  {
    const std::lock_guard lock(mutex_);
    if (conversation->busy) {
      if (conversation->waiting.size() >= kMostWaiting)
        return peer_.refuse(id, kRpcInvalidRequest, "too many prompts wait in this session");
      conversation->waiting.emplace_back(id, std::move(message));
      return;
    }
    conversation->busy = true;
    conversation->cancelled = false;
    conversation->prompt = id;
  }
  begin(conversation, std::move(message));
}

/// Continues a turn that the process before this one did not finish.
void AcpAgent::go_on(const AcpConversationPtr& conversation) {
  const auto status = conversation->session->status();
  const bool open = status == SessionStatus::kRunning || status == SessionStatus::kAwaitingUser;
  if (!open && conversation->session->queued() == 0) return;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(conversation->busy, true)) return;
    conversation->cancelled = false;
    conversation->prompt.reset();
  }
  conversation->session->resume(
      [this, conversation, working = std::make_shared<Working>(*this)](Result<AgentResult> report) {
        const auto& executor = conversation->folder->runtime->model_services().executor;
        executor->post_blocking(
            [this, conversation, working, report = std::move(report)] { ended(conversation, report); });
      });
}

void AcpAgent::begin(const AcpConversationPtr& conversation, Message message) {
  if (answer_pending(conversation, message)) return;
  conversation->session->send(
      std::move(message), nullptr,
      [this, conversation, working = std::make_shared<Working>(*this)](Result<AgentResult> report) {
        const auto& executor = conversation->folder->runtime->model_services().executor;
        executor->post_blocking(
            [this, conversation, working, report = std::move(report)] { ended(conversation, report); });
      });
}

/// A message to a turn that waits answers its question. If it waits for an approval, the calls are refused
/// and the message is what the model reads next. False: the turn does not wait.
bool AcpAgent::answer_pending(const AcpConversationPtr& conversation, const Message& message) {
  std::vector<ParkedStep> pending;
  {
    const std::lock_guard lock(mutex_);
    pending.swap(conversation->pending);
  }
  if (pending.empty()) return false;
  Approvals approvals;
  const auto question = std::ranges::find_if(pending, is_question);
  if (question != pending.end()) {
    approvals.emplace_back(whole_park_id(*question, conversation->id), praxis::answer(message.text()));
  } else {
    conversation->session->steer(message.text());
    for (const ParkedStep& step : pending)
      approvals.emplace_back(whole_park_id(step, conversation->id),
                             reject("the user wrote a message instead"));
  }
  const auto& executor = conversation->folder->runtime->model_services().executor;
  executor->post_blocking(
      [this, conversation, approvals = std::move(approvals), working = std::make_shared<Working>(*this)] {
        Run run = conversation->session->resume(approvals, serving_.author);
        ended(conversation, run.report());
      });
  return true;
}

/// Answers the prompt, and begins the turn of the next one.
void AcpAgent::ended(const AcpConversationPtr& conversation, const Result<AgentResult>& report) {
  {
    const std::lock_guard lock(mutex_);
    conversation->pending = report ? report->pending : std::vector<ParkedStep>();
  }
  show_questions(*conversation);
  show_usage(*conversation);
  std::optional<Json> prompt;
  std::optional<Message> next;
  bool cancelled = false;
  {
    // Before the answer, because the editor may ask for the next thing as soon as it has that.
    const std::lock_guard lock(mutex_);
    prompt.swap(conversation->prompt);
    cancelled = std::exchange(conversation->cancelled, false);
    conversation->busy = !conversation->waiting.empty();
    if (conversation->busy) {
      conversation->prompt = std::move(conversation->waiting.front().first);
      next = std::move(conversation->waiting.front().second);
      conversation->waiting.pop_front();
    }
    idle_.notify_all();
  }
  if (prompt) give_result(*conversation, *prompt, cancelled, report);
  if (next) begin(conversation, *std::move(next));
}

void AcpAgent::give_result(const AcpConversation& conversation, const Json& prompt, bool cancelled,
                           const Result<AgentResult>& report) {
  std::string_view reason = "cancelled";
  if (!cancelled && !report) return peer_.refuse(prompt, kRpcInternal, report.error().message);
  if (!cancelled) reason = stop_reason_of(*report);
  if (reason.empty()) {
    const std::string why = report->error ? report->error->message : "the turn failed";
    const JsonObject data{{"run", conversation.id.str()}, {"reason", to_string(*report->reason)}};
    return peer_.refuse(prompt, kRpcInternal, why, data);
  }
  JsonObject result{{"stopReason", reason}};
  if (report && report->usage.total() > 0) {
    const Usage& usage = report->usage_total;
    result["usage"] =
        JsonObject{{"totalTokens", usage.total()},         {"inputTokens", usage.input},
                   {"outputTokens", usage.output},         {"thoughtTokens", usage.reasoning},
                   {"cachedReadTokens", usage.cache_read}, {"cachedWriteTokens", usage.cache_write}};
  }
  peer_.respond(prompt, std::move(result));
}

/// Shows questions that the editor could not be asked: the next prompt is the answer.
void AcpAgent::show_questions(const AcpConversation& conversation) {
  std::vector<ParkedStep> pending;
  {
    const std::lock_guard lock(mutex_);
    pending = conversation.pending;
  }
  for (const ParkedStep& step : pending) {
    if (!is_question(step)) continue;
    update(conversation.id, JsonObject{{"sessionUpdate", "agent_message_chunk"},
                                       {"messageId", whole_park_id(step, conversation.id).str()},
                                       {"content", acp_text(step.prompt)}});
    return;
  }
}

void AcpAgent::show_usage(const AcpConversation& conversation) {
  const auto [used, window] = conversation.session->context_usage();
  const auto row = conversation.folder->runtime->journal().session(conversation.id);
  if (window > 0) {
    JsonObject members{{"sessionUpdate", "usage_update"}, {"used", used}, {"size", window}};
    if (const Usage usage = conversation.session->token_usage(); usage.cost > MicroUsd{})
      members["cost"] = JsonObject{{"amount", usage.cost.usd()}, {"currency", "USD"}};
    update(conversation.id, std::move(members));
  }
  if (!row) return;
  update(conversation.id, JsonObject{{"sessionUpdate", "session_info_update"},
                                     {"title", row->name.empty() ? row->title : row->name},
                                     {"updatedAt", to_iso8601(row->updated)}});
}

void AcpAgent::cancel(const Json& params) {
  const auto found = conversation(params);
  if (!found) return;
  std::deque<std::pair<Json, Message>> waiting;
  bool busy = false;
  {
    const std::lock_guard lock(mutex_);
    waiting.swap((*found)->waiting);
    busy = (*found)->busy;
    if ((*found)->filling) (*found)->filling->request_stop();
    (*found)->cancelled = busy;
  }
  for (const auto& [id, message] : waiting) peer_.respond(id, JsonObject{{"stopReason", "cancelled"}});
  if (busy) (*found)->session->interrupt();
}

void AcpAgent::finish() {
  peer_.hang_up();
  for (const auto& [path, folder] : folders_) folder->runtime->stop();
  over_.request_stop();
  std::unique_lock lock(mutex_);
  for (const auto& [id, conversation] : conversations_) {
    if (conversation->filling) conversation->filling->request_stop();
  }
  idle_.wait(lock, [this] { return working_ == 0; });
  // What the conversations hold may call back while it ends.
  auto conversations = std::move(conversations_);
  conversations_.clear();
  lock.unlock();
}

}  // namespace praxis::protocols
