// Ten thousand sessions wait for a decision, their process is killed, and approvers decide.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "fault.hpp"
#include "praxis/core/state.hpp"
#include "praxis/praxis.hpp"
#include "praxis/runtime/commands.hpp"
#include "scenarios.hpp"

namespace praxis::faults {
namespace {

constexpr std::size_t kSessions = 10'000;
constexpr std::size_t kByInbox = 50;       // decided by another process while this one has them open
constexpr std::size_t kAsleep = 50;        // decided by another process while none has them open
constexpr std::size_t kAtOnce = 500;       // open at once when all are resumed
constexpr std::size_t kMostAway = 1024;    // bytes of memory for a waiting session that is not open
constexpr std::size_t kMostOpen = 12'800;  // and for one that is open

constexpr const char* kScript = R"({"tool_calls": [{"name": "send", "arguments": {"to": "them"}}]}
{"text": "sent"})";

/// A counter, and a wait for a value.
class Counter {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  void await(std::size_t count) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(100), [&] { return count_ >= count; }))
      throw std::runtime_error(std::to_string(count_) + " of " + std::to_string(count));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t count_ = 0;
};

/// Another process: it works, reports something, and ends or is killed.
class Child {
 public:
  using Say = std::function<void(const std::string&)>;

  explicit Child(const std::function<void(const Say&)>& work) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    pid_ = fork();
    if (pid_ == 0) {
      const Say say = [&](const std::string& text) {
        if (write(ends[1], text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(3);
      };
      try {
        work(say);
        _exit(0);
      } catch (const std::exception& thrown) {
        say(std::string("error ") + thrown.what() + '\n');
        _exit(2);
      }
    }
    close(ends[1]);
    out_ = ends[0];
  }
  ~Child() {
    if (pid_ > 0) end();
    close(out_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Returns the next line of its output; empty when it has ended.
  std::string line() {
    std::string text;
    for (char c = 0; read(out_, &c, 1) == 1 && c != '\n';) text += c;
    if (text.starts_with("error ")) throw std::runtime_error("in a child: " + text.substr(6));
    return text;
  }
  /// Kills it if it is alive; returns how it ended.
  int end() {
    int status = 0;
    kill(pid_, SIGKILL);
    waitpid(std::exchange(pid_, -1), &status, 0);
    return status;
  }

 private:
  pid_t pid_ = -1;
  int out_ = -1;
};

/// One journal, the effects outside, and everything that a process needs to work on them.
struct Place {
  testing::MemoryFolder folder;
  const std::string journal = folder / "journal", ledger = folder / "ledger";

  /// Each process creates its own runtime.
  std::shared_ptr<Runtime> runtime() const {
    RuntimeOptions options;
    options.journal = must(sqlite_journal(journal));
    options.suspend_when_waiting = true;
    return Runtime::create(std::move(options));
  }
  Agent agent(const std::shared_ptr<Runtime>& runtime) const {
    Tool tool;
    tool.definition = {"send", "Sends it", JsonObject{{"type", "object"}}, std::chrono::seconds(30),
                       false,  true};
    const int file = open(ledger.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    tool.handler = [file](ToolContext& context, const Json&) -> Result<ToolOutput> {
      const std::string line = context.session.str() + '\n';
      if (write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        return fail(ErrorCode::kTool, "the ledger is full");
      return ToolOutput{"sent", nullptr, {}, {}};
    };
    Agent agent("", "You are terse.");
    agent.id("sender").model(must(script_model(kScript, "waiting", runtime->model_services().executor)));
    agent.use(std::move(tool)).policy({.allow = {}, .deny = {}, .ask = {"send"}}).runtime(runtime);
    return agent;
  }
};

/// Creates the sessions, reports when all are parked, and then waits to be killed.
void park_all(const Place& place, const Child::Say& say) {
  const auto runtime = place.runtime();
  const Agent agent = place.agent(runtime);
  Counter parked;
  for (std::size_t i = 0; i < kSessions; ++i) {
    must(runtime->create_session(agent))
        .ask("go " + std::to_string(i), [&](const Result<AgentResult>& result) {
          if (result && result->status == SessionStatus::kAwaitingUser) parked.add();
        });
  }
  parked.await(kSessions);
  say("parked\n");
  pause();
}

std::vector<SessionRow> rows_of(const Place& place) {
  return must(
      must(sqlite_journal(place.journal, {.create = false, .read_only = true}))->sessions(kSessions * 2));
}

/// Decides as `praxis approve` does: in a process that owns none of the sessions.
void decide_elsewhere(const Place& place, const std::vector<SessionId>& sessions) {
  Child process([&](const Child::Say& say) {
    const auto journal = must(sqlite_journal(place.journal));
    const auto environment = system_environment();
    for (const SessionId& session : sessions) {
      const auto answer = must(deliver(*journal, *environment, StepApproval{session, ParkId("p1"), approve()},
                                       std::chrono::seconds(20)));
      if (!std::holds_alternative<Delivered>(answer))
        throw std::runtime_error("the decision on " + session.str() + " was not delivered");
    }
    say("decided\n");
  });
  EXPECT_EQ(process.line(), "decided");
}

std::size_t memory_in_use() { return mallinfo2().uordblks; }

/// Measures the memory of a session while it is open and idle, and after it is closed.
void measure(const Place& place, const std::vector<SessionId>& sessions, const Child::Say& say) {
  const auto runtime = place.runtime();
  const Agent agent = place.agent(runtime);
  const std::size_t warm = sessions.size() / 10;  // pays the one-time costs
  std::vector<Session> handles;
  handles.reserve(sessions.size());
  for (std::size_t i = 0; i < warm; ++i) handles.push_back(must(runtime->open_session(sessions[i], agent)));
  const std::size_t used = memory_in_use();
  for (std::size_t i = warm; i < sessions.size(); ++i)
    handles.push_back(must(runtime->open_session(sessions[i], agent)));
  for (const Session& session : handles) {
    if (session.status() != SessionStatus::kAwaitingUser)
      throw std::runtime_error(session.session_id().str() + " does not wait");
  }
  malloc_trim(0);
  const std::size_t opened = sessions.size() - warm;
  const std::size_t open = memory_in_use() - used;
  handles.clear();
  // Returns after the leases have been released.
  std::ignore = runtime->journal().acquire(SessionId("missing"));
  malloc_trim(0);
  const std::size_t left = memory_in_use();
  const std::size_t away = left - std::min(used, left);
  say(std::to_string(open / opened) + ' ' + std::to_string(away / opened) + '\n');
}

/// Opens all sessions, decides the undecided ones, and waits until all end.
void wake_all(const Place& place, const std::vector<SessionId>& sessions, const std::set<SessionId>& decided,
              const Child::Say& say) {
  const auto runtime = place.runtime();
  const Agent agent = place.agent(runtime);
  Counter ended;
  const auto listener = runtime->on("turn.completed", [&](const Event&) { ended.add(); });
  for (std::size_t from = 0; from < sessions.size(); from += kAtOnce) {
    const std::size_t to = std::min(from + kAtOnce, sessions.size());
    std::vector<Session> handles;
    for (std::size_t i = from; i < to; ++i) {
      handles.push_back(must(runtime->open_session(sessions[i], agent)));
    }
    if (from == 0) {
      say("open\n");
      ended.await(kByInbox);
    }
    for (std::size_t i = from == 0 ? kByInbox : from; i < to; ++i) {
      Session& session = handles[i - from];
      if (decided.contains(session.session_id())) {
        session.resume();
      } else if (auto done = session.decide(ParkId("p1"), approve()); !done) {
        throw std::runtime_error(done.error().message);
      }
    }
    ended.await(to);
  }
  say("ended\n");
}

/// Every session has finished and replays, and its tool has run once.
void check_all(const Place& place) {
  std::map<std::string, int> ran;
  std::ifstream lines(place.ledger);
  for (std::string line; std::getline(lines, line);) ++ran[line];
  EXPECT_EQ(ran.size(), kSessions);
  const auto journal = must(sqlite_journal(place.journal));
  for (const SessionRow& row : must(journal->sessions(kSessions * 2))) {
    EXPECT_EQ(ran[row.id.str()], 1) << row.id.str();
    EXPECT_EQ(row.status, "completed") << row.id.str();
    const auto records = must(read_records(*journal, row.id));
    const auto report = must(replay(records));
    EXPECT_FALSE(report.divergence) << row.id.str();
    EXPECT_EQ(result_of(must(fold(records))).text, "sent") << row.id.str();
    if (::testing::Test::HasFailure()) return;  // one is enough
  }
}

std::vector<SessionId> make_all(const Place& place) {
  Child maker([&](const Child::Say& say) { park_all(place, say); });
  EXPECT_EQ(maker.line(), "parked");
  EXPECT_TRUE(WIFSIGNALED(maker.end())) << "the process should have been killed";
  std::vector<SessionId> sessions;
  for (const SessionRow& row : rows_of(place)) {
    EXPECT_EQ(row.status, "awaiting_user") << row.id.str();
    sessions.push_back(row.id);
  }
  EXPECT_EQ(sessions.size(), kSessions);
  return sessions;
}

void check_memory(const Place& place, const std::vector<SessionId>& sessions) {
  Child keeper([&](const Child::Say& say) { measure(place, sessions, say); });
  std::istringstream said(keeper.line());
  std::size_t open = kMostOpen, away = kMostAway;
  said >> open >> away;
  EXPECT_LT(open, kMostOpen) << "bytes for a waiting session that is open";
  EXPECT_LT(away, kMostAway) << "bytes for a waiting session that is not open";
}

void run_waiting(std::uint64_t seed) {
  const Place place;
  std::vector<SessionId> sessions = make_all(place);
  Random random(seed);
  for (std::size_t i = sessions.size(); i > 1; --i) std::swap(sessions[i - 1], sessions[random.below(i)]);
  check_memory(place, sessions);

  const std::vector<SessionId> asleep(sessions.end() - kAsleep, sessions.end());
  decide_elsewhere(place, asleep);
  Child waker([&](const Child::Say& say) { wake_all(place, sessions, {asleep.begin(), asleep.end()}, say); });
  EXPECT_EQ(waker.line(), "open");
  decide_elsewhere(place, {sessions.begin(), sessions.begin() + kByInbox});
  EXPECT_EQ(waker.line(), "ended");
  waker.end();
  check_all(place);
}

}  // namespace

Fault waiting_fault() {
  return {.name = "waiting",
          .breaks = "10,000 sessions wait for an approver and their process is killed",
          .holds =
              "all are listed as parked; each resumes once, by decisions here and through the inbox; under 1 "
              "KB each",
          .few = 1,
          .many = 1,
          .start = [] { return Run(run_waiting); }};
}

}  // namespace praxis::faults
