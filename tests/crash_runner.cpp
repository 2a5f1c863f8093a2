// A process to be killed: it begins or carries on one session in a journal on disk, and can be told to kill
// itself at an exact point. The points are where the runtime meets the outside (journal, model, tools,
// timers, person), so the product runs as it always does.
//
//   crash_runner JOURNAL LEDGER AGENT DOUBT POINT
//
// LEDGER gets one line per thing done outside. AGENT is `model`, `plan` or `tree`. DOUBT says what becomes of
// a call that may have run: `tell`, or what a person answers: `allow`, `deny`, `answer`. POINT is
// `target/where/n`, or `-` for none.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "praxis/praxis.hpp"

namespace praxis {
namespace {

constexpr Millis kNap{7};  // no other timer has this delay

constexpr const char* kScript = R"({"text": "Putting.", "tool_calls": [{"name": "put", "arguments": {}}]}
{"text": "Paying.", "tool_calls": [{"name": "pay", "arguments": {}}]}
{"reasoning": "Better ask.", "tool_calls": [{"name": "send", "arguments": {}}]}
{"text": "Put, paid and sent."})";

constexpr const char* kPlan = R"([
  {"id": "nap", "sleep_ms": 7},
  {"id": "put", "tool": "put"},
  {"id": "who", "ask": "Who gets it?"},
  {"id": "pay", "tool": "pay", "on_error": "continue"},
  {"id": "both", "tools": [{"tool": "put"}, {"tool": "pay"}], "on_error": "continue"},
  {"id": "end", "finish": "${steps.put.text}, ${steps.who.text}, ${steps.pay.text}"}])";

constexpr const char* kTop =
    R"({"tool_calls": [{"name": "manager", "arguments": {"prompt": "see to it"}}, {"name": "put", "arguments": {}}]}
{"text": "All is done."})";
constexpr const char* kManager = R"({"tool_calls": [{"name": "clerk", "arguments": {"prompt": "do it"}}]}
{"text": "It was done."})";
constexpr const char* kClerk = R"({"tool_calls": [{"name": "errand", "arguments": {}}]}
{"text": "I did it."})";
constexpr const char* kTwin =
    R"([{"id": "put", "tool": "put"}, {"id": "end", "finish": "twin: ${steps.put.text}"}])";

/// Where to die: at the n-th time that `target` comes by `where`.
class Doom {
 public:
  explicit Doom(const std::string& text) {
    const std::size_t first = text.find('/'), second = text.rfind('/');
    if (first == std::string::npos) return;
    target_ = text.substr(0, first);
    where_ = text.substr(first + 1, second - first - 1);
    left_ = std::stoi(text.substr(second + 1));
  }
  void pass(std::string_view target, std::string_view where) {
    if (target == target_ && where == where_ && --left_ == 0) kill(getpid(), SIGKILL);
  }

 private:
  std::string target_, where_;
  std::atomic<int> left_ = 0;
};

/// The world outside: what is written here has happened.
class Ledger {
 public:
  explicit Ledger(const char* path) : file_(open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {}
  void write(const std::string& line) const {
    const std::string text = line + "\n";
    if (::write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size()) || fsync(file_) != 0)
      abort();
  }

 private:
  const int file_;
};

/// What an entry is about, in the words of `Doom`: the target, and whether it is the intent or the outcome.
std::pair<std::string, bool> subject_of(const NewEntry& entry, std::map<std::string, std::string>& names) {
  const Json body = *parse_json(entry.body);
  if (entry.kind == "parked") return {"person", true};
  if (entry.kind == "decided" && json_string(body, "by") == "person") return {"person", false};
  if (entry.kind == "status_changed") return {"recovery", true};
  std::string& name = names[json_string(body, "effect")];
  if (entry.kind == "effect_intended") {
    const std::string kind = json_string(body, "kind");
    name = kind == "tool" ? json_string(body, "name") : kind;
    return {name, true};
  }
  if (entry.kind == "effect_settled") return {name, false};
  return {};
}

