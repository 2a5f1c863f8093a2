// A process that runs out of memory or of file descriptors at any point, and the process that follows it.
#include <gtest/gtest.h>
#include <poll.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <thread>

#include "crash_agents.hpp"
#include "crash_checks.hpp"
#include "fault.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/core/state.hpp"

namespace {

/// The number of allocations left for this process; or the number made so far when none is to fail.
std::atomic<std::int64_t> left = 0;
std::atomic<bool> counting = false;  ///< off: everything that other faults of this program allocate
std::atomic<bool> for_good = false;  ///< after one failure all fail

bool fails() {
  if (!counting.load(std::memory_order_relaxed)) return false;
  const std::int64_t now = left.fetch_sub(1, std::memory_order_relaxed);
  return now == 1 || (now < 1 && for_good.load(std::memory_order_relaxed));
}

void* allocate(std::size_t size, std::size_t alignment) {
  if (fails()) throw std::bad_alloc();
  const std::size_t whole = (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment;
  void* memory =
      alignment <= alignof(std::max_align_t) ? std::malloc(whole) : std::aligned_alloc(alignment, whole);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace praxis::faults {
namespace {

using testing::Rig;

// ---- the process under test

constexpr int kFinished = 0, kTypedError = 10, kThrew = 11, kUntypedError = 12;

/// Counts SQLite's allocations too, which come from its own allocator.
void count_sqlite() {
  static sqlite3_mem_methods own, counted;
  sqlite3_shutdown();
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &own);
  counted = own;
  counted.xMalloc = [](int size) { return fails() ? nullptr : own.xMalloc(size); };
  counted.xRealloc = [](void* memory, int size) { return fails() ? nullptr : own.xRealloc(memory, size); };
  sqlite3_config(SQLITE_CONFIG_MALLOC, &counted);
}

Approval approval_on(const ParkedStep& step) {
  return step.kind == ParkKind::kQuestion ? answer("a friend") : approve();
}

/// Exit status for a failure: whether it is a typed error with a message.
int exit_of(const Error& error) {
  return error.code != ErrorCode::kInternal && !error.message.empty() ? kTypedError : kUntypedError;
}

/// The whole life of an agent, with all its objects created again.
class StarvedLife {
 public:
  StarvedLife(const Rig& rig, std::string agent)
      : journal_(rig.journal()),
        ledger_((std::filesystem::path(journal_).parent_path() / "ledger").c_str()),
        agent_(std::move(agent)) {}

  Result<AgentResult> run() {
    auto file = sqlite_journal(journal_);
    if (!file) return fail(file.error());
    RuntimeOptions options;
    options.journal = *std::move(file);
    options.executor = std::make_shared<testing::DoomedExecutor>(make_executor(), doom_, ledger_);
    const auto runtime = Runtime::create(std::move(options));
    const Agent agent = agent_called(agent_, testing::Ground{runtime, doom_, ledger_, InDoubt::kTell});
    auto session = testing::open_or_begin(*runtime, agent);
    if (!session) return fail(session.error());
    return testing::carried_through(*session, [](const std::vector<ParkedStep>& pending) {
      Approvals decisions;
      for (const ParkedStep& step : pending) decisions.emplace_back(step.id, approval_on(step));
      return decisions;
    });
  }

  /// Runs the agent. When a runtime cannot be created, the system's refusal is thrown, with a message.
  Result<AgentResult> run_or_fail() {
    try {
      return run();
    } catch (const std::runtime_error& refused) {
      return fail(ErrorCode::kInput, refused.what());
    }
  }

 private:
  testing::Doom doom_{"-"};
  const std::string journal_;
  const testing::Ledger ledger_;
  const std::string agent_;
};

// ---- the process that observes

/// How a process ended, and its output.
struct End {
  int status = 0;
  bool hung = false;
  std::string said;
};

/// Runs `body` in a new process, with a limit of ten seconds.
template <class F>
End run_apart(F body) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], STDERR_FILENO);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    _exit(body());
  }
  close(ends[1]);
  End end;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (char bytes[4096]; !end.hung;) {
    pollfd ready{ends[0], POLLIN, 0};
    end.hung = poll(&ready, 1, 100) == 0 && std::chrono::steady_clock::now() > until;
    if (ready.revents == 0) continue;
    const ssize_t count = read(ends[0], bytes, sizeof bytes);
    if (count <= 0) break;
    end.said.append(bytes, static_cast<std::size_t>(count));
  }
  close(ends[0]);
  if (end.hung) kill(pid, SIGKILL);
  waitpid(pid, &end.status, 0);
  return end;
}

