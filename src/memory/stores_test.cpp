// What all places of a memory do, in one suite.
#include "praxis/memory/stores.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "journal/testing/postgres_server.hpp"
#include "memory/testing/redis_server.hpp"
#include "memory/testing/store_folder.hpp"

namespace praxis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::StoreFolder;

enum class MemoryPlace : std::uint8_t { kProcess, kFile, kPostgres, kRedis };

std::vector<std::string> keys_of(const Result<std::vector<Note>>& notes) {
  std::vector<std::string> keys;
  for (const Note& note : notes.value()) keys.push_back(note.key);
  return keys;
}
std::vector<std::string> keys_of(const Result<std::vector<Hit>>& hits) {
  std::vector<std::string> keys;
  for (const Hit& hit : hits.value()) keys.push_back(hit.note.key);
  return keys;
}
Filter filter(std::string_view json) { return Filter::parse(parse_json(json).value()).value(); }

class Memory : public ::testing::TestWithParam<MemoryPlace> {
 protected:
  void SetUp() override {
    if (GetParam() == MemoryPlace::kPostgres) PRAXIS_NEED_POSTGRES();
    if (GetParam() == MemoryPlace::kRedis) PRAXIS_NEED_REDIS();
    open();
  }

  void open(MemoryLimits limits = {}) {
    const MemoryOptions options{environment_, limits};
    if (GetParam() == MemoryPlace::kProcess) {
      clients_ = memory_in_process(options);
    } else if (GetParam() == MemoryPlace::kFile) {
      clients_ = sqlite_memory(folder_.file("memory.db"), MemoryUse::kCreate, options).value();
    } else if (GetParam() == MemoryPlace::kRedis) {
      const std::string database = testing::RedisServer::shared()->new_database();
      clients_ = redis_memory(database, MemoryUse::kCreate, options).value();
    } else {
      const std::string schema = testing::PostgresServer::shared()->new_schema();
      clients_ = postgres_memory(schema, MemoryUse::kCreate, options).value();
    }
  }
  DatabaseClient& database() { return *clients_.database; }
  MemoryClient& memory() { return *clients_.memory; }
  void write(const std::string& key, Json value, const std::string& collection = "facts") {
    ASSERT_TRUE(database().write(collection, key, std::move(value)));
  }

  StoreFolder folder_;
  std::shared_ptr<Environment> environment_ = fixed_environment(1);
  MemoryClients clients_;
};

TEST_P(Memory, Write_IsReadAsWrittenAndReplaces) {
  write("ada", {{"name", "Ada"}, {"born", 1815}});
  write("ada", {{"name", "Ada Lovelace"}});
  const auto note = database().read("facts", "ada").value();
  ASSERT_TRUE(note);
  EXPECT_EQ(note->value, Json({{"name", "Ada Lovelace"}}));
  EXPECT_GT(note->written.value, 1'700'000'000'000) << "the time comes from the environment";
  EXPECT_FALSE(database().read("facts", "bob").value());
  EXPECT_FALSE(database().read("other", "ada").value());
  const auto all = database().collections().value();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].name, "facts");
  EXPECT_EQ(all[0].notes, 1U);
  EXPECT_EQ(all[0].bytes, 3U + to_json_text(note->value).size());
}

TEST_P(Memory, Query_FiltersInTheOrderOfKeysAndInPages) {
  for (int i = 0; i < 9; ++i) write("n" + std::to_string(i), {{"i", i}, {"odd", i % 2 == 1}});
  EXPECT_THAT(keys_of(database().query("facts", filter(R"({"eq": ["odd", true]})"))),
              ElementsAre("n1", "n3", "n5", "n7"));
  EXPECT_THAT(keys_of(database().query("facts", {}, {2, "n3", false})), ElementsAre("n4", "n5"));
  EXPECT_THAT(keys_of(database().query("facts", filter(R"({"lt": ["i", 4]})"), {2, "", true})),
              ElementsAre("n3", "n2"));
  write("n0", {{"i", 0}});
  EXPECT_THAT(keys_of(database().query("facts", {}, {1, "", true})), ElementsAre("n0"))
      << "a note that is written again is the newest";
  EXPECT_THAT(keys_of(database().query("other")), IsEmpty());
}

TEST_P(Memory, Search_FindsStemsAndPartsAndSaysWhy) {
  write("a", "The engine was running all night");
  write("b", "Runners drink water");
  write("c", {{"title", "Nothing"}, {"tags", {"marathonrunner"}}});
  write("d", "Unrelated");
  const auto hits = database().search("Run, engines!").value();
  ASSERT_THAT(hits, SizeIs(3));
  EXPECT_EQ(hits[0].note.key, "a");
  EXPECT_THAT(hits[0].terms, ElementsAre("run", "engines"));
  EXPECT_EQ(hits[0].words_rank, 1U);
  EXPECT_EQ(hits[0].pieces_rank.has_value(), true) << "'run' is a part of 'running'";
  EXPECT_EQ(hits[0].recency_rank, 3U);
  for (const Hit& hit : {hits[1], hits[2]}) {
    EXPECT_FALSE(hit.words_rank) << hit.note.key;
    EXPECT_TRUE(hit.pieces_rank) << hit.note.key;
    EXPECT_THAT(hit.terms, ElementsAre("run"));
  }
  EXPECT_GT(hits[0].score, hits[1].score);
}

