// Changes a finished journal on disk in every way in which disks, copies and users do.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "damaged_journal.hpp"
#include "fault.hpp"

namespace praxis::faults {
namespace {

using testing::DamagedJournal;
using testing::JournalBytes;
using testing::kind_of;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kDamagedSessions = 3;

const testing::Scenario& played() {
  static const testing::Scenario kScenario{
      .name = "damaged",
      .script = R"({"text": "Let me see.", "tool_calls": [{"name": "add", "arguments": {"a": 2, "b": 3}}]}
{"tool_calls": [{"name": "big", "arguments": {"bytes": 20000}}, {"name": "note", "arguments": {"text": "5"}}]}
{"text": "done"}
{"text": "and done again"})",
      .prompts = {"go", "on"},
      .turns = 2};
  return kScenario;
}

/// The journals that every run starts from.
struct Originals {
  DamagedJournal journal{played(), kDamagedSessions};
  std::vector<SessionId> sessions = journal.sessions();
  JournalBytes closed = journal.journal_of(sessions);
  JournalBytes open = journal.journal_of(sessions, false);
  JournalBytes older = journal.journal_of({sessions[0], sessions[1]});
  JournalBytes oldest = journal.journal_of({sessions[0]});
  JournalBytes another = journal.journal_of({sessions[2], sessions[0], sessions[1]}, false);
};

/// The outcomes of a damage that are allowed besides a refusal and the original content.
enum class Allowed : std::uint8_t {
  kNothing,  ///< nothing
  /// An older state of the whole journal: without the heads that were acknowledged, the file itself cannot
  /// show that there was more.
  kOlder,
};

struct Damage {
  JournalBytes bytes;
  Allowed allowed = Allowed::kNothing;
};

void flip(std::string& bytes, Random& random) {
  for (std::uint64_t left = 1 + random.below(4); left > 0; --left)
    bytes[random.below(bytes.size())] ^= static_cast<char>(1 << random.below(8));
}

std::size_t some_page(const std::string& file, Random& random) {
  return random.below(file.size() / kPage) * kPage;
}

void put_page(std::string& file, const std::string& from, std::size_t page, std::size_t at) {
  file.replace(at, kPage, from, page, kPage);
}

/// A log with a changed byte ends there, which leaves an older state; a file with a changed byte is damaged.
/// The heads that the whole journal acknowledged are next to every second one.
Damage damaged(const Originals& all, Random& random) {
  const bool in_use = random.once_in(2);
  Damage damage{in_use ? all.open : all.closed};
  std::string& file = damage.bytes.file;
  std::string& log = damage.bytes.log;
  switch (random.below(9)) {
    case 0:
      flip(file, random);
      break;
    case 1:
      file.resize(random.below(file.size()));
      break;
    case 2: {
      const std::string before = file;
      const std::size_t one = some_page(file, random), other = some_page(file, random);
      put_page(file, before, one, other);
      put_page(file, before, other, one);
      break;
    }
    case 3: {
      damage.bytes = all.closed;
      const std::string& from = random.once_in(2) ? all.older.file : all.oldest.file;
      const std::size_t page = some_page(from, random);
      put_page(file, from, page, page);
      break;
    }
    case 4:
      file.replace(some_page(file, random), kPage, kPage, random.once_in(2) ? '\0' : '\xff');
      break;
    case 5:
      log.clear();
      damage.allowed = in_use ? Allowed::kOlder : Allowed::kNothing;
      break;
    case 6:
      if (log.empty())
        log = all.another.log;  // the log of another journal next to a closed file
      else
        log = random.once_in(2) ? all.another.log : log.substr(0, random.below(log.size()));
      damage.allowed = Allowed::kOlder;
      break;
    case 7:
      if (in_use) flip(log, random);
      damage.allowed = Allowed::kOlder;
      break;
    default:
      damage.bytes = random.once_in(2) ? all.older : all.oldest;
      damage.allowed = Allowed::kOlder;
  }
  damage.bytes.head = random.once_in(2) ? all.closed.head : "";
  if (!damage.bytes.head.empty()) damage.allowed = Allowed::kNothing;
  return damage;
}

bool is_prefix(const std::vector<Entry>& some, const std::vector<Entry>& all) {
  return some.size() <= all.size() &&
         std::equal(some.begin(), some.end(), all.begin(), [](const Entry& a, const Entry& b) {
           return a.seq == b.seq && a.hash == b.hash && a.kind == b.kind && a.time.value == b.time.value &&
                  a.body == b.body;
         });
}

bool is_one_of(const std::string& kind, std::initializer_list<std::string_view> kinds) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

void break_it(const Originals& all, const std::map<SessionId, std::vector<Entry>>& entries,
              std::uint64_t seed) {
  Random random(seed);
  const Damage damage = damaged(all, random);
  all.journal.write(damage.bytes);
  const auto journal = sqlite_journal(all.journal.copy());
  if (!journal) {
    EXPECT_TRUE(is_one_of(kind_of(journal), {"corrupt", "version"})) << journal.error().message;
    return;
  }
  for (const SessionId& session : all.sessions) {
    const auto found = DamagedJournal::read(**journal, session);
    if (found && *found == all.journal.log(session)) continue;
    if (!found) {
      // A session that had begun in the older state has no records, which is not an error of its own kind.
      const bool is_begun = damage.allowed == Allowed::kOlder && kind_of(found).empty();
      EXPECT_TRUE(is_begun || is_one_of(kind_of(found), {"corrupt", "not_found"})) << found.error().message;
      continue;
    }
    EXPECT_EQ(damage.allowed, Allowed::kOlder) << session.str() << " reads as another";
    const auto some = (*journal)->read(session);
    EXPECT_TRUE(some && is_prefix(*some, entries.at(session))) << session.str() << " is not an older state";
  }
}

}  // namespace

Fault damage_fault() {
  return {
      .name = "damage",
      .breaks = "bits, pages, ends and logs of a journal's files are flipped, swapped, cut, lost, replaced",
      .holds =
          "refused, or read as written; without the acknowledged heads an older copy reads as that older "
          "state",
      .few = 5'000,
      .many = 100'000,
      .start = [] {
        auto all = std::make_shared<Originals>();
        all->journal.write(all->closed);
        const auto journal = testing::open_journal(all->journal.copy());
        std::map<SessionId, std::vector<Entry>> entries;
        for (const SessionId& session : all->sessions) entries[session] = *journal->read(session);
        return [all, entries](std::uint64_t seed) { break_it(*all, entries, seed); };
      }};
}

}  // namespace praxis::faults