/// Dies before or after an append that holds the fact in question.
class DoomedJournal final : public Journal {
 public:
  DoomedJournal(std::shared_ptr<Journal> inner, Doom& doom) : inner_(std::move(inner)), doom_(doom) {}

  Result<Lease> create(const SessionId& session, UnixMillis now) override {
    return inner_->create(session, now);
  }
  Result<Lease> acquire(const SessionId& session, bool force) override {
    return inner_->acquire(session, force);
  }
  void release(const Lease& lease) override { inner_->release(lease); }
  void append(Append append, AppendDone done) override {
    std::vector<std::pair<std::string, bool>> subjects;
    {
      const std::lock_guard lock(mutex_);
      for (const NewEntry& entry : append.entries)
        subjects.push_back(subject_of(entry, names_[append.lease.session]));
    }
    doom_.pass("append", "before");
    for (const auto& [target, intent] : subjects) doom_.pass(target, intent ? "before_intent" : "unrecorded");
    inner_->append(std::move(append), [this, subjects = std::move(subjects),
                                       done = std::move(done)](Result<std::uint64_t> last) mutable {
      doom_.pass("append", "after");
      for (const auto& [target, intent] : subjects) {
        doom_.pass(target, intent ? "after_intent" : "recorded");
      }
      done(std::move(last));
    });
  }
  Result<std::vector<Entry>> read(const SessionId& session, std::uint64_t from, std::size_t limit) override {
    return inner_->read(session, from, limit);
  }
  Result<std::string> blob(const Digest& digest) override { return inner_->blob(digest); }
  Result<std::vector<SessionRow>> sessions(std::size_t limit) override { return inner_->sessions(limit); }
  Result<SessionRow> session(const SessionId& session) override { return inner_->session(session); }
  Result<std::vector<SessionRow>> children(const SessionId& parent) override {
    return inner_->children(parent);
  }
  Result<MailId> post(const SessionId& to, std::string body, UnixMillis now) override {
    return inner_->post(to, std::move(body), now);
  }
  Result<std::vector<Mail>> mail(MailId after) override { return inner_->mail(after); }
  Result<std::vector<Mail>> mail_for(const SessionId& session, MailId after) override {
    return inner_->mail_for(session, after);
  }
  Status answer(const Lease& lease, MailId mail, std::string outcome) override {
    return inner_->answer(lease, mail, std::move(outcome));
  }
  Result<std::optional<std::string>> outcome(MailId mail) override { return inner_->outcome(mail); }

 private:
  const std::shared_ptr<Journal> inner_;
  Doom& doom_;
  std::mutex mutex_;
  std::map<SessionId, std::map<std::string, std::string>> names_;  ///< by effect
};

/// A model whose provider counts the answers it made.
class DoomedModel final : public Model {
 public:
  DoomedModel(std::shared_ptr<Model> inner, Doom& doom, const Ledger& ledger)
      : inner_(std::move(inner)), doom_(doom), ledger_(ledger) {}

  const std::string& name() const override { return inner_->name(); }
  ModelCapabilities capabilities() const override { return inner_->capabilities(); }
  MicroUsd price(const Usage& usage) const override { return inner_->price(usage); }
  std::unique_ptr<ModelSession> open_session() override {
    return std::make_unique<Session>(inner_->open_session(), *this);
  }

 private:
  struct Sink final : ModelSink {
    Sink(std::shared_ptr<ModelSink> to, const DoomedModel& of, std::string said)
        : inner(std::move(to)), model(of), line(std::move(said)) {}
    void on_delta(const ModelDelta& delta) override { inner->on_delta(delta); }
    void on_done(Result<ModelResponse> response) override {
      model.ledger_.write(line);
      model.doom_.pass("model", "acted");
      inner->on_done(std::move(response));
    }
    const std::shared_ptr<ModelSink> inner;
    const DoomedModel& model;
    const std::string line;
  };
  struct Session final : ModelSession {
    Session(std::unique_ptr<ModelSession> session, const DoomedModel& of)
        : inner(std::move(session)), model(of) {}
    void start(const ModelRequest& request, std::shared_ptr<ModelSink> sink, std::stop_token stop) override {
      model.doom_.pass("model", "inside");
      std::string line = "model " + std::to_string(request.ordinal) + " " + std::to_string(request.attempt);
      inner->start(request, std::make_shared<Sink>(std::move(sink), model, std::move(line)), std::move(stop));
    }
    const std::unique_ptr<ModelSession> inner;
    const DoomedModel& model;
  };

