// The surroundings of a process that is to be killed: it dies at an exact point, and a ledger records what
// happened outside. The points are where the runtime meets the outside (journal, model, tools, timers,
// approver), so the product itself runs unchanged.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "journal/testing/forwarding_journal.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/praxis.hpp"

namespace praxis::testing {

inline constexpr Millis kNap{7};  // no other timer has this delay
/// Seconds that a process may run without recording anything. Not a bound on the whole run, whose length
/// depends on the machine's load.
inline constexpr unsigned kPatience = 20;

/// Where to die, or after `stop:` where to stop: the n-th time that `target` passes `where`.
class Doom {
 public:
  explicit Doom(std::string text) {
    if (text.starts_with(kStop)) {
      signal_ = SIGSTOP;
      text.erase(0, kStop.size());
    }
    const std::size_t first = text.find('/'), second = text.rfind('/');
    if (first == std::string::npos) return;
    target_ = text.substr(0, first);
    where_ = text.substr(first + 1, second - first - 1);
    left_ = std::stoi(text.substr(second + 1));
  }
  void pass(std::string_view target, std::string_view where) {
    if (target == target_ && where == where_ && --left_ == 0) kill(getpid(), signal_);
  }

 private:
  static constexpr std::string_view kStop = "stop:";

  int signal_ = SIGKILL;
  std::string target_, where_;
  std::atomic<int> left_ = 0;
};

/// Passes `commit/within` whenever SQLite commits: other processes then wait for the lock that this one
/// holds.
inline void doom_commits(Doom& doom) {
  static Doom* of = nullptr;
  of = &doom;
  constexpr auto kWatch = [](sqlite3* connection, char**, const sqlite3_api_routines*) -> int {
    sqlite3_commit_hook(
        connection,
        [](void*) -> int {
          of->pass("commit", "within");
          return 0;
        },
        nullptr);
    return SQLITE_OK;
  };
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(+kWatch));
}

/// The outside world: the effects that are written here have happened.
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

/// What an entry is about, in the terms of `Doom`: the target, and whether it is the intent or the outcome.
inline std::pair<std::string, bool> subject_of(const NewEntry& entry,
                                               std::map<std::string, std::string>& names) {
  const Json body = *parse_json(entry.body);
  if (entry.kind == "parked") return {"person", true};
  if (entry.kind == "decided" && json_string(body, "by") == "person") return {"person", false};
  if (entry.kind == "status_changed") return {"recovery", true};
  if (entry.kind == "child_spawned") return {"child", true};
  if (entry.kind == "child_settled") return {"child", false};
  std::string& name = names[json_string(body, "effect")];
  if (entry.kind == "effect_intended") {
    const std::string kind = json_string(body, "kind");
    name = kind == "tool" ? json_string(body, "name") : kind.substr(0, kind.find('.'));
    return {name, true};
  }
  if (entry.kind == "effect_settled") return {name, false};
  return {};
}

/// Dies before or after an append that holds the given fact.
class DoomedJournal final : public ForwardingJournal {
 public:
  DoomedJournal(std::shared_ptr<Journal> journal, Doom& doom)
      : ForwardingJournal(std::move(journal)), doom_(doom) {}

  void append(Append append, AppendDone done) override {
    std::vector<std::pair<std::string, bool>> subjects;
    {
      const std::lock_guard lock(mutex_);
      for (const NewEntry& entry : append.entries)
        subjects.push_back(subject_of(entry, names_[append.lease.session]));
    }
    alarm(kPatience);
    doom_.pass("append", "before");
    for (const auto& [target, intent] : subjects) doom_.pass(target, intent ? "before_intent" : "unrecorded");
    inner().append(std::move(append), [this, subjects = std::move(subjects),
                                       done = std::move(done)](Result<std::uint64_t> last) mutable {
      doom_.pass("append", "after");
      for (const auto& [target, intent] : subjects) doom_.pass(target, intent ? "after_intent" : "recorded");
      done(std::move(last));
    });
  }

 private:
  Doom& doom_;
  std::mutex mutex_;
  std::map<SessionId, std::map<std::string, std::string>> names_;  ///< by effect
};

/// A model whose provider counts its answers.
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
      std::string line = "model " + request.session.str() + "/m" + std::to_string(request.ordinal) + " " +
                         std::to_string(request.attempt);
      inner->start(request, std::make_shared<Sink>(std::move(sink), model, std::move(line)), std::move(stop));
    }
    const std::unique_ptr<ModelSession> inner;
    const DoomedModel& model;
  };

  const std::shared_ptr<Model> inner_;
  Doom& doom_;
  const Ledger& ledger_;
};

/// Dies when the plan's timer starts, or when it fires.
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

inline Tool doomed_tool(const std::string& name, bool idempotent, Doom& doom, const Ledger& ledger) {
  Tool tool;
  tool.definition = {
      name, "Does " + name, JsonObject{{"type", "object"}}, std::chrono::seconds(30), idempotent, true};
  tool.handler = [name, &doom, &ledger](ToolContext& context, const Json& arguments) -> Result<ToolOutput> {
    const std::string what = json_string(arguments, "what");
    doom.pass(name, "inside");
    ledger.write(name + (what.empty() ? "" : ":" + what) + " " + context.idempotency_key + " " +
                 std::to_string(context.attempt));
    doom.pass(name, "acted");
    return ToolOutput{what + (what.empty() ? "" : " ") + name + " done", nullptr, {}, {}};
  };
  return tool;
}

}  // namespace praxis::testing
