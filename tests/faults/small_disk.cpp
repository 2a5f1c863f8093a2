// Whole sessions on a real file system of one megabyte, which is full before they end.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>

#include "crash_rig.hpp"
#include "fault.hpp"
#include "scenarios.hpp"

namespace praxis::faults {
namespace {

using testing::Scenario;
using testing::Stage;

constexpr std::uint64_t kDiskSize = 1 << 20;
constexpr int kRounds = 5;

/// A file system of `kDiskSize`, visible to this process only.
class SmallDisk {
 public:
  SmallDisk() {
    if (geteuid() != 0) become_root();
    if (unshare(CLONE_NEWNS) != 0) skip("no mount namespace");
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) skip("cannot keep mounts private");
    if (mount("praxis", path_.c_str(), "tmpfs", 0, "size=1m") != 0) skip("cannot mount a small file system");
  }
  ~SmallDisk() { umount2(path_.c_str(), MNT_DETACH); }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  std::string operator/(const std::string& name) const { return path_ + '/' + name; }
  void clear() const {
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      std::filesystem::remove(entry.path());
  }

 private:
  [[noreturn]] static void skip(const std::string& why) { throw Skipped{why + ": " + std::strerror(errno)}; }
  static void write(const char* file, const std::string& text) {
    if (!(std::ofstream(file) << text << std::flush)) skip(std::string("cannot write ") + file);
  }
  static void become_root() {
    const uid_t user = geteuid();
    const gid_t group = getegid();
    if (unshare(CLONE_NEWUSER) != 0) skip("no user namespace");
    write("/proc/self/setgroups", "deny");
    write("/proc/self/uid_map", "0 " + std::to_string(user) + " 1");
    write("/proc/self/gid_map", "0 " + std::to_string(group) + " 1");
  }

  const testing::MemoryFolder folder_;
  const std::string path_ = folder_ / "";
};

/// Tools with large results, and one that must not run twice.
Scenario large_results(Random& random) {
  Scenario scenario{.name = "large_results"};
  for (int i = 0; i < kRounds; ++i) {
    scenario.script += R"({"tool_calls": [{"name": "note", "arguments": {"text": "n"}}, )"
                       R"({"name": "big", "arguments": {"bytes": )" +
                       std::to_string(20'000 + random.below(30'000)) + "}}]}\n";
  }
  scenario.script += R"({"text": "all written"})";
  return scenario;
}

/// The outcome of a session.
struct Outcome {
  std::string failure;  ///< empty: it completed
  SessionId session;
  std::map<std::string, int> executions;
};

/// Plays from the start, or resumes the session in the journal.
Outcome work(const Scenario& scenario, std::shared_ptr<Journal> journal, const SessionId& from) {
  testing::Setting setting;
  setting.journal = std::move(journal);
  setting.chunk = 4'000;
  Stage stage(scenario, std::move(setting));
  Outcome outcome{"", from, {}};
  try {
    const AgentResult last = from.empty() ? stage.play().back() : stage.finish(from);
    EXPECT_EQ(last.reason, StopReason::kFinished) << last.text;
  } catch (const std::exception& thrown) {
    outcome.failure = thrown.what();
  }
  if (from.empty()) outcome.session = stage.session();
  outcome.executions = stage.world().executions();
  return outcome;
}

Outcome work(const Scenario& scenario, const std::string& path, const SessionId& from) {
  auto journal = sqlite_journal(path);
  if (!journal) return {journal.error().message, from, {}};
  std::promise<void> closed;  // set by the thread that drops the last reference
  std::shared_ptr<Journal> shared((*journal).get(), [inner = *journal, &closed](Journal*) mutable {
    inner.reset();
    closed.set_value();
  });
  journal->reset();
  Outcome outcome = work(scenario, std::move(shared), from);
  closed.get_future().get();
  return outcome;
}

/// Every record is complete, and the tools ran as often as the log says and the promises allow.
void check(const std::string& path, const SessionId& session, std::map<std::string, int> executions) {
  const auto journal = sqlite_journal(path);
  ASSERT_TRUE(journal) << journal.error().message;
  const auto records = read_records(**journal, session);
  ASSERT_TRUE(records) << records.error().message;
  const auto report = replay(*records);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->divergence);
  EXPECT_TRUE(export_session(**journal, session));
  std::map<std::string, int> called, ok;
  for (const auto& [id, effect] : testing::effects_of(*records)) {
    ++called[effect.tool];
    ok[effect.tool] += effect.ok ? 1 : 0;
    EXPECT_TRUE(effect.ok || effect.doubted) << effect.tool << " has no outcome";
  }
  EXPECT_EQ(called["note"], kRounds);
  EXPECT_EQ(called["big"], kRounds);
  EXPECT_EQ(ok["big"], kRounds) << "a tool that may be repeated is repeated";
  EXPECT_LE(executions["note"], kRounds) << "the tool must not be repeated";
  EXPECT_GE(executions["note"], ok["note"]);
  EXPECT_LE(executions["big"], kRounds + 1) << "only the interrupted call is repeated";
}

void fill_up(const SmallDisk& small_disk, std::uint64_t seed) {
  Random random(seed);
  small_disk.clear();
  const Scenario scenario = large_results(random);
  const std::string ballast = small_disk / "ballast", path = small_disk / "j";
  std::ofstream(ballast) << std::string(kDiskSize - 140'000 - random.below(150'000), 'x') << std::flush;
  Outcome first = work(scenario, path, {});
  EXPECT_NE(first.failure, "") << "the disk never was full";
  EXPECT_NE(first.failure.find("no space left"), std::string::npos) << first.failure;
  if (random.once_in(3)) {  // the small_disk is still full
    const auto journal = sqlite_journal(path);
    EXPECT_TRUE(journal || testing::kind_of(journal) == "full") << journal.error().message;
  }
  std::filesystem::remove(ballast);
  const bool begun = !first.session.empty();  // otherwise another session, which gets the same id here
  if (!begun) small_disk.clear();
  Outcome second = work(scenario, path, first.session);
  EXPECT_EQ(second.failure, "");
  for (const auto& [tool, times] : first.executions) second.executions[tool] += begun ? times : 0;
  check(path, second.session, second.executions);
}

}  // namespace

Fault small_disk_fault() {
  return {.name = "small_disk",
          .breaks = "a session with large results on a file system of 1 MB that fills up, then has space",
          .holds = "it stops with the reason; resumed, it completes; no tool that must not runs twice",
          .few = 20,
          .many = 200,
          .start = [] {
            return [disk = std::make_shared<SmallDisk>()](std::uint64_t seed) { fill_up(*disk, seed); };
          }};
}

}  // namespace praxis::faults
