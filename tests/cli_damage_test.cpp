// A journal that lost acknowledged records is never read as an older one: the commands refuse it, and
// `praxis doctor --accept-loss` repairs it. Runs the real binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int kPlaces = PRAXIS_SANITIZED ? 10 : 40;

class CliDamage : public CommandLine {
 protected:
  /// Kills a run of several calls, and copies its journal away.
  void SetUp() override {
    file("plan.toml",
         "id = \"p\"\n[tools.kv]\n" + put("a") + put("b") + put("c") + "[[plan]]\nsleep_ms = 60000\n");
    Process run(command({"run", "plan.toml", "go", "--json", "--journal", "j"}), options_);
    ASSERT_TRUE(run.prints("\"step\":4")) << run.errors;  // the pause is acknowledged
    run.signal(SIGKILL);
    run.finish();
    records_ = records();
    ASSERT_GE(records_, 10U);
    for (const char* part : kParts) fs::copy_file(path(part), folder_ / (std::string("kept") + part));
  }
  static std::string put(const std::string& key) {
    return "[[plan]]\ntool = \"kv\"\ninput = { op = \"put\", key = \"" + key + "\", value = \"1\" }\n";
  }
  std::size_t records() const {
    const CommandResult show = praxis({"show", "last", "--json", "--journal", "j"});
    return show.status == 0 ? show.items().size() : 0;
  }
  fs::path path(const std::string& part) const { return folder_ / ("j" + part); }
  void put_back() const {
    fs::remove(path("-shm"));
    for (const char* part : kParts)
      fs::copy_file(folder_ / (std::string("kept") + part), path(part), fs::copy_options::overwrite_existing);
  }
  void flip_in_log(int place) const {
    std::string log = contents("j-wal");
    log[log.size() * static_cast<std::size_t>(30 + 60 * place / kPlaces) / 100] ^= 4;
    file("j-wal", log);
  }

  static constexpr std::array kParts{"", "-wal", ".head"};
  std::size_t records_ = 0;
};

TEST_F(CliDamage, FlippedBitInTheLogIsRefusedByEveryCommand) {
  for (int place = 0; place < kPlaces; ++place) {
    SCOPED_TRACE(place);
    put_back();
    flip_in_log(place);
    for (const std::string text : {"show last", "replay last", "runs", "resume last", "run plan.toml go"}) {
      const CommandResult result = shell("praxis " + text + " --journal j");
      EXPECT_EQ(result.status, 1) << text << ": " << result.out << result.err;
      EXPECT_THAT(result.err, HasSubstr("lost its end: record ")) << text;
    }
    const CommandResult doctor = praxis({"doctor", "--journal", "j"});
    EXPECT_EQ(doctor.status, 2) << doctor.out;
    EXPECT_THAT(doctor.out, HasSubstr("lost its end: record "));
  }
}

TEST_F(CliDamage, AcceptedLossIsNamedAndLeavesACopy) {
  flip_in_log(kPlaces / 2);
  const std::string damaged = contents("j-wal");
  const CommandResult unsure = praxis({"doctor", "--accept-loss", "--journal", "j"});
  EXPECT_EQ(unsure.status, 2) << unsure.err;
  EXPECT_THAT(unsure.err, HasSubstr("--yes"));
  EXPECT_TRUE(contents("j-wal") == damaged);

  const CommandResult sure = praxis({"doctor", "--accept-loss", "--yes", "--journal", "j"});
  EXPECT_EQ(sure.status, 0) << sure.err;
  EXPECT_THAT(sure.err, HasSubstr("lost records "));
  EXPECT_TRUE(contents("j.damaged-1-wal") == damaged);
  EXPECT_LT(records(), records_);
  EXPECT_GT(records(), 0U);
  EXPECT_EQ(praxis({"doctor", "--journal", "j"}).status, 0);
  EXPECT_THAT(praxis({"doctor", "--accept-loss", "--journal", "j"}).out, HasSubstr("has lost nothing"));
}

TEST_F(CliDamage, HeadKeptElsewhereShowsAnOlderCopyOfTheWhole) {
  file("agent.toml", "id = \"a\"\nmodel = \"script:a.jsonl\"\n");
  file("a.jsonl", "{\"text\":\"hi\"}\n");
  const CommandResult before = praxis({"doctor", "--head", "--journal", "j"});
  ASSERT_EQ(before.status, 0) << before.err;
  EXPECT_EQ(praxis({"run", "agent.toml", "go", "--journal", "j"}).status, 0);
  const CommandResult after = praxis({"doctor", "--journal", "j", "--head"});
  for (const CommandResult& head : {before, after})
    EXPECT_EQ(praxis({"doctor", "--head", head.out, "--journal", "j"}).status, 0);
  put_back();
  EXPECT_EQ(praxis({"doctor", "--head", before.out, "--journal", "j"}).status, 0);
  const CommandResult older = praxis({"doctor", "--head", after.out, "--journal", "j"});
  EXPECT_EQ(older.status, 1);
  EXPECT_THAT(older.err, HasSubstr("lost its end"));
  EXPECT_EQ(praxis({"doctor", "--head", "nonsense", "--journal", "j"}).status, 2);
}

}  // namespace
}  // namespace praxis::testing
