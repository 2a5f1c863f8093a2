// Whole sessions against misbehaving model endpoints: a real HTTP server, the real client, all protocols.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>

#include "bad_server.hpp"
#include "models/vendor_model.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::faults {
namespace endpoint {
namespace {

using namespace std::chrono_literals;
using testing::host_tool;

constexpr std::size_t kRunsPerServer = 250;              // a server keeps every request and thread
constexpr std::size_t kMostMemory = 1200 * 1024 * 1024;  // of this process, at any time
// Limit of a turn that only the clock ends, before it is shortened.
constexpr Millis kTurn{400'000};

/// The real executor with shortened delays.
class HastyExecutor final : public Executor {
 public:
  void post(Task task) override { inner_->post(std::move(task)); }
  void post_blocking(Task task) override { inner_->post_blocking(std::move(task)); }
  TimerId after(std::chrono::nanoseconds delay, Task task) override {
    return inner_->after(delay < 200ms ? delay : delay / 4000, std::move(task));
  }
  void cancel(TimerId timer) override { inner_->cancel(timer); }

 private:
  const std::shared_ptr<Executor> inner_ = make_executor();
};

/// What the runs of a process share.
struct Grounds {
  std::shared_ptr<HttpClient> client = make_http_client();
  std::shared_ptr<Executor> executor = std::make_shared<HastyExecutor>();
  std::unique_ptr<BadServer> server;
  std::size_t runs = 0;

  BadServer& server_for(PlanPtr plan) {
    if (runs++ % kRunsPerServer == 0) server = std::make_unique<BadServer>();
    server->follow(std::move(plan));
    return *server;
  }
};

/// What one run's observer received. Thread-safe.
struct Heard {
  std::mutex mutex;
  std::vector<std::string> notes;  ///< the arguments of each execution of the tool
  std::string events;              ///< all events as text
};

class Trial {
 public:
  Trial(Grounds& grounds, PlanPtr plan) : plan_(std::move(plan)) {
    RuntimeOptions options;
    options.journal = journal_;
    options.environment = fixed_environment(plan_->seed);
    options.executor = grounds.executor;
    options.http = grounds.client;
    options.stream = plan_->stream;
    runtime_ = Runtime::create(std::move(options));
    observer_ = runtime_->on("*", [heard = heard_](const Event& event) {
      const std::lock_guard lock(heard->mutex);
      heard->events += to_json_text(to_json(event)) + '\n';
    });
    const std::map<std::string_view, std::string> providers{
        {"messages", "anthropic"}, {"gemini", "gemini"}, {"ollama", "ollama"}};
    const auto provider = providers.find(plan_->protocol);
    const CodecTarget target{.provider = provider == providers.end() ? "openai" : provider->second,
                             .model = "m"};
    agent_ = Agent("endpoint:m", "You are terse.");
    agent_.runtime(runtime_).use(note()).limits(limits());
    agent_.model(vendor_model(target, make_codec(plan_->protocol, target).value(),
                              {.base_url = grounds.server_for(plan_).url(), .key = plan_->key},
                              std::make_shared<Wire>(grounds.client, plan_), grounds.executor));
  }

  void run() {
    Session session = agent_.session().value();
    const auto first = session.send_user_message("go").report();
    {
      const std::lock_guard lock(plan_->mutex);
      plan_->behaves = true;
    }
    const std::size_t sent = plan_->sent;
    const auto second = session.send_user_message(plan_->again).report();
    const std::lock_guard lock(plan_->mutex);
    EXPECT_EQ(plan_->trouble, "");
    check_log(session.session_id());
    check_first(first);
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_TRUE(second->success) << "when asked again: " << to_json_text(to_json(*second));
    EXPECT_EQ(second->text, plan_->at_last.text);
    EXPECT_EQ(plan_->sent, sent + 1) << "requests when asked again";
    check_secret(session.session_id(), {first, second});
  }

 private:
  Tool note() const {
    Tool tool = host_tool("note", [heard = heard_, plan = plan_](ToolContext&, const Json& arguments) {
      const std::lock_guard lock(heard->mutex);
      heard->notes.push_back(to_json_text(arguments));
      return Result<ToolOutput>(testing::says(plan->result));
    });
    tool.definition.timeout = Millis{0};
    return tool;
  }

  Limits limits() const {
    Limits limits;
    limits.max_model_attempts = kAttempts;
    limits.max_steps = 8;
    if (plan_->has(&Misdeed::endless)) limits.timeout = kTurn;
    return limits;
  }

  bool is_lossy() const {
    return std::ranges::any_of(plan_->served, [](const auto& s) { return s.second.hope == Hope::kAnything; });
  }

  void check_first(const Result<AgentResult>& first) const {
    ASSERT_TRUE(first) << first.error().message;
    if (first->success) {
      EXPECT_TRUE(is_lossy() || first->text == plan_->answering.text) << first->text;
      return;
    }
    ASSERT_TRUE(first->error && first->reason);
    if (is_lossy()) return;
    const bool timed = plan_->has(&Misdeed::endless) && *first->reason == StopReason::kTimeLimit;
    EXPECT_EQ(first->error->code, timed ? ErrorCode::kLimit : ErrorCode::kModel) << first->error->message;
    const bool model =
        *first->reason == StopReason::kModelFailed || *first->reason == StopReason::kContextLimit;
    EXPECT_TRUE(timed || model) << to_string(*first->reason);
  }

  /// Compares the log with what the server knows: what was settled, what was retried, what ran.
  void check_log(const SessionId& session) {
    const auto records = read_records(*journal_, session);
    ASSERT_TRUE(records) << records.error().message;
    const auto report = replay(*records);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_FALSE(report->divergence) << report->divergence->field << " at " << report->divergence->seq;
    std::size_t asked = 0, tools = 0, calls = 0;
    const records::EffectIntended* intent = nullptr;  // of the model
    const records::EffectSettled* failed = nullptr;   // of the previous attempt
    for (const StoredRecord& stored : *records) {
      if (const auto* intended = std::get_if<records::EffectIntended>(&stored.record.body)) {
        if (intended->kind == EffectKind::kTool && ++tools > calls)
          ADD_FAILURE() << "a tool ran without a call";
        if (intended->kind != EffectKind::kModel) continue;
        if (intended->attempt > 1) check_retry(failed, *intended);
        EXPECT_LE(intended->attempt, kAttempts);
        intent = intended;
        failed = nullptr;
        ++asked;
      } else if (const auto* settled = std::get_if<records::EffectSettled>(&stored.record.body);
                 settled && intent && settled->effect == intent->effect) {
        calls += check_settled(asked - 1, *settled);
        failed = settled->outcome == Outcome::kError ? settled : nullptr;
      } else if (std::holds_alternative<records::TurnSettled>(stored.record.body) && failed) {
        check_given_up(*failed, intent->attempt);
      }
    }
    EXPECT_EQ(plan_->sent, asked) << "requests that are missing in the log";
    EXPECT_TRUE(heard_->notes.size() == tools || (is_lossy() && heard_->notes.size() < tools))
        << heard_->notes.size() << " executions of " << tools;
    for (const auto& [number, served] : plan_->served) {
      EXPECT_LE(served.times, served.may_go_unseen ? 2 : 1) << "request " << number << what(served);
    }
  }

  static std::string what(const Served& served) {
    return served.misdeed == nullptr ? " (good)" : " (" + std::string(served.misdeed->name) + ")";
  }

  /// Checks the outcome of one request; returns how many tool calls it asks for.
  std::size_t check_settled(std::size_t number, const records::EffectSettled& settled) {
    const auto found = plan_->served.find(number);
    if (found == plan_->served.end()) {
      ADD_FAILURE() << "request " << number
                    << " never arrived: " << (settled.error ? settled.error->message : "");
      return 0;
    }
    const Served& served = found->second;
    const std::string where = plan_->protocol.data() + std::string(plan_->stream ? " stream" : "") +
                              ", request " + std::to_string(number) + what(served);
    if (settled.outcome == Outcome::kOk) {
      EXPECT_NE(served.hope, Hope::kBadly) << where << " gave an answer";
      return check_answer(served, std::get<ModelResponse>(settled.result), where);
    }
    if (settled.outcome == Outcome::kCancelled) {
      EXPECT_TRUE(plan_->has(&Misdeed::endless)) << where << " was cancelled";
      return 0;
    }
    check_error(served, *settled.error, where);
    return 0;
  }

  static std::size_t check_answer(const Served& served, const ModelResponse& answer,
                                  const std::string& where) {
    std::string text;
    std::size_t calls = 0;
    for (const Part& part : answer.parts) {
      if (const auto* said = std::get_if<TextPart>(&part)) text += said->text;
      const auto* call = std::get_if<ToolCallPart>(&part);
      if (call == nullptr) continue;
      ++calls;
      if (served.hope == Hope::kAnything) continue;
      EXPECT_TRUE(call->valid && call->name == served.words.tool) << where;
      EXPECT_EQ(parse_json(call->arguments).value_or(nullptr),
                parse_json(served.words.arguments).value_or(nullptr))
          << where;
    }
    if (served.hope == Hope::kAnything) return calls;
    EXPECT_EQ(text, served.words.text) << where;
    EXPECT_EQ(calls, served.words.tool.empty() ? 0U : 1U) << where;
    return calls;
  }

  static void check_error(const Served& served, const Error& error, const std::string& where) {
    EXPECT_NE(served.hope, Hope::kWell) << where << ": " << error.message;
    EXPECT_EQ(error.code, ErrorCode::kModel) << where;
    const std::string kind = json_string(error.detail(), "kind");
    EXPECT_TRUE(served.kinds.empty() || std::ranges::find(served.kinds, kind) != served.kinds.end())
        << where << ": " << to_json_text(to_json(error));
    static constexpr std::string_view kKinds[] = {
        "auth",           "billing",          "not_found",  "invalid_request", "context_overflow",
        "content_policy", "rate_limit",       "overloaded", "server",          "network",
        "timeout",        "truncated_stream", "protocol"};
    EXPECT_NE(std::ranges::find(kKinds, kind), std::end(kKinds)) << where << ": " << kind;
    const std::int64_t delay = json_int(error.detail(), "retry_after_ms");
    EXPECT_TRUE(delay >= 0 && delay <= 366LL * 24 * 3600 * 1000) << where << ": " << delay;
    EXPECT_TRUE(is_valid_utf8(error.message)) << where;
    EXPECT_LT(error.message.size(), 10'000U) << where;
  }

  static void check_retry(const records::EffectSettled* failed, const records::EffectIntended& again) {
    ASSERT_TRUE(failed) << "an attempt " << again.attempt << " after none that failed";
    EXPECT_EQ(failed->effect, again.effect);
    EXPECT_TRUE(failed->error->retriable) << failed->error->message;
    const Json& asked = json_at(failed->error->detail(), "retry_after_ms");
    EXPECT_LE(again.delay, 60s);
    EXPECT_TRUE(!asked.is_int64() || again.delay == Millis(asked.get_int64())) << to_json_text(asked);
  }

  static void check_given_up(const records::EffectSettled& failed, std::uint32_t attempt) {
    const bool patient = json_int(failed.error->detail(), "retry_after_ms") <= 60'000;
    EXPECT_FALSE(failed.error->retriable && patient && attempt < kAttempts)
        << "given up after attempt " << attempt << ": " << failed.error->message;
  }

  void check_secret(const SessionId& session, const std::vector<Result<AgentResult>>& results) {
    std::string all = export_session(*journal_, session).value();
    EXPECT_TRUE(is_valid_utf8(all));
    for (const auto& result : results)
      all += result ? to_json_text(to_json(*result)) : result.error().message;
    const std::lock_guard lock(heard_->mutex);
    all += heard_->events;
    const std::string begin = plan_->key.substr(0, 12), end = plan_->key.substr(plan_->key.size() - 12);
    for (const std::string& part : {begin, end}) {
      const std::size_t at = all.find(part);
      EXPECT_EQ(at, all.npos) << "the key: ..." << all.substr(at - std::min<std::size_t>(at, 100), 200);
    }
  }

  const PlanPtr plan_;
  const std::shared_ptr<Heard> heard_ = std::make_shared<Heard>();
  const std::shared_ptr<Journal> journal_ = memory_journal();
  std::shared_ptr<Runtime> runtime_;
  Subscription observer_;
  Agent agent_;
};

/// Returns the bytes of memory in use.
std::size_t memory_in_use() {
  std::size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace
}  // namespace endpoint

Fault endpoint_fault() {
  return {"endpoint",
          "a model endpoint that misbehaves: statuses, cuts, silence, nonsense, floods, in five protocols",
          "a whole answer or a typed error; no more requests than allowed; no call from a cut answer; no key "
          "in sight; the next turn works",
          5'000,
          50'000,
          [] {
            const auto grounds = std::make_shared<endpoint::Grounds>();
            return [grounds](std::uint64_t seed) {
              endpoint::Trial(*grounds, endpoint::plan_of(seed)).run();
              EXPECT_LT(endpoint::memory_in_use(), endpoint::kMostMemory);
            };
          }};
}

}  // namespace praxis::faults
