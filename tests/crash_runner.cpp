// A process to be killed: it begins or carries on one session in a journal on disk, and can be told to kill
// itself at an exact point. The points are where the runtime meets the outside (journal, model, tools,
// timers, person), so the product runs as it always does.
//
//   crash_runner JOURNAL LEDGER AGENT DOUBT POINT
//
// LEDGER gets one line per thing done outside. AGENT is `model` or `plan`. DOUBT says what becomes of a call
// that may have run: `tell`, or what a person answers: `allow`, `deny`, `answer`. POINT is `target/where/n`,
// or `-` for none.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
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
    for (const NewEntry& entry : append.entries) subjects.push_back(subject_of(entry, names_));
    for (const auto& [target, intent] : subjects) doom_.pass(target, intent ? "before_intent" : "unrecorded");
    inner_->append(std::move(append), [this, subjects = std::move(subjects),
                                       done = std::move(done)](Result<std::uint64_t> last) mutable {
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
  Result<bool> has_blob(const Digest& digest) override { return inner_->has_blob(digest); }
  Result<std::vector<SessionRow>> sessions(std::size_t limit) override { return inner_->sessions(limit); }
  Result<SessionRow> session(const SessionId& session) override { return inner_->session(session); }

 private:
  const std::shared_ptr<Journal> inner_;
  Doom& doom_;
  std::map<std::string, std::string> names_;  ///< by effect; used by the one session's appends only
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
    if (row.entries != 0) return runtime.open_session(row.id, agent);
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
  if (kind == "plan") {
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