  const std::shared_ptr<Model> inner_;
  Doom& doom_;
  const Ledger& ledger_;
};

/// Dies when the plan's timer starts, or when it rings.
class DoomedExecutor final : public Executor {
 public:
  DoomedExecutor(std::shared_ptr<Executor> inner, Doom& doom, const Ledger& ledger)
      : inner_(std::move(inner)), doom_(doom), ledger_(ledger) {}

  void post(Task task) override { inner_->post(std::move(task)); }
  void post_blocking(Task task) override { inner_->post_blocking(std::move(task)); }
  TimerId after(std::chrono::nanoseconds delay, Task task) override {
    if (delay != kNap) return inner_->after(delay, std::move(task));
    doom_.pass("timer", "inside");
    return inner_->after(delay, [this, task = std::move(task)]() mutable {
      ledger_.write("timer - -");
      doom_.pass("timer", "acted");
      task();
    });
  }
  void cancel(TimerId timer) override { inner_->cancel(timer); }

 private:
  const std::shared_ptr<Executor> inner_;
  Doom& doom_;
  const Ledger& ledger_;
};

Tool doomed_tool(const std::string& name, bool idempotent, Doom& doom, const Ledger& ledger) {
  Tool tool;
  tool.definition = {
      name, "Does " + name, JsonObject{{"type", "object"}}, std::chrono::seconds(30), idempotent, true};
  tool.handler = [name, &doom, &ledger](ToolContext& context, const Json&) -> Result<ToolOutput> {
    doom.pass(name, "inside");
    ledger.write(name + " " + context.idempotency_key + " " + std::to_string(context.attempt));
    doom.pass(name, "acted");
    return ToolOutput{name + " done", nullptr, {}, {}};
  };
  return tool;
}

/// Makes an agent of its own and calls two tools meanwhile.
Tool errand_tool(Doom& doom, const Ledger& ledger) {
  Tool tool;
  tool.definition = {"errand", "Does it all", JsonObject{{"type", "object"}}, Millis{0}, true, true};
  tool.handler = [&doom, &ledger](ToolContext& context, const Json&) -> Result<ToolOutput> {
    doom.pass("errand", "inside");
    AgentSpec spec;
    spec.id = "twin";
    spec.plan = *parse_json(kTwin);
    SubAgent twin = context.spawn(spec, {doomed_tool("put", true, doom, ledger)});
    if (auto begun = twin.start("go"); !begun) return fail(begun.error());
    auto paid = context.call_tool("pay", JsonObject{});
    auto put = context.call_tool("put", JsonObject{});
    auto done = twin.wait();
    if (!put || !done) return fail(!put ? put.error() : done.error());
    return ToolOutput{(paid ? paid->text : paid.error().message) + ", " + done->text, nullptr, {}, {}};
  };
  return tool;
}

/// A lead, a manager below it, and a clerk below that, whose tool does the work.
Result<Agent> tree(const std::shared_ptr<Runtime>& runtime, Doom& doom, const Ledger& ledger, InDoubt doubt) {
  const auto agent = [&](const char* id, const char* script) -> Result<Agent> {
    auto model = script_model(script, id, runtime->model_services().executor);
    if (!model) return fail(model.error());
    Agent made("", "Be careful.");
    return made.id(id).model(*std::move(model)).in_doubt(doubt).runtime(runtime);
  };
  auto top = agent("top", kTop), manager = agent("manager", kManager), clerk = agent("clerk", kClerk);
  if (!top || !manager || !clerk) return fail(ErrorCode::kInternal, "a script cannot be read");
  const PolicyRules asks{.allow = {}, .deny = {}, .ask = {"pay"}};
  clerk->use(errand_tool(doom, ledger)).policy(asks);
  clerk->use(doomed_tool("put", true, doom, ledger)).use(doomed_tool("pay", false, doom, ledger));
  manager->use(clerk->as_tool("clerk", "Does the work"));
  top->use(manager->as_tool("manager", "Has it done")).use(doomed_tool("put", true, doom, ledger));
  return top;
}

