// Stopped owners: a process is stopped in the middle of a session, another takes the session over, and the
// first one continues. And two processes that write to one journal at the same time.
#include <gmock/gmock.h>
#include <sys/socket.h>

#include <thread>

#include "crash_agents.hpp"
#include "crash_checks.hpp"
#include "fault.hpp"

namespace praxis::faults {
namespace {

using testing::Point;
using testing::Rig;

constexpr int kLeaseLost = 3;  // exit status of a process that lost its session

std::string any_of(Random& random, const std::vector<std::string>& all) {
  return all[random.below(all.size())];
}

// ---- a stopped process that continues

/// True once the process has stopped; false if it has ended.
bool stands_still(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, WUNTRACED);
  return WIFSTOPPED(status);
}

int exit_status(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Whether a process ends soon enough not to be waiting for something.
bool ends_soon(pid_t pid) {
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  siginfo_t info{};
  while (std::chrono::steady_clock::now() < patience) {
    if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid)
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

/// Returns the whole content of the journal, checked against its hash chain.
std::vector<std::string> contents(const Rig& rig) {
  const auto journal = testing::open_journal(rig.journal(), {.create = false, .read_only = true});
  std::vector<std::string> lines;
  const auto rows = journal->sessions();
  if (!rows) throw std::runtime_error(rows.error().message);
  for (const SessionRow& row : *rows) {
    const auto entries = journal->read(row.id);
    if (!entries) throw std::runtime_error(entries.error().message);
    for (const Entry& entry : *entries)
      lines.push_back(row.id.str() + ' ' + std::to_string(entry.seq) + ' ' + entry.hash.hex() + ' ' +
                      entry.kind + ' ' + entry.body.substr(0, 80));
  }
  return lines;
}

/// Where the first process stops. The first append creates the session, so it can be taken over from the
/// second append on.
Point stop_of(Random& random, const std::string& agent) {
  const int appends = agent == "tree" ? 30 : agent == "summary" ? 14 : 9;
  const int n = 2 + static_cast<int>(random.below(static_cast<std::uint64_t>(appends)));
  if (random.once_in(4)) return {"commit", "within", n + 2, true};
  if (random.once_in(4))
    return {any_of(random, {"pay", "put"}), any_of(random, {"inside", "acted"}), 1, true};
  return {"append", random.once_in(2) ? "before" : "after", n, true};
}

/// Whether the session exists: a process that stops early may not even have created the file.
bool has_begun(const Rig& rig) {
  const auto journal = sqlite_journal(rig.journal(), {.create = false, .read_only = true});
  const auto rows = journal ? (*journal)->sessions() : Result<std::vector<SessionRow>>(fail(journal.error()));
  return rows && std::ranges::any_of(*rows, [](const SessionRow& row) { return row.entries != 0; });
}

/// Returns what was added to `before`.
std::vector<std::string> added(std::vector<std::string> before, std::vector<std::string> after) {
  std::ranges::sort(before);
  std::ranges::sort(after);
  std::vector<std::string> lines;
  std::ranges::set_difference(after, before, std::back_inserter(lines));
  return lines;
}

/// Another process takes the session over and resumes it to its end, or dies on the way.
void take_over(Rig& rig, Random& random, pid_t stopped) {
  Point dies{};
  if (random.once_in(3))
    dies = {"append", random.once_in(2) ? "before" : "after", 1 + static_cast<int>(random.below(6))};
  const pid_t second = rig.start(dies, true);
  if (!ends_soon(second)) kill(stopped, SIGCONT);  // it stopped during a commit, which blocks other writers
  Rig::was_killed(second);
}

/// The continued process finds that it has lost the session; the logs do not change, and no log is added.
void wake(const Rig& rig, pid_t first) {
  const auto left = contents(rig);
  kill(first, SIGCONT);
  const int status = exit_status(first);
  EXPECT_TRUE(status == kLeaseLost || status == 0) << "the process ended with " << status;
  EXPECT_THAT(added(left, contents(rig)), ::testing::IsEmpty())
      << "written by the process that had lost the session";
}

void stop_and_wake(Random& random) {
  const std::string agent = any_of(random, {"model", "plan", "steps", "summary", "tree"});
  const std::string doubt = any_of(random, {"tell", "allow", "deny", "answer"});
  const Point stop = stop_of(random, agent);
  SCOPED_TRACE(agent + '/' + doubt + ' ' + stop.text());
  Rig rig(agent, doubt);
  const pid_t first = rig.start(stop);
  if (stands_still(first)) {
    if (has_begun(rig)) {
      take_over(rig, random, first);
      wake(rig, first);
    } else {
      kill(first, SIGCONT);
      EXPECT_EQ(exit_status(first), 0);
    }
  }
  EXPECT_FALSE(rig.run({}));
  const auto logs = rig.logs();
  testing::check_result(agent, doubt, logs);
  testing::check_replay(logs);
  testing::check_effects(rig, logs, testing::undisturbed(agent).pays);
}

// ---- two processes on one journal

struct Neighbour {
  std::string session;
  pid_t pid = -1;
};

/// Tells the other process which session is held here, and receives the one that it holds.
Neighbour meet(int socket, const SessionId& held) {
  const std::string mine = held.str() + ' ' + std::to_string(getpid());
  char bytes[64] = {};
  if (send(socket, mine.data(), mine.size(), 0) < 0 || recv(socket, bytes, sizeof bytes - 1, 0) <= 0)
    _exit(1);
  const std::string theirs = bytes;
  const std::size_t space = theirs.find(' ');
  return {theirs.substr(0, space), std::stoi(theirs.substr(space + 1))};
}

/// Returns why the other process's session was not refused as required; empty if it was.
std::string wrong_refusal(Runtime& runtime, const Agent& agent, const Neighbour& neighbour) {
  const auto opened = runtime.open_session(SessionId(neighbour.session), agent);
  if (opened) return "two processes have one session";
  const Json& detail = opened.error().detail();
  if (json_string(detail, "kind") == "lease_held" && json_int(detail, "pid") == neighbour.pid) return "";
  return "refused with: " + opened.error().message;
}

/// Runs a session to its end; returns what was wrong with it.
std::string run_one(Runtime& runtime, const testing::Ground& ground, const std::string& kind) {
  const Agent agent = testing::agent_called(kind, ground);
  auto session = runtime.create_session(agent);
  if (!session) return session.error().message;
  const auto result = testing::carried_through(*session, "tell", ground.doom);
  if (!result) return result.error().message;
  return result->text.starts_with(testing::undisturbed(kind).text) ? "" : kind + " said " + result->text;
}

/// One of the two processes: meets the other while each holds a session, then runs `kinds` in parallel.
std::string beside_another(const Rig& rig, int socket, const std::vector<std::string>& kinds) {
  testing::Doom none("-");
  const testing::Ledger ledger(rig.ledger_file().c_str());
  RuntimeOptions options;
  options.journal = testing::open_journal(rig.journal());
  const auto runtime = Runtime::create(std::move(options));
  const testing::Ground ground{runtime, none, ledger};
  const Agent agent = testing::model_agent(ground);
  auto held = runtime->create_session(agent);
  if (!held) return held.error().message;
  // The first append makes it visible to other processes.
  if (auto there = runtime->command({{CommandVerb::kAnnotate, held->session_id(), "held"}}); !there)
    return there.error().message;
  if (auto wrong = wrong_refusal(*runtime, agent, meet(socket, held->session_id())); !wrong.empty())
    return wrong;
  meet(socket, held->session_id());  // the other process has checked as well
  std::vector<std::string> wrong(kinds.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kinds.size(); ++i)
      threads.emplace_back([&, i] { wrong[i] = run_one(*runtime, ground, kinds[i]); });
  }
  const auto last = testing::carried_through(*held, "tell", none);
  wrong.push_back(last ? "" : last.error().message);
  std::string all;
  for (const std::string& one : wrong) all += one;
  return all;
}

void run_side_by_side(Random& random) {
  const Rig rig("model", "tell");
  std::array<std::vector<std::string>, 2> kinds;
  int pays = 2;  // of the two that are held
  for (auto& some : kinds) {
    for (std::uint64_t i = 2 + random.below(3); i > 0; --i) {
      some.push_back(any_of(random, {"model", "plan", "steps", "summary"}));
      pays += testing::undisturbed(some.back()).pays;
    }
  }
  std::array<int, 2> sockets{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0)
    throw std::runtime_error("sockets");
  const auto work = [&](std::size_t which) {
    return [&, which](int out) {
      testing::say(out, '<' + beside_another(rig, sockets[which], kinds[which]) + '>');
    };
  };
  {
    testing::ChildProcess first(work(0)), second(work(1));
    EXPECT_EQ(first.line(), "<>");
    EXPECT_EQ(second.line(), "<>");
  }
  for (const int socket : sockets) close(socket);
  const auto logs = rig.logs();
  EXPECT_EQ(logs.size(), kinds[0].size() + kinds[1].size() + 2);
  testing::check_replay(logs);
  testing::check_effects(rig, logs, pays);
}

}  // namespace

Fault stale_owner_fault() {
  return {.name = "stale_owner",
          .breaks =
              "SIGSTOP at an append, in a commit or in a tool; another process takes the session; "
              "SIGCONT. Two processes write one journal",
          .holds =
              "nothing is written with a lost lease, and its owner gets an error; no call runs that "
              "could not be recorded; a session that is held is refused with the owner's pid",
          .few = 200,
          .many = 3'000,
          .start = []() -> Run {
            return [](std::uint64_t seed) {
              Random random(seed);
              if (random.once_in(5)) {
                run_side_by_side(random);
              } else {
                stop_and_wake(random);
              }
            };
          }};
}

}  // namespace praxis::faults