/// The process reported why it stopped, and did no harm.
void check_end(const End& end) {
  EXPECT_FALSE(end.hung) << "the process hangs";
  if (end.hung) return;
  if (WIFEXITED(end.status)) {
    const int status = WEXITSTATUS(end.status);
    EXPECT_TRUE(status == kFinished || status == kTypedError || status == kThrew)
        << "left with " << status << ": " << end.said;
    return;
  }
  // Several threads may run out at once; then the later one reports it in this form.
  const bool out_of_memory =
      end.said.contains("std::bad_alloc") || end.said.contains("terminate called recursively");
  EXPECT_TRUE(WTERMSIG(end.status) == SIGABRT && out_of_memory)
      << "killed by " << strsignal(WTERMSIG(end.status)) << ": " << end.said;
}

/// Whether a tool itself noticed a missing resource: then its agent got the error and may act on it.
bool was_told(const testing::Logs& logs) {
  return std::ranges::any_of(logs, [](const auto& records) {
    return std::ranges::any_of(records, [](const StoredRecord& stored) {
      const auto* settled = std::get_if<records::EffectSettled>(&stored.record.body);
      return settled != nullptr && settled->outcome == Outcome::kError;
    });
  });
}

/// The invariants for an agent that got such an error, regardless of what it did then.
void check_told(const Rig& rig, const testing::Logs& logs) {
  auto acts = testing::acts_of(rig);
  EXPECT_FALSE(fold(logs.front())->turn) << "left in the middle of a turn";
  for (const auto& records : logs) {
    EXPECT_FALSE(fold(records)->turn) << "a sub-agent was left in the middle of a turn";
    for (const auto& [id, effect] : testing::effects_of(records)) {
      EXPECT_TRUE(effect.ok || effect.doubted) << effect.tool << " was intended and never settled";
      const int done = acts.contains(effect.key) ? acts[effect.key] : 0;
      acts.erase(effect.key);
      EXPECT_LE(done, effect.intents) << effect.tool << " was executed without an intent";
      if (effect.tool != "pay") continue;
      EXPECT_LE(done, 1 + effect.permits) << "pay was repeated without approval";
    }
  }
  EXPECT_TRUE(acts.empty()) << "an effect was executed under a key that no log has";
}

/// A fault of the journal is the outcome of no effect.
void check_untold(const testing::Logs& logs) {
  for (const auto& records : logs) {
    for (const StoredRecord& stored : records) {
      const auto* settled = std::get_if<records::EffectSettled>(&stored.record.body);
      if (settled == nullptr || !settled->error) continue;
      EXPECT_NE(settled->error->code, ErrorCode::kJournal) << settled->error->message;
    }
  }
}

/// The next process brings the session to the end that it would have had.
void check_next(Rig& rig, const std::string& agent) {
  EXPECT_FALSE(rig.run({}));
  const auto logs = rig.logs();
  testing::check_replay(logs);
  check_untold(logs);
  if (was_told(logs)) return check_told(rig, logs);
  testing::check_result(agent, "tell", logs);
  testing::check_effects(rig, logs, testing::undisturbed(agent).pays);
}

const std::array<std::string, 4> kAgents{"model", "plan", "steps", "tree"};

/// The number of allocations in the life of each agent.
using Counts = std::array<std::int64_t, kAgents.size()>;