TEST_P(Memory, Search_PutsTheNewerOfEqualsFirst) {
  for (const char* key : {"1", "2", "3"}) write(key, "the same words");
  EXPECT_THAT(keys_of(database().search("words")), ElementsAre("3", "2", "1"));
  write("1", "the same words");
  EXPECT_THAT(keys_of(database().search("words", {2, "", {}})), ElementsAre("1", "3"));
}

TEST_P(Memory, Search_KeepsToCollectionAndFilter) {
  write("x", {{"text", "blue whale"}, {"kind", "animal"}}, "one");
  write("y", {{"text", "blue sky"}, {"kind", "view"}}, "one");
  write("z", "blue moon", "two");
  EXPECT_THAT(keys_of(database().search("blue")), SizeIs(3));
  EXPECT_THAT(keys_of(database().search("blue", {10, "two", {}})), ElementsAre("z"));
  EXPECT_THAT(keys_of(database().search("blue", {1, "one", filter(R"({"eq": ["kind", "animal"]})")})),
              ElementsAre("x"))
      << "the filter counts before the limit";
  EXPECT_THAT(keys_of(database().search("green")), IsEmpty());
  EXPECT_THAT(keys_of(database().search("  ,.; ")), IsEmpty());
  ASSERT_TRUE(memory().append("s", "blue ink"));
  EXPECT_THAT(keys_of(database().search("blue")), SizeIs(3)) << "streams are apart";
}

TEST_P(Memory, Search_FoldsTheCaseOfOtherAlphabets) {
  write("de", "Über den ÄRGER");
  write("ru", "Московский Кремль");
  EXPECT_THAT(keys_of(database().search("über")), ElementsAre("de"));
  EXPECT_THAT(keys_of(database().search("ärger")), ElementsAre("de"));
  EXPECT_THAT(keys_of(database().search("КРЕМЛЬ")), ElementsAre("ru"));
  EXPECT_THAT(database().search("московск").value().at(0).terms, ElementsAre("московск"));
}

TEST_P(Memory, Streams_KeepTheOrderAndArePaged) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(memory().append("run/1", i).value());
  ASSERT_TRUE(memory().append("run/2", "else"));
  EXPECT_THAT(keys_of(memory().read("run/1")), ::testing::ElementsAreArray(ids));
  EXPECT_THAT(keys_of(memory().read("run/1", {2, ""})), ElementsAre(ids[3], ids[4])) << "the latest";
  EXPECT_THAT(keys_of(memory().read("run/1", {2, ids[0]})), ElementsAre(ids[1], ids[2]));
  EXPECT_FALSE(memory().read("run/1", {2, "nowhere"}));
  EXPECT_THAT(keys_of(memory().search("else")), SizeIs(1));
  EXPECT_THAT(keys_of(memory().search("else", {10, "run/1"})), IsEmpty());
  EXPECT_THAT(memory().streams().value(), SizeIs(2));
  EXPECT_EQ(memory().clear("run/1").value(), true);
  EXPECT_EQ(memory().clear("run/1").value(), false);
  EXPECT_THAT(keys_of(memory().read("run/1")), IsEmpty());
  EXPECT_THAT(keys_of(memory().read("run/2")), SizeIs(1));
}

TEST_P(Memory, ChangeWithTheKeyOfAnEffect_IsMadeOnce) {
  ASSERT_TRUE(database().write("facts", "a", "first", {"S/e1"}));
  write("a", "newer");
  ASSERT_TRUE(database().write("facts", "a", "first", {"S/e1"}));
  EXPECT_EQ(database().read("facts", "a").value()->value, Json("newer")) << "a retry must not go back";
  EXPECT_EQ(database().remove("facts", "a", {"S/e2"}).value(), true);
  write("a", "again");
  EXPECT_EQ(database().remove("facts", "a", {"S/e2"}).value(), true) << "the result of the first call";
  EXPECT_TRUE(database().read("facts", "a").value());
  const auto id = memory().append("log", 1, {"S/e3"});
  EXPECT_EQ(memory().append("log", 1, {"S/e3"}).value(), id.value());
  EXPECT_THAT(keys_of(memory().read("log")), ElementsAre(*id));
}

TEST_P(Memory, Remove_TakesOneNoteOrTheCollection) {
  for (const char* key : {"a", "b", "c"}) write(key, "some text");
  write("a", "some text", "other");
  EXPECT_EQ(database().remove("facts", "b").value(), true);
  EXPECT_EQ(database().remove("facts", "b").value(), false);
  EXPECT_THAT(keys_of(database().search("some", {10, "facts", {}})), ElementsAre("c", "a"));
  EXPECT_EQ(database().remove("facts", std::nullopt).value(), true);
  EXPECT_THAT(keys_of(database().query("facts")), IsEmpty());
  EXPECT_THAT(keys_of(database().query("other")), ElementsAre("a"));
}

