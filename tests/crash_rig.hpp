// The parts of the crash tests: a process to be killed at a point, its journal and ledger, and what the log
// records of each tool call.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "journal/testing/journals.hpp"
#include "praxis/journal/postgres_journal.hpp"
#include "scenarios.hpp"

namespace praxis::testing {

inline int rounds() {
  const char* text = std::getenv("PRAXIS_CRASH_ROUNDS");
  return text == nullptr ? 5 : std::atoi(text);
}

/// Where to die, or to stop: the n-th time that `target` passes `where`.
struct Point {
  std::string target, where;
  int n = 1;
  bool stops = false;

  std::string text() const {
    if (target.empty()) return "-";
    return (stops ? "stop:" : "") + target + '/' + where + '/' + std::to_string(n);
  }
  /// The effect has happened outside, but the journal does not know it.
  bool is_unrecorded() const { return where == "acted" || where == "unrecorded"; }
  /// The effect may have happened, as far as the journal knows.
  bool is_doubtful() const { return is_unrecorded() || where == "after_intent" || where == "inside"; }
};

/// A journal, a ledger, and the processes that work on them.
class Rig {
 public:
  /// `database`: the address of a PostgreSQL journal; empty: a file.
  Rig(std::string agent, std::string doubt, const std::string& database = "")
      : journal_(database.empty() ? folder_ / "j" : database),
        agent_(std::move(agent)),
        doubt_(std::move(doubt)) {}

  pid_t start(const Point& point, bool force = false) {
    std::string name = PRAXIS_CRASH_RUNNER, doom = point.text(), how = "force";
    char* arguments[] = {name.data(),
                         journal_.data(),
                         ledger_.data(),
                         agent_.data(),
                         doubt_.data(),
                         doom.data(),
                         force ? how.data() : nullptr,
                         nullptr};
    pid_t pid = -1;
    if (posix_spawn(&pid, name.c_str(), nullptr, nullptr, arguments, environ) != 0)
      throw std::runtime_error("cannot start " + name);
    return pid;
  }
  /// Whether the process was killed; any other end but success is a test failure.
  static bool was_killed(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    EXPECT_TRUE(killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        << "the runner ended with status " << status;
    return killed;
  }
  bool run(const Point& point) { return was_killed(start(point)); }
  /// Later processes run another agent.
  void become(std::string agent) { agent_ = std::move(agent); }

  /// Returns the logs of all sessions, the root's first.
  std::vector<std::vector<StoredRecord>> logs() const {
    const auto journal = is_postgres_address(journal_) ? *postgres_journal(journal_) : open_journal(journal_);
    const auto rows = journal->sessions();
    std::vector<std::vector<StoredRecord>> logs;
    for (const SessionRow& row : *rows) {
      if (row.entries == 0) continue;
      auto records = read_records(*journal, row.id);
      if (!records) throw std::runtime_error(records.error().message);
      logs.insert(row.parent.empty() ? logs.begin() : logs.end(), *std::move(records));
    }
    if (logs.empty()) throw std::runtime_error("the journal has no session");
    return logs;
  }
  std::vector<StoredRecord> records() const { return logs().front(); }
  const std::string& journal() const { return journal_; }
  const std::string& ledger_file() const { return ledger_; }
  /// Returns what happened outside: name, key, attempt.
  std::vector<std::array<std::string, 3>> ledger() const {
    std::vector<std::array<std::string, 3>> lines;
    std::istringstream in(file_bytes(ledger_));
    for (std::array<std::string, 3> line; in >> line[0] >> line[1] >> line[2];) lines.push_back(line);
    return lines;
  }

 private:
  const MemoryFolder folder_;
  std::string journal_, ledger_ = folder_ / "ledger", agent_, doubt_;
};

/// What the log records of one tool call.
struct Effect {
  std::string tool, key;
  int intents = 0;
  int permits = 0;       ///< times an approver allowed it while it was in doubt
  bool doubted = false;  ///< settled without an outcome of its own
  bool ok = false;       ///< settled with its own outcome
};

inline std::map<std::string, Effect> effects_of(const std::vector<StoredRecord>& records) {
  std::map<std::string, Effect> effects;            // by effect id
  std::map<std::string, std::string> call_effects;  // call to effect
  std::set<std::string> in_doubt;                   // park ids
  std::string session;
  for (const StoredRecord& stored : records) {
    const RecordBody& body = stored.record.body;
    if (const auto* created = std::get_if<records::SessionCreated>(&body)) session = created->session.str();
    if (const auto* intent = std::get_if<records::EffectIntended>(&body);
        intent && intent->kind == EffectKind::kTool) {
      Effect& effect = effects[intent->effect.str()];
      effect.tool = intent->tool;
      effect.key = session + "/" + intent->effect.str();
      ++effect.intents;
      call_effects[intent->call.str()] = intent->effect.str();
    } else if (const auto* settled = std::get_if<records::EffectSettled>(&body);
               settled && effects.contains(settled->effect.str())) {
      Effect& effect = effects[settled->effect.str()];
      (settled->by.empty() ? effect.ok : effect.doubted) = true;
    } else if (const auto* parked = std::get_if<records::Parked>(&body);
               parked && parked->step.kind == ParkKind::kInDoubt) {
      in_doubt.insert(parked->step.id.str());
    } else if (const auto* decided = std::get_if<records::Decided>(&body);
               decided && in_doubt.contains(decided->park.str())) {
      Effect& effect = effects[call_effects[decided->call.str()]];
      if (decided->verb == ApprovalVerb::kApprove) {
        ++effect.permits;
      } else {
        effect.doubted = true;
      }
    }
  }
  return effects;
}

}  // namespace praxis::testing
