// Kept files, schedules, prompts and memory are sealed with the key of the journal: their files tell nothing,
// what was altered, moved, removed or put back is found, and a kill leaves exactly one key.
#include "app/sealed_stores.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/schedules.hpp"
#include "praxis/memory/embedder.hpp"
#include "snapshots/file_history.hpp"
#include "store/testing/killed_at.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const std::string kTold = "CANARY-4711";

SealSecret store_secret(char byte) { return SealKey(SecretBytes(std::string(SealKey::kBytes, byte))); }

std::string bytes_of_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class SealedStores : public ::testing::Test {
 protected:
  SealedStores() {
    std::string name = (fs::temp_directory_path() / "praxis_stores_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    use(folder_ / "state");
  }
  ~SealedStores() override { fs::remove_all(folder_); }

  void use(const fs::path& folder) {
    fs::create_directories(folder);
    fs::permissions(folder, fs::perms::owner_all);
    state_ = folder;
    place_.journal = state_ / "journal.db";
    place_.memory = state_ / "memory.db";
    place_.prompts = state_ / "prompts.db";
  }

  /// What opens the stores from now on; 0: nothing.
  void key(char byte) {
    place_.secret = std::make_shared<KeptSecret>();
    place_.config.settings.erase("encryption.journal_key");
    if (byte == 0) return;
    place_.config.settings["encryption.journal_key"].value = "env:NOT_ASKED";
    place_.secret->secret = std::make_shared<const SealSecret>(store_secret(byte));
  }

  void fill_files() const {
    const auto history = open_file_history(place_, true);
    ASSERT_TRUE(history) << history.error().message;
    const std::string before = kTold + " before", after = kTold + " after";
    ASSERT_TRUE((*history)->keep({{digest_of(before), before}, {digest_of(after), after}}));
    for (int i = 0; i < 2; ++i) {
      FileOperation operation;
      operation.session = SessionId{"s" + std::to_string(i)};
      operation.effect = "e1";
      operation.tool = kTold + "-tool";
      operation.places.folders = {"/" + kTold};
      const std::string path = "/" + kTold + "/" + std::to_string(i);
      const FileState old{FileState::Kind::kFile, 0600, before.size(), digest_of(before)};
      const auto id = (*history)->begin(operation, {{path, old}});
      ASSERT_TRUE(id) << id.error().message;
      const FileState fresh{FileState::Kind::kFile, 0600, after.size(), digest_of(after)};
      ASSERT_TRUE((*history)->end(*id, {{path, fresh}}));
    }
  }
  void fill() const {
    fill_files();
    const auto schedules = ScheduleStore::open(place_, true);
    ASSERT_TRUE(schedules) << schedules.error().message;
    for (const char* id : {"01FIRST", "02SECOND"}) {
      ASSERT_TRUE(
          (*schedules)
              ->add({.id = id, .times = "0 6 * * *", .zone = "UTC", .agent = kTold, .prompt = kTold + id}));
    }
    const auto prompts = open_prompts(place_);
    ASSERT_TRUE(prompts) << prompts.error().message;
    for (const char* text : {" one", " two"}) {
      PromptTemplate draft;
      draft.id = "greeting";
      draft.text = kTold + text;
      ASSERT_TRUE((*prompts)->put(draft));
    }
    const auto memory = open_memory(place_, MemoryUse::kCreate);
    ASSERT_TRUE(memory) << memory.error().message;
    for (const char* name : {"a", "b"})
      ASSERT_TRUE(memory->database->write(kTold + "-c", kTold + name, Json(kTold + " likes cheese " + name)));
    ASSERT_TRUE(memory->memory->append("stream", Json(kTold + " entry")));
  }

  /// The first error of reading everything; empty: all is there.
  std::string read_all() const {
    const auto files = read_files();
    if (!files.empty()) return files;
    const auto schedules = ScheduleStore::open(place_, false);
    if (!schedules) return schedules.error().message;
    const auto list = (*schedules)->list();
    if (!list) return list.error().message;
    if (list->size() != 2 || list->front().prompt != kTold + "01FIRST" || list->front().times != "0 6 * * *")
      return "other schedules";
    const auto prompts = open_prompts(place_);
    if (!prompts) return prompts.error().message;
    const auto versions = (*prompts)->versions("greeting");
    if (!versions) return versions.error().message;
    if (versions->size() != 2 || versions->back().text != kTold + " two") return "other prompts";
    return read_memory();
  }
  std::string read_files() const {
    const auto history = open_file_history(place_, false);
    if (!history) return history.error().message;
    const auto operations = (*history)->operations({SessionId{"s0"}, SessionId{"s1"}});
    if (!operations) return operations.error().message;
    if (operations->size() != 2 || operations->front().tool != kTold + "-tool" ||
        operations->front().places.folders.front() != "/" + kTold)
      return "other operations";
    for (const FileOperation& each : *operations) {
      const auto changes = (*history)->changes(each.id);
      if (!changes) return changes.error().message;
      if (changes->size() != 1 || !changes->front().path.starts_with("/" + kTold)) return "other changes";
      for (const Digest& digest : {changes->front().before.digest, changes->front().after.digest}) {
        if (const auto content = (*history)->content(digest); !content) return content.error().message;
      }
    }
    return "";
  }
  std::string read_memory() const {
    const auto memory = open_memory(place_, MemoryUse::kExisting);
    if (!memory) return memory.error().message;
    const auto found = memory->database->search("cheeses");
    if (!found) return found.error().message;
    if (found->size() != 2 || found->front().note.collection != kTold + "-c") return "other notes";
    const auto entries = memory->memory->read("stream");
    if (!entries) return entries.error().message;
    return entries->size() == 1 && entries->front().value == Json(kTold + " entry") ? "" : "other entries";
  }

  /// The files of the folder that hold the word.
  std::vector<std::string> telling(const std::string& word = kTold) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(state_)) {
      if (entry.is_regular_file() && bytes_of_file(entry.path()).find(word) != std::string::npos)
        names.push_back(entry.path().filename());
    }
    return names;
  }

  void sql(const std::string& file, const std::string& statement) const {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open((state_ / file).c_str(), &connection), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(connection, statement.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(connection) << ": " << statement;
    sqlite3_close(connection);
  }

  fs::path folder_, state_;
  Workspace place_;
};

