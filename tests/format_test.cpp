// Everything ever written stays readable: a session of each version of records, in a file of each format, is
// read, replayed and resumed; a session of a future version is refused with the reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "journal/testing/journals.hpp"
#include "praxis/core/state.hpp"
#include "praxis/praxis.hpp"
#include "praxis/runtime/commands.hpp"
#include "praxis/seal/secret.hpp"
#include "scenarios.hpp"

namespace praxis::testing {
namespace {

std::string fixture(const std::string& name) {
  std::ifstream in(PRAXIS_SOURCE_DIR "/tests/fixtures/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A session as a version of Praxis wrote it.
struct Left {
  const char* file;
  std::uint32_t version;
  StopReason reason;
};
std::ostream& operator<<(std::ostream& out, const Left& left) { return out << left.file; }

/// Resumes a session with this version of Praxis, and reads it again.
void expect_carried_on(const std::shared_ptr<Journal>& journal, const SessionId& id) {
  RuntimeOptions options;
  options.journal = journal;
  const auto runtime = Runtime::create(std::move(options));
  std::string script;
  for (int i = 0; i < 20; ++i)
    script += R"({"text": "as before"})"
              "\n";
  const auto model = script_model(script, "now", runtime->model_services().executor);
  ASSERT_TRUE(model);
  const auto state = fold(*read_records(*journal, id));
  AgentSpec spec = *state->agent;
  spec.tools.clear();
  spec.options.output_schema = nullptr;
  auto session = runtime->open_session(id, Agent(spec).model(*model));
  ASSERT_TRUE(session) << session.error().message;
  const auto result = session->ask("And after all that?");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "as before");
  const auto records = read_records(*journal, id);
  EXPECT_EQ(fold(*records)->version, state->version) << "the agent it began with";
  const auto report = replay(*records);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->divergence) << report->divergence->seq << " " << report->divergence->field;
}

class Format : public ::testing::TestWithParam<Left> {
 protected:
  Format() : session_(import_session(*journal_, fixture(GetParam().file))) {}

  const std::shared_ptr<Journal> journal_ = memory_journal();
  const Result<SessionId> session_;
};

TEST_P(Format, Session_IsReadAndReplayed) {
  ASSERT_TRUE(session_) << session_.error().message;
  const auto records = read_records(*journal_, *session_);
  ASSERT_TRUE(records) << records.error().message;
  const auto report = replay(*records);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->divergence) << report->divergence->seq << " " << report->divergence->field;
  const auto state = fold(*records);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->version, GetParam().version);
  EXPECT_EQ(state->last->reason, GetParam().reason);
  if (GetParam().version == 1) {
    EXPECT_EQ(state->agent->limits.compact_at, 0U) << "that version made no summaries";
  }
}

TEST_P(Format, Session_IsResumed) {
  ASSERT_TRUE(session_) << session_.error().message;
  expect_carried_on(journal_, *session_);
}

// Every released version has a fixture: a new version needs another line.
INSTANTIATE_TEST_SUITE_P(Released, Format,
                         ::testing::Values(Left{"session-1.jsonl", 1, StopReason::kOutputLimit},
                                           Left{"session-2.jsonl", 2, StopReason::kFinished},
                                           Left{"session-3.jsonl", 3, StopReason::kFinished},
                                           Left{"session-3-window.jsonl", 3, StopReason::kContextLimit},
                                           Left{"session-4.jsonl", 4, StopReason::kFinished},
                                           Left{"session-5.jsonl", 5, StopReason::kFinished}));
static_assert(kRecordVersion == 5, "a new version of records needs a fixture above");

// ---- future versions

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("there is no " + from);
  return text.replace(at, from.size(), to);
}

TEST(FutureFormat, Export_IsRefusedWithTheReason) {
  const std::string now = fixture("session-5.jsonl");
  const auto header = import_session(*memory_journal(), replaced(now, R"("version":5)", R"("version":6)"));
  ASSERT_FALSE(header);
  EXPECT_NE(header.error().message.find("newer praxis"), std::string::npos) << header.error().message;
  const auto record = import_session(*memory_journal(), replaced(now, R"({"version":5)", R"({"version":6)"));
  ASSERT_FALSE(record);
  EXPECT_NE(record.error().message.find("format version 6"), std::string::npos) << record.error().message;
}

