// A process to be killed: it begins or resumes one session in a journal on disk, and kills itself at an exact
// point if asked to.
//
//   crash_runner JOURNAL LEDGER AGENT DOUBT POINT [force]
//
// JOURNAL is a file, or the address of a PostgreSQL journal. LEDGER gets one line per effect outside. AGENT
// is one of `crash_agents.hpp`; with the suffix `_late` the clock is two hours ahead. DOUBT is the treatment
// of a call that may have run: `tell`, or the approver's decision: `allow`, `deny`, `answer`. POINT is
// `target/where/n`; with the prefix `stop:` the process stops there until it is continued; `-` means no
// point. With `force` the process takes the session from its owner. The exit status is 3 if the session was
// taken from this process.
#include <cstdio>

#include "crash_agents.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/journal/postgres_journal.hpp"

namespace praxis {
namespace {

using testing::agent_called;
using testing::Doom;
using testing::DoomedExecutor;
using testing::DoomedJournal;
using testing::Ground;
using testing::Ledger;

constexpr std::string_view kLate = "_late";

class OtherClock : public Environment {
 public:
  std::chrono::nanoseconds monotonic() override { return system_->monotonic(); }
  std::uint64_t random() override { return system_->random(); }

 protected:
  const std::shared_ptr<Environment> system_ = system_environment();
};

class LateClock final : public OtherClock {
 public:
  UnixMillis now() override { return system_->now() + std::chrono::hours(2); }
};

/// Stands still, also while no process lives: a timer that is set again has its whole delay, by which the
/// executor knows it.
class StandingClock final : public OtherClock {
 public:
  UnixMillis now() override { return {1'700'000'000'000}; }
};

int report(const Error& error) {
  if (error.kind() == ErrorKind::kLeaseLost) return 3;
  std::fprintf(stderr, "crash_runner: %s\n", error.message.c_str());
  return 1;
}

int run(char** arguments, bool force) {
  Doom doom(arguments[5]);
  const Ledger ledger(arguments[2]);
  std::string_view name = arguments[3];
  const std::string_view doubt = arguments[4];
  testing::doom_commits(doom);
  auto file =
      is_postgres_address(arguments[1]) ? postgres_journal(arguments[1]) : sqlite_journal(arguments[1]);
  if (!file) return report(file.error());

  RuntimeOptions options;
  options.journal = std::make_shared<DoomedJournal>(*std::move(file), doom);
  options.executor = std::make_shared<DoomedExecutor>(make_executor(), doom, ledger);
  options.suspend_when_waiting = std::getenv("PRAXIS_SUSPEND") != nullptr;
  if (name.ends_with(kLate)) {
    name.remove_suffix(kLate.size());
    options.environment = std::make_shared<LateClock>();
  } else if (name == "plan") {
    options.environment = std::make_shared<StandingClock>();
  }
  const auto runtime = Runtime::create(std::move(options));
  const InDoubt in_doubt = doubt == "tell" ? InDoubt::kTell : InDoubt::kPark;
  const Agent agent =
      agent_called(name, Ground{runtime, doom, ledger, in_doubt, std::string(arguments[1]) + ".memory"});

  auto session = testing::open_or_begin(*runtime, agent, force);
  if (!session) return report(session.error());
  const auto result = testing::carried_through(*session, doubt, doom);
  return result ? 0 : report(result.error());
}

}  // namespace
}  // namespace praxis

int main(int count, char** arguments) {
  alarm(praxis::testing::kPatience);  // a hanging process must fail, not block the test
  if (count == 6 || (count == 7 && std::string_view(arguments[6]) == "force")) {
    const int status = praxis::run(arguments, count == 7);
    std::fflush(nullptr);
    _exit(status);
  }
  std::fprintf(stderr, "usage: crash_runner JOURNAL LEDGER AGENT DOUBT POINT [force]\n");
  return 2;
}