TEST_F(SealedStores, NewStoresWithAKey_AreSealedAndTellNothing) {
  key('k');
  const auto files = open_file_history(place_, true);
  const auto schedules = ScheduleStore::open(place_, true);
  const auto prompts = open_prompts(place_);
  const auto memory = open_memory(place_, MemoryUse::kCreate);
  fill();
  EXPECT_EQ(telling(), std::vector<std::string>{}) << "while the stores are open, with their logs";
  EXPECT_EQ(telling("greeting"), std::vector<std::string>{});
  EXPECT_EQ(read_all(), "");
  const std::string plain(reinterpret_cast<const char*>(digest_of(kTold + " before").bytes.data()), 32);
  EXPECT_EQ(telling(plain), std::vector<std::string>{}) << "the digest of a content";
}

TEST_F(SealedStores, Seal_LeavesNoPlainByte) {
  fill();
  ASSERT_EQ(telling().size(), 4U);
  const auto sealed = seal_stores(place_, store_secret('k'), {9});
  ASSERT_TRUE(sealed) << sealed.error().message;
  EXPECT_EQ(telling(), std::vector<std::string>{});
  key('k');
  EXPECT_EQ(read_all(), "");
  for (const StoreState& state : store_states(place_)) {
    ASSERT_TRUE(state.seal && *state.seal) << state.store.path;
    EXPECT_EQ((*state.seal)->since.value, 9);
    EXPECT_TRUE((*state.seal)->is_clean);
  }
}

TEST_F(SealedStores, WithoutTheKey_OneErrorNamesTheSetting) {
  key('k');
  fill();
  for (const char byte : {'\0', 'x'}) {
    key(byte);
    const Error errors[] = {open_file_history(place_, false).error(),
                            ScheduleStore::open(place_, false).error(), open_prompts(place_).error(),
                            open_memory(place_, MemoryUse::kExisting).error()};
    for (const Error& error : errors) {
      EXPECT_EQ(error.kind(), ErrorKind::kKey);
      EXPECT_THAT(error.message, HasSubstr("is sealed"));
      EXPECT_THAT(error.message, HasSubstr("encryption.journal_key"));
    }
  }
}

