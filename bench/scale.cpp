// Measures what grows: a long session in the journal, many waiting sessions, many concurrent writers; and how
// fast a finished run is replayed. Prints one line per figure. Everything runs in this process, on a journal
// on disk in the given folder (by default a new one under /tmp).
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "must.hpp"
#include "praxis/core/state.hpp"
#include "praxis/praxis.hpp"

namespace {

using namespace praxis;
using bench::must;
using Clock = std::chrono::steady_clock;

constexpr int kCalls = 1'000;       // of the long session
constexpr int kAsleep = 50'000;     // waiting sessions
constexpr int kWriters = 100;       // sessions that write concurrently
constexpr int kRecordsEach = 200;   // by each of them
constexpr std::size_t kBody = 300;  // size of such a record

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

double since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

/// Counts events and waits for a number of them.
class Count {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  void await(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

std::shared_ptr<Runtime> runtime_on(const std::string& file) {
  RuntimeOptions options;
  options.journal = must(sqlite_journal(file));
  options.suspend_when_waiting = true;
  return Runtime::create(std::move(options));
}

Tool note_tool(std::atomic<Clock::rep>& ran) {
  Tool tool;
  tool.definition = {"note", "Takes a note", JsonObject{{"type", "object"}}, std::chrono::seconds(30), true,
                     true};
  tool.handler = [&ran](ToolContext&, const Json&) -> Result<ToolOutput> {
    ran = Clock::now().time_since_epoch().count();
    return ToolOutput{"noted", nullptr, {}, {}};
  };
  return tool;
}

Agent agent_with(const std::shared_ptr<Runtime>& runtime, const std::string& script, Tool tool) {
  Limits limits;
  limits.max_steps = 0;
  limits.max_repeats = 0;
  limits.max_messages = 0;
  limits.max_tool_calls = 0;
  Agent agent("", "Take notes.");
  agent.id("noter").model(must(script_model(script, "scale", runtime->model_services().executor)));
  agent.use(std::move(tool)).limits(limits).runtime(runtime);
  return agent;
}

void long_session(const std::string& folder) {
  std::string script;
  for (int i = 0; i < kCalls; ++i) {
    script +=
        R"({"text": "Note )" + std::to_string(i) +
        R"( of the long day: nothing new, the weather is fine.", "tool_calls": [{"name": "note", "arguments": {"text": ")" +
        std::string(100, 'x') + R"("}}]})" + "\n";
  }
  script += R"({"text": "That was the day."})";
  const std::string file = folder + "/long";
  std::atomic<Clock::rep> ran = 0;
  const auto runtime = runtime_on(file);
  Session session = must(runtime->create_session(agent_with(runtime, script, note_tool(ran))));
  must(session.ask("go"));
  const auto records = must(read_records(runtime->journal(), session.session_id()));
  std::size_t messages = 0;
  const State state = must(fold(records));
  for (const MessagePtr& message : state.conversation.history().messages()) {
    messages += to_json_text(to_json(*message)).size();
  }
  std::size_t logged = 0;
  for (const Entry& entry : must(runtime->journal().read(session.session_id()))) logged += entry.body.size();
  std::printf("a session of %d calls: %zu records; its messages are %.2f MB, its records %.2f MB (%.2f x)\n",
              kCalls, records.size(), double(messages) / 1e6, double(logged) / 1e6,
              double(logged) / double(messages));
  const double before = cpu_seconds();
  const int rounds = 5;
  for (int i = 0; i < rounds; ++i) {
    if (must(replay(records)).divergence) std::exit(1);
  }
  std::printf("replay of it: %.0f records a second of CPU\n",
              double(records.size()) * rounds / (cpu_seconds() - before));
}

