#include "praxis/tools/a2a_tools.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/wait_out.hpp"
#include "praxis/base/reach.hpp"
#include "tools/a2a_client.hpp"

namespace praxis {
namespace {

using a2a::Client;
using a2a::Patience;
using a2a::Phase;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostName = 24;
constexpr std::size_t kMostQuestions = 8;  ///< of one task
constexpr int kMostFailures = 5;           ///< of questions for a task, in a row
constexpr int kStalePolls = 4;             ///< after which the same status counts as a new question
constexpr Millis kLongestPause{15'000};
/// Makes the runtime's own deadline expire after ours, so that the agent hears of the cancellation.
constexpr Millis kLeeway{1'000};
constexpr std::array<std::string_view, 8> kOwnHeaders{"host",        "content-length", "transfer-encoding",
                                                      "connection",  "upgrade",        "expect",
                                                      "a2a-version", "content-type"};

Patience patience_of(const ToolContext& context, Millis timeout) {
  return {context.stop, Clock::now() + timeout, context.trace};
}

std::string in_words(const a2a::Task& task) {
  std::string text = "Task " + task.id + " is " + task.state + '.';
  if (!task.text.empty()) text += "\n" + task.text;
  return text;
}

Result<ToolOutput> send_call(Client& client, const ToolContext& context, const Json& arguments) {
  const a2a::Outgoing message{json_string(arguments, "message"), json_string(arguments, "task"),
                              json_string(arguments, "context"), "praxis-" + context.idempotency_key};
  if (message.text.empty()) return fail(ErrorCode::kInput, "\"message\" is empty: what is the agent to do?");
  for (const std::string& id : {message.task, message.context}) {
    if (!id.empty() && !a2a::is_id(id))
      return fail(ErrorCode::kInput, "\"task\" and \"context\" must be ids");
  }
  const auto answer = client.send(message, patience_of(context, client.agent().timeout));
  if (!answer) return fail(answer.error());
  ToolOutput output;
  output.text = answer->task ? in_words(*answer->task) : answer->text;
  if (answer->task) output.value = to_json(*answer->task);
  return output;
}

/// One call of `NAME__ask`.
class AskCall {
 public:
  AskCall(Client& client, ToolContext& context) : client_(client), context_(context) {}

  Result<ToolOutput> run(const Json& arguments) {
    std::string id = json_string(arguments, "task");
    const bool has_answer = !context_.answers.empty();
    if (has_answer) {
      const CallAnswer& last = context_.answers.back();
      id = json_string(last.state, "task");
      answered_ = json_string(last.state, "mark");
      if (last.kind != CallAnswer::Kind::kGiven) return give_up(id);
    }
    if (!id.empty() && !a2a::is_id(id)) return fail(ErrorCode::kInput, "\"task\" must be the id of a task");
    if (!has_answer && !json_at(arguments, "message").is_string()) {
      if (id.empty()) return fail(ErrorCode::kInput, "needs a \"message\", or the \"task\" to wait for");
      return wait_for(id);
    }
    // Recorded as a call within this one: after a crash it is found, and not made again.
    const auto sent = context_.call_tool(client_.agent().name + "__send", sending(arguments, id));
    if (!sent) return fail(sent.error());
    const auto task = a2a::task_from(sent->value);
    if (!task) return *sent;
    if (ends(*task)) return outcome(*task);
    return wait_for(task->id);
  }

 private:
  Json sending(const Json& arguments, const std::string& task) const {
    if (context_.answers.empty()) return arguments;
    return JsonObject{{"message", context_.answers.back().text},
                      {"task", task},
                      {"answer", context_.answers.size()}};  // equal answers to two questions are two calls
  }

  Result<ToolOutput> give_up(const std::string& id) {
    const auto ready = client_.streams(patience_of(context_, client_.agent().timeout));  // reads the card
    if (ready) client_.cancel(id);
    return fail(
        ErrorCode::kTool, ErrorKind::kFailed,
        "The remote agent asked a question, and the person did not answer it. Its task is cancelled.");
  }

  /// Whether the task does not work, and waits for something else than the answer that it was sent.
  bool ends(const a2a::Task& task) {
    const Phase phase = a2a::phase_of(task.state);
    if (phase == Phase::kWorking) return false;
    return phase != Phase::kWaiting || task.mark != answered_ || ++stale_ > kStalePolls;
  }

  Result<ToolOutput> wait_for(const std::string& id) {
    const Patience patience = patience_of(context_, client_.agent().timeout);
    Millis gap = client_.agent().poll;
    int failures = 0;
    bool hurries = false;
    for (;;) {
      const auto task = client_.task(id, patience);
      if (context_.stop.stop_requested()) return stopped(id);
      if (Clock::now() >= patience.deadline) return late(id);
      failures = task ? 0 : failures + 1;
      if (task && ends(*task)) return outcome(*task);
      if (!task && (!task.error().retriable || failures >= kMostFailures)) return lost(id, task.error());
      bool has_changed = false;
      if (task && client_.streams(patience).value_or(false)) {
        has_changed = client_.await_change(id, answered_, patience,
                                           [&](const std::string& said) { context_.progress(said); });
      }
      hurries = has_changed && !hurries;  // an agent that says so again and again has to wait
      if (hurries) continue;
      wait_out(gap, patience.deadline, patience.stop);
      gap = std::min(gap + gap / 2, kLongestPause);
    }
  }

  Result<ToolOutput> outcome(const a2a::Task& task) {
    if (a2a::phase_of(task.state) == Phase::kWaiting) return question(task);
    if (a2a::phase_of(task.state) == Phase::kFailed) {
      return fail(with_reach(make_error(ErrorCode::kTool, ErrorKind::kFailed,
                                        "the task of the remote agent is " + task.state +
                                            (task.text.empty() ? "" : ": " + task.text)),
                             Reach::kAnswered));
    }
    ToolOutput output;
    output.text = task.text;
    if (!task.context.empty()) output.text += "\n[context " + task.context + "]";
    output.value = to_json(task);
    return output;
  }

  Result<ToolOutput> question(const a2a::Task& task) {
    if (context_.answers.size() >= kMostQuestions) {
      client_.cancel(task.id);
      return fail(ErrorCode::kTool, ErrorKind::kFailed,
                  "the remote agent asks more than " + std::to_string(kMostQuestions) + " times");
    }
    const bool needs_access = task.state == "auth_required";
    const std::string said = task.said.empty() ? "(it does not say what)" : task.said;
    return fail_question("The remote agent \"" + client_.agent().name +
                             (needs_access ? "\" needs access: " : "\" asks: ") + said,
                         nullptr, JsonObject{{"task", task.id}, {"mark", task.mark}});
  }

  Result<ToolOutput> stopped(const std::string& id) {
    client_.cancel(id);
    return fail(with_reach(make_error(ErrorCode::kCancelled,
                                      "the call was stopped; the remote agent is asked to "
                                      "cancel task " +
                                          id),
                           Reach::kSent));
  }
  Result<ToolOutput> late(const std::string& id) {
    client_.cancel(id);
    return fail(with_reach(make_error(ErrorCode::kTool, ErrorKind::kTimeout,
                                      "the remote agent did not end task " + id +
                                          " in time and is asked to "
                                          "cancel it"),
                           Reach::kAnswered));
  }
  Result<ToolOutput> lost(const std::string& id, Error error) {
    error.message = "the state of task " + id + " is unknown: " + error.message +
                    "; a call with \"task\": \"" + id + "\" asks again";
    error.retriable = false;
    return fail(with_reach(std::move(error), Reach::kAnswered));
  }

  Client& client_;
  ToolContext& context_;
  std::string answered_;  ///< mark of the status that the last answer was for
  int stale_ = 0;
};

Status check_agent(const A2aAgent& agent) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  const std::string& name = agent.name;
  if (name.empty() || name.size() > kMostName || !std::ranges::all_of(name, is_letter) ||
      name.contains("__") || name.front() == '_' || name.back() == '_')
    return fail(ErrorCode::kInput,
                "the name of a remote agent must be 1 to 24 letters, digits, '-' or single '_' within");
  if (agent.http == nullptr) return fail(ErrorCode::kInput, "a remote agent needs an HTTP client");
  const auto url = parse_url(agent.url);
  if (!url) return fail(url.error());
  if (url->target.contains('?'))
    return fail(ErrorCode::kInput, "the address of a remote agent must have no query");
  for (const auto& [header, value] : agent.headers) {
    std::string lower = header;
    std::ranges::transform(lower, lower.begin(), [](char c) {
      return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    });
    if (std::ranges::find(kOwnHeaders, lower) != kOwnHeaders.end())
      return fail(ErrorCode::kInput, "the header \"" + header + "\" is set by the client");
  }
  return {};
}

Json text_field(const char* about) { return JsonObject{{"type", "string"}, {"description", about}}; }

Tool make_ask(const std::shared_ptr<Client>& client, const std::string& about) {
  Tool tool;
  ToolDefinition& definition = tool.definition;
  definition.name = client->agent().name + "__ask";
  definition.description = "Gives work to another agent and waits for its answer. " + about;
  definition.parameters = JsonObject{
      {"type", "object"},
      {"properties",
       JsonObject{
           {"message", text_field("What the agent is to do; it sees nothing else of this conversation")},
           {"task", text_field("Waits for this task, or sends it the message, instead of a new one")},
           {"context", text_field("The context of an earlier answer, to continue that conversation")}}}};
  // The first half of the time is that of the call within, which sends.
  definition.timeout = 2 * (client->agent().timeout + kLeeway);
  definition.idempotent = true;
  definition.safe_by_default = true;
  tool.handler = [client](ToolContext& context, const Json& arguments) {
    return AskCall(*client, context).run(arguments);
  };
  return tool;
}

Tool make_send(const std::shared_ptr<Client>& client, const std::string& about) {
  Tool tool;
  ToolDefinition& definition = tool.definition;
  const std::string& name = client->agent().name;
  definition.name = name + "__send";
  definition.description = "Begins a task of another agent and returns its id at once; " + name +
                           "__ask with this \"task\" waits for the answer. " + about;
  definition.parameters = JsonObject{
      {"type", "object"},
      {"properties",
       JsonObject{
           {"message", text_field("What the agent is to do; it sees nothing else of this conversation")},
           {"task", text_field("The task that the message is for, instead of a new one")},
           {"context", text_field("The context of an earlier answer, to continue that conversation")}}},
      {"required", JsonArray{"message"}}};
  definition.timeout = client->agent().timeout + kLeeway;
  tool.handler = [client](ToolContext& context, const Json& arguments) {
    return send_call(*client, context, arguments);
  };
  return tool;
}

}  // namespace

Result<std::vector<Tool>> a2a_tools(A2aAgent agent) {
  if (auto checked = check_agent(agent); !checked) return fail(std::move(checked.error()));
  const std::string about = agent.description.empty()
                                ? "It is called \"" + agent.name + "\", at " + agent.url + '.'
                                : agent.description;
  const auto client = std::make_shared<Client>(std::move(agent));
  std::vector<Tool> tools;
  tools.push_back(make_ask(client, about));
  tools.push_back(make_send(client, about));
  return tools;
}

}  // namespace praxis