TEST_F(SealedStores, PlainStoresWithAKey_AreNotUsed) {
  fill();
  key('k');
  EXPECT_THAT(read_all(), HasSubstr("praxis journal seal"));
  EXPECT_THAT(open_memory(place_, MemoryUse::kCreate).error().message, HasSubstr("praxis journal seal"));
}

TEST_F(SealedStores, WhileAStoreIsOpen_ItIsNotSealed) {
  fill();
  const auto memory = open_memory(place_, MemoryUse::kExisting);
  EXPECT_EQ(seal_stores(place_, store_secret('k'), {9}).error().kind(), ErrorKind::kLeaseHeld);
}

/// A change by one who has the files and not the key.
struct Tampering {
  const char* file;
  const char* change;
};

TEST_F(SealedStores, AlteredMovedAndRemovedValues_AreFound) {
  key('k');
  fill();
  const Tampering changes[] = {
      {"journal.db.files", "UPDATE contents SET bytes = (SELECT bytes FROM contents LIMIT 1)"},
      {"journal.db.files", "UPDATE contents SET bytes = substr(bytes, 1, length(bytes) - 1)"},
      {"journal.db.files", "UPDATE changes SET path = substr(path, 1, length(path) - 1)"},
      {"journal.db.files", "UPDATE changes SET operation = 3 - operation"},
      {"journal.db.files", "DELETE FROM changes WHERE operation = 2"},
      {"journal.db.files", "UPDATE operations SET ended = ended + 1"},
      {"journal.db.files", "UPDATE operations SET session = 's0'"},
      {"journal.db.files", "UPDATE operations SET tool = places"},
      {"journal.db.files", "UPDATE seal_sum SET sum = x'00'"},
      {"journal.db.schedules", "UPDATE schedules SET prompt = substr(prompt, 1, 50)"},
      {"journal.db.schedules", "UPDATE schedules SET id = '03OTHER' WHERE number = 2"},
      {"journal.db.schedules", "DELETE FROM schedules WHERE number = 2"},
      {"prompts.db", "UPDATE changes SET body = (SELECT body FROM changes WHERE id = 1)"},
      {"prompts.db", "DELETE FROM changes WHERE id = 2"},
      {"prompts.db", "UPDATE changes SET body = substr(body, 1, 60) || x'00' || substr(body, 62)"},
      {"memory.db", "UPDATE notes SET value = (SELECT value FROM notes WHERE id = 1) WHERE id = 2"},
      {"memory.db", "UPDATE notes SET space = 1 WHERE id = 1"},
      {"memory.db", "UPDATE notes SET written = 7 WHERE id = 1"},
      {"memory.db", "DELETE FROM notes WHERE id = 1"},
      {"memory.db",
       "INSERT INTO notes SELECT 9, space, collection, '9', written, bytes, value, text FROM notes "
       "WHERE id = 1"},
  };
  for (const auto& [file, change] : changes) {
    const fs::path copy = folder_ / "copy";
    fs::remove_all(copy);
    fs::copy(state_, copy);
    sql(file, change);
    const std::string error = read_all();
    EXPECT_THAT(error, HasSubstr(file)) << change;
    EXPECT_THAT(error, HasSubstr("take the file from a copy")) << change;
    fs::remove_all(state_);
    fs::rename(copy, state_);
  }
  EXPECT_EQ(read_all(), "");
}