std::int64_t count_allocations(const std::string& agent) {
  Rig rig(agent, "tell");
  const auto shared = static_cast<std::int64_t*>(
      mmap(nullptr, sizeof(std::int64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const End end = run_apart([&] {
    count_sqlite();
    left = LLONG_MAX;
    counting = true;
    const bool finished = StarvedLife(rig, agent).run().has_value();
    counting = false;
    *shared = LLONG_MAX - left;
    return finished ? kFinished : kTypedError;
  });
  const std::int64_t count = *shared;
  munmap(shared, sizeof(std::int64_t));
  if (end.status != 0) throw std::runtime_error("the undisturbed run failed: " + end.said);
  return count;
}

/// Fails one allocation, or one and all after it.
void run_out_of_memory(const Counts& counts, Random& random) {
  const std::size_t which = random.below(kAgents.size());
  const std::string& agent = kAgents[which];
  const auto at = 1 + random.below(static_cast<std::uint64_t>(counts[which]));
  const bool all = random.once_in(4);
  SCOPED_TRACE(agent + ", allocation " + std::to_string(at) + (all ? " and all after it" : ""));
  Rig rig(agent, "tell");
  const End end = run_apart([&] {
    count_sqlite();
    StarvedLife life(rig, agent);
    for_good = all;
    left = static_cast<std::int64_t>(at);
    try {
      counting = true;
      const auto result = life.run();
      counting = false;
      return result ? kFinished : exit_of(result.error());
    } catch (const std::bad_alloc&) {
      counting = false;
      return kThrew;
    }
  });
  check_end(end);
  check_next(rig, agent);
}

// ---- file descriptors

/// Takes all file descriptors that the process may still open, until it is destroyed.
class Hoard {
 public:
  Hoard() {
    for (int taken; (taken = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) taken_.push_back(taken);
  }
  ~Hoard() {
    for (const int taken : taken_) close(taken);
  }
  Hoard(const Hoard&) = delete;
  Hoard& operator=(const Hoard&) = delete;

 private:
  std::vector<int> taken_;
};

/// Takes all descriptors away at some point; once they are back, repeats what failed.
void run_out_of_descriptors(Random& random) {
  const std::string agent = kAgents[random.below(kAgents.size())];
  const auto moment = std::chrono::microseconds(random.once_in(4) ? 0 : random.below(8'000));
  SCOPED_TRACE(agent + ", no descriptors after " + std::to_string(moment.count()) + " us");
  Rig rig(agent, "tell");
  const End end = run_apart([&] {
    const rlimit few{48, 48};
    setrlimit(RLIMIT_NOFILE, &few);
    StarvedLife life(rig, agent);
    std::optional<Hoard> hoard;
    if (moment.count() == 0) hoard.emplace();
    std::thread thief([&] {
      std::this_thread::sleep_for(moment);
      if (!hoard) hoard.emplace();
    });
    auto result = life.run_or_fail();
    thief.join();
    hoard.reset();
    if (!result && exit_of(result.error()) != kTypedError) {
      std::fprintf(stderr, "%s", result.error().message.c_str());
      return kUntypedError;
    }
    if (!result) result = life.run_or_fail();
    if (!result) std::fprintf(stderr, "%s", result.error().message.c_str());
    return result ? kFinished : kUntypedError;
  });
  EXPECT_FALSE(end.hung);
  EXPECT_TRUE(WIFEXITED(end.status) && WEXITSTATUS(end.status) == kFinished)
      << "status " << end.status << ": " << end.said;
  check_next(rig, agent);
}

void run(const Counts& counts, std::uint64_t seed) {
  Random random(seed);
  if (random.once_in(5)) return run_out_of_descriptors(random);
  run_out_of_memory(counts, random);
}

}  // namespace

Fault exhaustion_fault() {
  return {.name = "exhaustion",
          .breaks = "one allocation fails, or one and all after it; no file descriptor is left for a while",
          .holds =
              "a typed error or an end with a reason, never a hang; the next process resumes to the "
              "same result, nothing settled is lost, nothing is repeated that must not be",
          .few = 1'000,
          .many = 20'000,
          .start = []() -> Run {
            Counts counts{};
            std::ranges::transform(kAgents, counts.begin(), count_allocations);
            return [counts](std::uint64_t seed) { run(counts, seed); };
          }};
}

}  // namespace praxis::faults