void sleepers(const std::string& folder) {
  const std::string script = R"({"tool_calls": [{"name": "note", "arguments": {}}]})"
                             "\n"
                             R"({"text": "Done."})";
  const auto runtime = runtime_on(folder + "/asleep");
  std::atomic<Clock::rep> ran = 0;
  Agent agent = agent_with(runtime, script, note_tool(ran));
  agent.policy({.allow = {}, .deny = {}, .ask = {"note"}});
  std::vector<Session> sessions;
  sessions.reserve(kAsleep);
  Count parked;
  std::size_t used = 0;
  for (int i = 0; i < kAsleep; ++i) {
    if (i == kAsleep / 10) {
      parked.await(i);
      used = mallinfo2().uordblks;
    }
    sessions.push_back(must(runtime->create_session(agent)));
    sessions.back().ask("go", [&](const Result<AgentResult>&) { parked.add(); });
  }
  parked.await(kAsleep);
  const double each = double(mallinfo2().uordblks - used) / (kAsleep * 0.9);
  std::printf("%d sessions that wait, each held: %.1f KB each\n", kAsleep, each / 1024);
  std::vector<double> waits;
  for (int i = 0; i < 2'000; ++i) {
    ran = 0;
    const auto begun = Clock::now();
    if (!sessions[static_cast<std::size_t>(i)].decide(ParkId("p1"), approve())) std::exit(1);
    while (ran == 0) usleep(20);
    waits.push_back(
        std::chrono::duration<double, std::milli>(Clock::duration(ran) - begun.time_since_epoch()).count());
  }
  std::ranges::sort(waits);
  std::printf("waking one of them, decision to running tool: %.2f ms (median), %.2f ms (99 of 100)\n",
              waits[waits.size() / 2], waits[waits.size() * 99 / 100]);
}

enum class Seal : bool { kPlain, kSealed };

std::shared_ptr<Journal> journal_for(const std::string& path, Seal seal) {
  SqliteJournalOptions options;
  if (seal == Seal::kSealed) {
    options.key = []() -> Result<std::shared_ptr<const SealSecret>> {
      return std::make_shared<const SealSecret>(SealKey::random());
    };
  }
  return must(sqlite_journal(path, std::move(options)));
}

/// Each writer appends its next record when the previous one is durable. Returns the seconds of CPU that a
/// record takes.
double writers(const std::string& folder, int count, Seal seal) {
  const bool sealed = seal == Seal::kSealed;
  const auto journal = journal_for(folder + (sealed ? "/sealed" : "/writers") + std::to_string(count), seal);
  Count done;
  std::mutex mutex;
  std::vector<double> waits;
  std::vector<std::function<void(std::uint64_t)>> next(static_cast<std::size_t>(count));
  const double before = cpu_seconds();
  for (int i = 0; i < count; ++i) {
    const Lease lease = must(journal->create(SessionId("s" + std::to_string(i)), {1}));
    auto& go = next[static_cast<std::size_t>(i)];
    go = [&, lease](std::uint64_t seq) {
      if (seq == kRecordsEach) return done.add();
      Append append{.lease = lease, .expected_seq = seq, .entries = {}, .blobs = {}, .row = {}};
      append.entries.push_back({"message_appended", {1}, std::string(kBody, 'x')});
      journal->append(std::move(append), [&, begun = Clock::now()](Result<std::uint64_t> last) {
        {
          const std::lock_guard lock(mutex);
          waits.push_back(since(begun) * 1e3);
        }
        go(must(std::move(last)));
      });
    };
    go(0);
  }
  done.await(count);
  const double each = (cpu_seconds() - before) / (double(count) * kRecordsEach);
  std::ranges::sort(waits);
  std::printf(
      "%3d sessions write at once%s: %.1f us of CPU a durable record, %.2f ms until it is durable (median)\n",
      count, sealed ? ", sealed" : "", each * 1e6, waits[waits.size() / 2]);
  return each;
}

/// Writes to a plain and to a sealed journal.
void compare_seal(const std::string& folder, int count) {
  const double plain = writers(folder, count, Seal::kPlain);
  std::printf("%3d sessions: a sealed record takes %.2f times the CPU of a plain one (goal: at most 1.5)\n",
              count, writers(folder, count, Seal::kSealed) / plain);
}

}  // namespace

int main(int argc, char** argv) {
  std::string folder = argc > 1 ? argv[1] : "/tmp/praxis-scale-XXXXXX";
  if (argc < 2 && mkdtemp(folder.data()) == nullptr) return 1;
  long_session(folder);
  compare_seal(folder, 1);
  compare_seal(folder, kWriters);
  sleepers(folder);
  if (argc < 2) std::filesystem::remove_all(folder);
}