TEST_P(Memory, AnyBytes_AreStoredAndFoundAsWritten) {
  const std::string nul("a\0b", 3), large = std::string(1024 * 1024, 'k') + "needle'\"";
  const std::vector<std::string> names{
      "'; DROP TABLE notes; --", "\"quoted\"", "%_*?[a]", nul,  "NEAR(a b)", "a AND NOT b",
      "col:x ^y -z {w}",         "\\",         "\n\t",    large};
  for (const std::string& name : names) {
    write(name, {{"said", name}, {name, name}}, "c" + name);
    ASSERT_TRUE(memory().append(name, Json(name)));
  }
  EXPECT_THAT(database().collections().value(), SizeIs(names.size()));
  for (const std::string& name : names) {
    const std::string shown = name.substr(0, 30);
    const auto note = database().read("c" + name, name).value();
    ASSERT_TRUE(note) << shown;
    EXPECT_EQ(note->value.at("said").as_string(), name) << shown;
    const Filter equals = Filter::parse({{"eq", {name, name}}}).value();
    EXPECT_THAT(keys_of(database().query("c" + name, equals)), ElementsAre(name)) << shown;
    EXPECT_THAT(keys_of(database().query("c" + name, Filter::parse({{"eq", {name + "x", name}}}).value())),
                IsEmpty());
    EXPECT_TRUE(database().search(name).has_value()) << shown;
    EXPECT_EQ(memory().read(name).value().at(0).value, Json(name)) << shown;
  }
  EXPECT_THAT(keys_of(database().search("NEAR(")), ElementsAre("NEAR(a b)"))
      << "words, not the syntax of a query";
  EXPECT_THAT(keys_of(database().query("c%")), IsEmpty());
  EXPECT_THAT(keys_of(database().search("needle")), ElementsAre(large));
  EXPECT_EQ(database().remove("c" + nul, nul).value(), true);
}

TEST_P(Memory, Limits_RefuseAndKeepWhatIsThere) {
  open({10, 100, 2, 60});
  EXPECT_THAT(database().write("f", std::string(11, 'x'), 1).error().message, HasSubstr("11 bytes"));
  EXPECT_EQ(database().write("f", "", 1).error().code, ErrorCode::kInput);
  EXPECT_EQ(database().write("", "a", 1).error().code, ErrorCode::kInput);
  EXPECT_EQ(database().write("f", "a", Json(std::string(99, 'x'))).error().code, ErrorCode::kLimit);
  ASSERT_TRUE(database().write("f", "a", Json(std::string(40, 'x'))));
  EXPECT_EQ(database().write("f", "b", Json(std::string(40, 'x'))).error().code, ErrorCode::kLimit)
      << "bytes";
  EXPECT_TRUE(database().write("f", "a", Json(std::string(41, 'x')))) << "replaces";
  EXPECT_TRUE(memory().append("s", 1).error().message.find("full") != std::string::npos) << "shared";
  ASSERT_TRUE(database().write("f", "b", 1));
  EXPECT_THAT(database().write("f", "c", 1).error().message, HasSubstr("at most 2 notes"));
  EXPECT_THAT(keys_of(database().query("f")), ElementsAre("a", "b"));
  EXPECT_EQ(database().remove("f", "a").value(), true);
  EXPECT_TRUE(database().write("f", "c", 1)) << "there is room again";
}

TEST_P(Memory, FiftyWriters_LoseAndDoubleNothing) {
  constexpr int kWriters = 50, kEach = 2;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([this, writer] {
      for (int i = 0; i < kEach; ++i) {
        const std::string key = std::to_string(writer) + "-" + std::to_string(i);
        EXPECT_TRUE(database().write("all", key, {{"by", writer}}));
        EXPECT_TRUE(memory().append("log", Json(key), {"effect " + std::to_string(writer)}));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(database().query("all", {}, {1000, "", false}).value().size(),
            static_cast<std::size_t>(kWriters * kEach));
  EXPECT_EQ(database().collections().value().at(0).notes, static_cast<std::size_t>(kWriters * kEach));
  EXPECT_EQ(memory().read("log", {1000, ""}).value().size(), std::size_t{kWriters}) << "each effect once";
}

std::string name_of(const ::testing::TestParamInfo<MemoryPlace>& place) {
  if (place.param == MemoryPlace::kProcess) return "Process";
  if (place.param == MemoryPlace::kRedis) return "Redis";
  return place.param == MemoryPlace::kFile ? "File" : "Postgres";
}

INSTANTIATE_TEST_SUITE_P(Places, Memory,
                         ::testing::Values(MemoryPlace::kProcess, MemoryPlace::kFile, MemoryPlace::kPostgres,
                                           MemoryPlace::kRedis),
                         name_of);

}  // namespace
}  // namespace praxis