/// What the person says, always the same.
Verdict verdict_on(const ParkedStep& step, std::string_view doubt) {
  if (step.kind == ParkKind::kApproval) return allow();
  if (step.kind == ParkKind::kQuestion) return ask("a friend");
  if (doubt == "allow") return allow();
  return doubt == "deny" ? deny("I will look into it.") : ask("it was paid");
}

int report(const Error& error) {
  std::fprintf(stderr, "crash_runner: %s\n", error.message.c_str());
  return 1;
}

/// The session of the journal, or a new one. One without entries belongs to a process that died too early.
Result<Session> open_or_begin(Runtime& runtime, const Agent& agent, bool& fresh) {
  auto rows = runtime.journal().sessions();
  if (!rows) return fail(rows.error());
  for (const SessionRow& row : *rows) {
    if (row.entries != 0 && row.parent.empty()) return runtime.open_session(row.id, agent);
  }
  fresh = true;
  return runtime.create_session(agent);
}

int run(char** arguments) {
  Doom doom(arguments[5]);
  const Ledger ledger(arguments[2]);
  const std::string_view kind = arguments[3], doubt = arguments[4];
  auto file = sqlite_journal(arguments[1]);
  if (!file) return report(file.error());

  RuntimeOptions options;
  options.journal = std::make_shared<DoomedJournal>(*std::move(file), doom);
  options.executor = std::make_shared<DoomedExecutor>(make_executor(), doom, ledger);
  const auto executor = options.executor;
  const auto runtime = Runtime::create(std::move(options));

  Agent agent("", "Be careful.");
  agent.use(doomed_tool("put", true, doom, ledger)).use(doomed_tool("pay", false, doom, ledger));
  agent.use(doomed_tool("send", true, doom, ledger)).policy({.allow = {}, .deny = {}, .ask = {"send"}});
  agent.in_doubt(doubt == "tell" ? InDoubt::kTell : InDoubt::kPark).runtime(runtime);
  if (kind == "tree") {
    auto top = tree(runtime, doom, ledger, doubt == "tell" ? InDoubt::kTell : InDoubt::kPark);
    if (!top) return report(top.error());
    agent = *std::move(top);
  } else if (kind == "plan") {
    agent.plan(*parse_json(kPlan));
  } else {
    auto model = script_model(kScript, "crash", executor);
    if (!model) return report(model.error());
    agent.model(std::make_shared<DoomedModel>(*std::move(model), doom, ledger));
  }

  bool fresh = false;
  auto session = open_or_begin(*runtime, agent, fresh);
  if (!session) return report(session.error());
  if (!fresh && session->last_result().reason) return 0;  // the killed process had got to the end
  const bool begun = session->status() != SessionStatus::kIdle;
  auto result = begun ? session->carry_on().result() : session->ask("go");
  while (result && result->status == SessionStatus::kAwaitingUser) {
    doom.pass("person", "inside");
    Decisions decisions;
    for (const ParkedStep& step : result->pending) decisions.emplace_back(step.id, verdict_on(step, doubt));
    result = session->carry_on(decisions).result();
  }
  return result ? 0 : report(result.error());
}

}  // namespace
}  // namespace praxis

int main(int count, char** arguments) {
  alarm(20);  // whatever hangs is a failure, not a wait
  if (count == 6) {
    const int status = praxis::run(arguments);
    std::fflush(nullptr);
    _exit(status);
  }
  std::fprintf(stderr, "usage: crash_runner JOURNAL LEDGER AGENT DOUBT POINT\n");
  return 2;
}