/// A journal with one session whose first record is of version 6, or whose last record is of an unknown kind.
std::shared_ptr<Journal> later_journal(const std::string& first, const std::string& kind) {
  auto journal = memory_journal();
  const Lease lease = *journal->create(SessionId("01LATER"), {1000});
  Append append{.lease = lease, .expected_seq = 0, .entries = {}, .blobs = {}, .row = {}};
  append.entries.push_back({"session_created", {1000}, first});
  append.entries.push_back({kind, {1001}, R"({"turn":"t1"})"});
  EXPECT_TRUE(append_now(*journal, std::move(append)));
  journal->release(lease);
  return journal;
}

TEST(FutureFormat, Session_IsRefusedWithTheReasonAndUnchanged) {
  const std::string present = R"({"version":5,"session":"01LATER","seed":1,"agent":{"id":"a","limits":{}}})";
  const std::vector<std::array<std::string, 3>> cases{
      {replaced(present, "5", "6"), "turn_started", "format version 6"},
      {present, "turn_dreamt", "turn_dreamt"}};
  for (const auto& [first, kind, reason] : cases) {
    RuntimeOptions options;
    options.journal = later_journal(first, kind);
    const auto runtime = Runtime::create(std::move(options));
    Agent agent("", "");
    agent.plan(JsonArray{JsonObject{{"finish", "here"}}});
    const auto opened = runtime->open_session(SessionId("01LATER"), agent);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::kJournal);
    EXPECT_NE(opened.error().message.find(reason), std::string::npos) << opened.error().message;
    EXPECT_EQ(runtime->journal().read(SessionId("01LATER"))->size(), 2);
    EXPECT_TRUE(runtime->journal().acquire(SessionId("01LATER"))) << "the lease was released";
  }
}

// ---- files

class FileFormat : public ::testing::TestWithParam<const char*> {
 protected:
  FileFormat() { alter(folder_ / "j", fixture(GetParam())); }

  static SessionRow root_of(Journal& journal) {
    const auto rows = *journal.sessions();
    EXPECT_EQ(rows.size(), 2U);
    for (const SessionRow& row : rows) EXPECT_EQ(row.status, "completed");
    const auto root = std::ranges::find_if(rows, [](const SessionRow& row) { return row.parent.empty(); });
    if (root == rows.end()) throw std::runtime_error("there is no root");
    return *root;
  }

  static bool is_sealed() { return GetParam() == std::string_view("journal-5.sql"); }
  static SqliteJournalOptions options() {
    SqliteJournalOptions options;
    if (!is_sealed()) return options;
    options.key = []() -> Result<std::shared_ptr<const SealSecret>> {
      return std::make_shared<const SealSecret>(SealKey(SecretBytes(std::string(SealKey::kBytes, 'k'))));
    };
    return options;
  }
  static SqliteJournalOptions reading() {
    SqliteJournalOptions reads = options();
    reads.read_only = true;
    return reads;
  }

  const MemoryFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(Released, FileFormat,
                         ::testing::Values("journal-2.sql", "journal-3.sql", "journal-4.sql",
                                           "journal-5.sql"));

TEST_P(FileFormat, Session_IsReadAndResumed) {
  const auto journal = open_journal(folder_ / "j", options());
  const SessionRow root = root_of(*journal);
  EXPECT_EQ(journal->children(root.id)->size(), 1U);
  EXPECT_EQ(*journal->inbox().outcome(1), "ok") << "of an answered message";
  const auto message = post_request(journal->inbox(), *fixed_environment(1),
                                    Commands{{CommandVerb::kAnnotate, root.id, "and now"}});
  ASSERT_TRUE(message);
  EXPECT_EQ(*message, 2);
  expect_carried_on(journal, root.id);
}

TEST_P(FileFormat, ReadOnlyFile_IsReadUnchanged) {
  const auto read_only = open_journal(folder_ / "j", reading());
  const SessionRow root = root_of(*read_only);
  EXPECT_EQ(root.name, GetParam() == std::string_view("journal-4.sql") || is_sealed() ? "first" : "");
  const auto entries = read_only->read(root.id);
  ASSERT_TRUE(entries) << entries.error().message;
  EXPECT_EQ(entries->size(), root.entries);
  EXPECT_EQ(read_only->read(root.id, 3, 2)->front().body, (*entries)[2].body);
  EXPECT_EQ(open_journal(folder_ / "j", options())->read(root.id)->back().hash, entries->back().hash);
}

}  // namespace
}  // namespace praxis::testing
