// Journal and memory are two files: kills a process between their commits, and around them. The key of the
// effect makes the change once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "crash_rig.hpp"
#include "praxis/memory/stores.hpp"

namespace praxis::testing {
namespace {

using ::testing::UnorderedElementsAre;

MemoryClients memory_of(const Rig& rig) { return sqlite_memory(rig.journal() + ".memory").value(); }

std::vector<std::string> texts_in(const MemoryClients& memory) {
  std::vector<std::string> texts;
  const auto notes = memory.database->query("notes");
  for (const Note& note : notes.value()) texts.push_back(json_string(note.value, "text"));
  return texts;
}

/// The results of the tool calls in the log, each once.
std::size_t settled_calls(const Rig& rig) {
  std::size_t count = 0;
  for (const auto& [id, effect] : effects_of(rig.records())) {
    EXPECT_TRUE(effect.ok && !effect.doubted) << effect.key << ": a call in doubt is made again, not parked";
    ++count;
  }
  return count;
}

/// The text of the only settled call of the tool.
std::string result_of(const Rig& rig) {
  std::string text;
  for (const StoredRecord& stored : rig.records()) {
    const auto* settled = std::get_if<records::EffectSettled>(&stored.record.body);
    if (settled == nullptr) continue;
    if (const auto* outcome = std::get_if<ToolOutcome>(&settled->result)) text += outcome->result.text;
  }
  return text;
}

TEST(MemoryCrash, KillAroundAWrite_NeitherLosesNorDoubles) {
  for (const char* where : {"after_intent", "inside", "acted", "unrecorded", "recorded"}) {
    for (const int n : {1, 2}) {
      const Point point{"remember", where, n};
      SCOPED_TRACE(point.text());
      Rig rig("memory", "tell");
      ASSERT_TRUE(rig.run(point)) << "the run never reached the point";
      ASSERT_FALSE(rig.run({}));
      EXPECT_THAT(texts_in(memory_of(rig)), UnorderedElementsAre("one", "two"));
      EXPECT_EQ(settled_calls(rig), 2U);
    }
  }
}

TEST(MemoryCrash, KillBetweenTheCommits_DoesNotUndoWhatOthersWroteSince) {
  Rig rig("memory", "tell");
  ASSERT_TRUE(rig.run({"remember", "acted", 2}));
  {
    const auto memory = memory_of(rig);
    ASSERT_THAT(texts_in(memory), UnorderedElementsAre("one", "two")) << "the memory has committed";
    ASSERT_TRUE(memory.database->write("notes", "k", {{"text", "newer"}}));
  }
  ASSERT_FALSE(rig.run({}));
  EXPECT_THAT(texts_in(memory_of(rig)), UnorderedElementsAre("one", "newer"));
}

TEST(MemoryCrash, KillAroundForgetting_LeavesNothingOfTheNote) {
  const std::string canary = "canary8812";
  for (const char* where : {"inside", "acted", "unrecorded"}) {
    SCOPED_TRACE(where);
    Rig rig("memory_forget", "tell");
    ASSERT_TRUE(memory_of(rig).database->write("notes", "k", {{"text", canary}}));
    ASSERT_TRUE(rig.run({"forget", where, 1}));
    ASSERT_FALSE(rig.run({}));
    EXPECT_EQ(settled_calls(rig), 1U);
    EXPECT_EQ(result_of(rig), "forgotten: \"k\"") << "a retry answers as the call that was cut off";
    for (const char* part : {"", "-wal"}) {
      const std::string file = rig.journal() + ".memory" + part;
      EXPECT_EQ(file_bytes(file).find(canary), std::string::npos) << file;
    }
  }
}

}  // namespace
}  // namespace praxis::testing
