// `praxis journal backup`: copies of a journal and its stores, made while runs work, from which all
// continues.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CliBackup : public CommandLine {
 protected:
  CliBackup() {
    fs::create_directory(folder_ / "ws");
    file("ws/a.txt", "one\ntwo\n");
    file("coder.toml",
         "model = \"script:coder.jsonl\"\n[tools.file]\nread = [\"ws\"]\nwrite = [\"ws\"]\ncode = true\n");
    file("coder.jsonl",
         "{\"tool_calls\": [{\"name\": \"edit\", \"arguments\": {\"path\": \"a.txt\", \"edits\": [{\"old\": "
         "\"two\", \"replacement\": \"zwei\"}]}}]}\n{\"text\": \"Done.\"}\n{\"text\": \"And on.\"}\n");
    file("config/praxis/agents/early.toml", "model = \"script:brief.jsonl\"\n");
    file("brief.toml", "model = \"script:brief.jsonl\"\n");
    file("brief.jsonl", "{\"text\": \"Hello.\"}\n");
    file("p.txt", "A prompt");
  }

  void expect_done(const std::vector<std::string>& words) const {
    const auto done = praxis(words);
    EXPECT_EQ(done.status, 0) << words[0] << ": " << done.err;
  }
  /// Something in each store.
  void fill() const {
    expect_done({"run", "coder.toml", "Translate"});
    expect_done({"memory", "add", "Green tea.", "--key", "drink"});
    expect_done({"prompts", "put", "greeting", "p.txt"});
    expect_done({"schedule", "add", "0 6 * * *", "early", "Early"});
  }
  std::vector<std::string> in_folder() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename());
    return names;
  }
};

TEST_F(CliBackup, Copies_TakeThePlaceOfWhatWasLost) {
  fill();
  const auto made = praxis({"journal", "backup", "--to", "copy", "--json"});
  ASSERT_EQ(made.status, 0) << made.err;
  const Json result = made.last_line();
  EXPECT_EQ(result.as_object().at("backup").as_array().size(), 5U) << made.out;
  expect_done({"run", "brief.toml", "After the backup"});

  fs::rename(folder_ / "state/praxis", folder_ / "lost");
  fs::copy(folder_ / "copy", folder_ / "state/praxis");
  EXPECT_EQ(praxis({"doctor", "--head", json_string(result, "head")}).status, 0);
  EXPECT_EQ(praxis({"replay", "last"}).status, 0);
  EXPECT_THAT(praxis({"diff", "last"}).out, HasSubstr(" one\n-two\n+zwei"));
  EXPECT_THAT(praxis({"memory", "search", "tea"}).out, HasSubstr("Green tea."));
  EXPECT_THAT(praxis({"prompts", "show", "greeting"}).out, HasSubstr("A prompt"));
  EXPECT_THAT(praxis({"schedule", "list"}).out, HasSubstr("Early"));
  const auto continued = praxis({"resume", "last", "Go on"});
  EXPECT_EQ(continued.status, 0) << continued.err;
  EXPECT_THAT(continued.out, HasSubstr("And on."));
}

TEST_F(CliBackup, RunsThatWrite_GoOn_AndEachCopyIsWhole) {
  expect_done({"run", "brief.toml", "The first"});
  std::atomic<bool> enough = false;
  std::atomic<int> runs = 0, failures = 0;
  std::thread writer([&] {
    while (!enough) {
      if (praxis({"run", "brief.toml", "Again"}).status != 0) ++failures;
      ++runs;
    }
  });
  for (int round = 0; round < 6; ++round) {
    const std::string copy = "copy" + std::to_string(round);
    const int before = runs;
    const auto made = praxis({"journal", "backup", "--to", copy});
    EXPECT_EQ(made.status, 0) << made.err;
    const auto shown = praxis({"runs", "--json", "-n", "10000", "--journal", copy + "/journal.db"});
    EXPECT_EQ(shown.status, 0) << shown.err;
    EXPECT_GE(shown.items().size(), static_cast<std::size_t>(before + 1));
    EXPECT_EQ(praxis({"replay", "last", "--journal", copy + "/journal.db"}).status, 0);
  }
  enough = true;
  writer.join();
  EXPECT_EQ(failures, 0);
  EXPECT_GT(runs, 0);
}

TEST_F(CliBackup, WhatCannotBeCopied_LeavesNothing) {
  fill();
  fs::create_directory(folder_ / "taken");
  const auto exists = praxis({"journal", "backup", "--to", "taken"});
  EXPECT_EQ(exists.status, 2);
  EXPECT_THAT(exists.err, AllOf(HasSubstr("taken exists"), HasSubstr("name another one")));
  EXPECT_EQ(praxis({"journal", "backup"}).status, 2);
  EXPECT_EQ(praxis({"journal", "backup", "--to", "no/where"}).status, 2);
  const auto remote =
      praxis({"journal", "backup", "--to", "copy", "--journal", "postgres://praxis@127.0.0.1:1/praxis"});
  EXPECT_EQ(remote.status, 2);
  EXPECT_THAT(remote.err, HasSubstr("pg_dump"));

  fs::rename(folder_ / "state/praxis/memory.db", folder_ / "memory.db");
  const std::string memory = contents("memory.db");
  file("state/praxis/memory.db", memory.substr(0, 4096) + std::string(memory.size() - 4096, 'x'));
  const auto damaged = praxis({"journal", "backup", "--to", "copy"});
  EXPECT_EQ(damaged.status, 1);
  EXPECT_THAT(damaged.err, AllOf(HasSubstr("memory"), HasSubstr("damaged")));
  for (const std::string& name : in_folder()) EXPECT_FALSE(name.starts_with("copy")) << name;
}

TEST_F(CliBackup, SealedFiles_StaySealed) {
  fs::permissions(file("one.key", std::string(64, '6')), fs::perms(0600));
  options_.env["PRAXIS_ENCRYPTION_JOURNAL_KEY"] = "file:one.key";
  fill();
  expect_done({"journal", "backup", "--to", "copy"});
  for (const auto& entry : fs::directory_iterator(folder_ / "copy")) {
    const std::string bytes = contents("copy/" + entry.path().filename().string());
    for (const char* told : {"Translate", "Green tea", "A prompt", "Early"})
      EXPECT_EQ(bytes.find(told), std::string::npos) << entry.path() << " has " << told;
    EXPECT_EQ(entry.status().permissions(), fs::perms(0600)) << entry.path();
  }
  EXPECT_EQ(praxis({"replay", "last", "--journal", "copy/journal.db"}).status, 0);
}

}  // namespace
}  // namespace praxis::testing