TEST_F(SealedStores, OlderValueThatIsPutBack_IsFound) {
  key('k');
  fill();
  const fs::path old = state_ / "old.db";
  fs::copy_file(state_ / "journal.db.schedules", old);
  {
    const auto schedules = ScheduleStore::open(place_, false);
    ASSERT_TRUE((*schedules)->pause("01FIRST", true, {1}));
    ASSERT_TRUE((*schedules)->note("02SECOND", {1'000}));
  }
  ASSERT_EQ(ScheduleStore::open(place_, false).value()->list()->front().paused, true);
  sql("journal.db.schedules",
      "ATTACH '" + old.string() +
          "' AS old; UPDATE schedules SET prompt = (SELECT prompt FROM old.schedules WHERE number = 1) WHERE "
          "number = 1; DETACH old");
  const auto opened = ScheduleStore::open(place_, false);
  ASSERT_FALSE(opened) << "the value opens at its place, and is an older one";
  EXPECT_EQ(opened.error().kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(opened.error().message, HasSubstr("an older one was put back"));
  sql("journal.db.schedules",
      "ATTACH '" + old.string() + "' AS old; UPDATE seal_sum SET sum = (SELECT sum FROM old.seal_sum)");
  EXPECT_FALSE(ScheduleStore::open(place_, false)) << "with the older sum, because the other one changed too";
}

TEST_F(SealedStores, FlippedBitAnywhereInASealedValue_IsFound) {
  key('k');
  fill();
  const std::pair<const char*, const char*> values[] = {{"journal.db.files", "bytes FROM contents"},
                                                        {"journal.db.files", "path FROM changes"},
                                                        {"journal.db.files", "places FROM operations"},
                                                        {"journal.db.files", "wrapped FROM seal"},
                                                        {"journal.db.schedules", "prompt FROM schedules"},
                                                        {"prompts.db", "body FROM changes"},
                                                        {"memory.db", "value FROM notes"},
                                                        {"memory.db", "sum FROM seal_sum"}};
  for (const auto& [file, column] : values) {
    const fs::path path = state_ / file;
    std::string value;
    {
      auto database = Database::open(path, Database::Mode::kFileOnly);
      ASSERT_TRUE(database);
      const std::string select = std::string("SELECT ") + column;
      Query query(*database, select);
      ASSERT_TRUE(query.next().value_or(false)) << column;
      value = query.text(0);
    }
    const std::string bytes = bytes_of_file(path);
    const auto place = bytes.find(value);
    ASSERT_NE(place, std::string::npos) << column;
    for (std::size_t at = 0; at < value.size(); at += 23) {
      std::string changed = bytes;
      changed[place + at] = static_cast<char>(changed[place + at] ^ (1 << (at % 8)));
      std::ofstream(path, std::ios::binary) << changed;
      EXPECT_NE(read_all(), "") << column << " at " << at;
    }
    std::ofstream(path, std::ios::binary) << bytes;
  }
  EXPECT_EQ(read_all(), "");
}

// ---- changing keys

/// Whether the key opens each store, in their order.
std::vector<bool> opens_each(const Workspace& place, char byte) {
  std::vector<bool> opens;
  const AskStoreSecret ask = [byte]() -> Result<std::shared_ptr<const SealSecret>> {
    return std::make_shared<const SealSecret>(store_secret(byte));
  };
  for (const SealedStore& store : stores_of(place))
    opens.push_back(open_sqlite_file(store.path, *store.form, false, ask).has_value());
  return opens;
}

TEST_F(SealedStores, KillAtAnyStepOfSeal_LeavesOneStateOfEachStore) {
  fill();
  const fs::path plain = folder_ / "plain";
  fs::rename(state_, plain);
  for (int at = 0;; ++at) {
    fs::remove_all(state_);
    fs::copy(plain, state_);
    const bool killed = praxis::testing::killed_at(at, [&](const OnStoreSealStep& on_step) {
      return seal_stores(place_, store_secret('k'), {9}, on_step);
    });
    for (const StoreState& state : store_states(place_)) {
      ASSERT_TRUE(state.seal) << "step " << at << ": " << state.seal.error().message;
      key(*state.seal ? 'k' : '\0');
      const auto opened = open_sqlite_file(state.store.path, *state.store.form, false, seal_secret(place_));
      EXPECT_TRUE(opened) << "step " << at << ": " << opened.error().message;
    }
    const auto finished = seal_stores(place_, store_secret('k'), {10});
    ASSERT_TRUE(finished) << "step " << at << ": " << finished.error().message;
    key('k');
    EXPECT_EQ(read_all(), "") << "step " << at;
    EXPECT_EQ(telling(), std::vector<std::string>{}) << "step " << at;
    if (killed) continue;
    EXPECT_GT(at, 20);
    return;
  }
}

TEST_F(SealedStores, KillAtAnyStepOfNewKeyAndRekey_LeavesExactlyOneKey) {
  key('k');
  fill();
  for (int at = 0;
       praxis::testing::killed_at(at,
                                  [&](const OnStoreSealStep& on_step) {
                                    return renew_store_keys(place_, store_secret('k'), {9}, on_step);
                                  });
       ++at) {
    EXPECT_EQ(read_all(), "") << "step " << at;
  }
  for (int at = 0;; ++at) {
    const bool killed = praxis::testing::killed_at(at, [&](const OnStoreSealStep& on_step) {
      return rekey_stores(place_, store_secret('k'), store_secret('n'), on_step);
    });
    const auto old_key = opens_each(place_, 'k'), new_key = opens_each(place_, 'n');
    ASSERT_EQ(old_key.size(), 4U);
    for (std::size_t i = 0; i < old_key.size(); ++i) EXPECT_NE(old_key[i], new_key[i]) << "step " << at;
    if (!killed) break;
    ASSERT_TRUE(rekey_stores(place_, store_secret('k'), store_secret('n'))) << "given again";
    key('n');
    EXPECT_EQ(read_all(), "");
    ASSERT_TRUE(rekey_stores(place_, store_secret('n'), store_secret('k')));
  }
  key('n');
  EXPECT_EQ(read_all(), "");
}

// ---- what a sealed memory is

TEST_F(SealedStores, Memory_SeesWhatOtherConnectionsChange) {
  key('k');
  const auto one = open_memory(place_, MemoryUse::kCreate).value();
  const auto other = open_memory(place_, MemoryUse::kExisting).value();
  ASSERT_TRUE(one.database->write("c", "a", "red cheese"));
  EXPECT_EQ(other.database->search("cheese")->size(), 1U);
  ASSERT_TRUE(other.database->write("c", "a", "green cheese"));
  ASSERT_TRUE(one.database->write("c", "b", "blue cheese"));
  EXPECT_EQ(one.database->search("green")->size(), 1U);
  EXPECT_EQ(one.database->search("red")->size(), 0U);
  EXPECT_TRUE(*other.database->remove("c", "a"));
  EXPECT_FALSE(*one.database->read("c", "a"));
  EXPECT_EQ(one.database->query("c")->size(), 1U);
  EXPECT_EQ(one.database->collections()->front().notes, 1U);
}

TEST_F(SealedStores, Memory_KeepsVectorsSealed) {
  key('k');
  place_.config.settings["embedder"].value = "hashing";
  {
    const auto memory = open_memory(place_, MemoryUse::kCreate).value();
    ASSERT_TRUE(memory.database->write("c", "a", "The cat sat on the mat"));
    ASSERT_EQ(memory.database->search("cats")->size(), 1U);
  }
  key('x');
  key('k');
  const auto memory = open_memory(place_, MemoryUse::kExisting).value();
  EXPECT_EQ(memory.database->search("cats")->size(), 1U);
  EXPECT_TRUE(*memory.database->remove("c", "a"));
  EXPECT_EQ(memory.database->search("cats")->size(), 0U);
}

TEST_F(SealedStores, ForgottenRunsAndChangedSchedules_LeaveAWholeStore) {
  key('k');
  fill();
  {
    ASSERT_TRUE(open_file_history(place_, false).value()->forget({SessionId{"s0"}}));
    const auto schedules = ScheduleStore::open(place_, false).value();
    ASSERT_TRUE(schedules->remove("01FIRST"));
    ASSERT_TRUE(schedules->note("02SECOND", {5'000}));
  }
  const auto history = open_file_history(place_, false);
  ASSERT_TRUE(history) << history.error().message;
  EXPECT_EQ((*history)->sessions()->size(), 1U);
  const auto schedules = ScheduleStore::open(place_, false);
  ASSERT_TRUE(schedules) << schedules.error().message;
  ASSERT_EQ((*schedules)->list()->size(), 1U);
  EXPECT_EQ((*schedules)->list()->front().done.value, 5'000);
}

}  // namespace
}  // namespace praxis::app
