// Files at the boundary: images and files that come with a message, and changes of files that are taken back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/base64.hpp"
#include "praxis/journal/journal.hpp"
#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using namespace std::string_view_literals;
using testing::Answer;
using ::testing::HasSubstr;
using testing::kAnna;
using testing::ServerTest;

constexpr std::string_view kPictureBytes = "\x89PNG\r\n\x1a\nimage"sv;

std::string picture_url(std::string_view type, std::string_view bytes) {
  return "data:" + std::string(type) + ";base64," + base64_encode(bytes);
}
JsonArray only_attachment(const Json& attachment) { return JsonArray{attachment}; }

// ---- with a message

class ServedAttachments : public ServerTest {
 protected:
  ServedAttachments() { script("chat", "{\"text\":\"One.\"}\n{\"text\":\"Two.\"}"); }
  Answer send(const std::string& run, const Json& attachments) const {
    return call("POST", "/api/v1/runs/" + run + "/messages",
                to_json_text(JsonObject{{"prompt", "Look."}, {"attachments", attachments}}));
  }
  std::string records(const std::string& run) const {
    return call("GET", "/api/v1/runs/" + run + "/records").body;
  }
};

TEST_F(ServedAttachments, ImageComesBeforeThePromptInANewRunAndInOneThatExists) {
  start();
  const JsonArray image =
      only_attachment(JsonObject{{"url", picture_url("image/png", kPictureBytes)}, {"name", "a.png"}});
  const Answer made =
      call("POST", "/api/v1/runs",
           to_json_text(JsonObject{{"agent", "chat"}, {"prompt", "See."}, {"attachments", image}}));
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string run = made.text("id");
  wait_for(run, "completed");
  const std::string part =
      R"({"type":"image","mime":"image/png","data":")" + base64_encode(kPictureBytes) + "\"}";
  EXPECT_THAT(records(run), HasSubstr(part + R"(,{"type":"text","text":"See."})"));
  ASSERT_EQ(send(run, image).status, 202);
  wait_for(run, "completed");
  EXPECT_THAT(records(run), HasSubstr(part + R"(,{"type":"text","text":"Look."})"));
}

TEST_F(ServedAttachments, TextOfAFileComesUnderItsName) {
  start();
  const std::string run = create("chat");
  wait_for(run, "completed");
  ASSERT_EQ(send(run, only_attachment(
                          JsonObject{{"url", picture_url("text/plain", "what it says")}, {"name", "n.txt"}}))
                .status,
            202);
  wait_for(run, "completed");
  EXPECT_THAT(records(run), HasSubstr(R"(File \"n.txt\":\nwhat it says)"));
}

TEST_F(ServedAttachments, WrongOnesAreNamedAndBeginNothing) {
  start();
  const std::string run = create("chat");
  wait_for(run, "completed");
  const std::string before = records(run);
  JsonArray many;
  for (int i = 0; i < 21; ++i) many.push_back(JsonObject{{"url", picture_url("image/png", kPictureBytes)}});
  for (const Json& wrong :
       {Json("a.png"), Json(only_attachment("a.png")),
        Json(only_attachment(JsonObject{{"path", "/etc/passwd"}})),
        Json(only_attachment(JsonObject{{"url", "/etc/passwd"}})),
        Json(only_attachment(JsonObject{{"url", "file:///etc/passwd"}})),
        Json(only_attachment(JsonObject{{"url", picture_url("image/png", "\x01\x00"sv)}})), Json(many)}) {
    const Answer refused = send(run, wrong);
    EXPECT_EQ(refused.status, 400) << refused.body;
    EXPECT_EQ(refused.text("field"), "attachments") << refused.body;
  }
  EXPECT_EQ(records(run), before);
  ASSERT_EQ(send(run, nullptr).status, 202) << "absent and null are the same";
  wait_for(run, "completed");
}

// ---- taken back

class ServedUndo : public ServerTest {
 protected:
  /// The agent `writes`: each turn writes `notes.txt` again, then `more.txt`.
  ServedUndo() {
    std::ofstream(notes_) << "one\n";
    script("writes", write(notes_, "two\n") + write(more_, "x\n") + "{\"text\":\"Once.\"}\n" +
                         write(notes_, "three\n") + "{\"text\":\"Twice.\"}");
    agent("writes",
          "[tools.file]\nwrite = [\"" + folder_.string() + "\"]\n[policy]\nallow = [\"file_write\"]\n");
  }
  static std::string write(const std::string& file, const std::string& content) {
    const JsonObject change{{"path", file}, {"content", content}};
    return to_json_text(JsonObject{
               {"tool_calls", JsonArray{JsonObject{{"name", "file_write"}, {"arguments", change}}}}}) +
           '\n';
  }
  /// A run with two turns.
  std::string written() const {
    const std::string run = create("writes");
    wait_for(run, "completed");
    EXPECT_EQ(call("POST", "/api/v1/runs/" + run + "/messages", R"({"prompt":"again"})").status, 202);
    wait_for(run, "completed");
    EXPECT_EQ(contents(notes_), "three\n");
    return run;
  }
  Answer undo(const std::string& run, const std::string& body = {},
              std::string_view token = testing::kOwner) {
    return call("POST", "/api/v1/runs/" + run + "/undo", body, token);
  }
  static std::string contents(const std::string& name) {
    std::ifstream file(name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// `path action verdict` of each file.
  static std::vector<std::string> files(const Answer& answer) {
    std::vector<std::string> all;
    for (const Json& file : json_at(answer.json, "files").as_array())
      all.push_back(std::filesystem::path(json_string(file, "path")).filename().string() + ' ' +
                    json_string(file, "action") + ' ' + json_string(file, "verdict"));
    return all;
  }

  const std::string notes_ = (folder_ / "notes.txt").string(), more_ = (folder_ / "more.txt").string();
};

using ::testing::ElementsAre;

TEST_F(ServedUndo, DryRunSaysWhatWouldChangeAndChangesNothing) {
  start();
  const std::string run = written();
  const Answer plan = undo(run, R"({"dry_run":true})");
  ASSERT_EQ(plan.status, 200) << plan.body;
  EXPECT_THAT(files(plan), ElementsAre("more.txt remove restore", "notes.txt restore restore"));
  EXPECT_EQ(json_int(plan.json, "changed"), 2);
  EXPECT_EQ(contents(notes_), "three\n");
}

TEST_F(ServedUndo, FilesGoBackToBeforeATurnThenToBeforeTheRunAndForwardAgain) {
  start();
  const std::string run = written();
  EXPECT_THAT(files(undo(run, R"({"turn":"t2"})")), ElementsAre("notes.txt restore restore"));
  EXPECT_EQ(contents(notes_), "two\n");
  EXPECT_EQ(json_int(undo(run, R"({"redo":true})").json, "changed"), 1);
  EXPECT_EQ(contents(notes_), "three\n");
  EXPECT_EQ(json_int(undo(run).json, "changed"), 2);
  EXPECT_EQ(contents(notes_), "one\n");
  EXPECT_FALSE(std::filesystem::exists(more_));
  EXPECT_EQ(call("POST", "/api/v1/runs/" + run + "/messages", R"({"prompt":"more"})").status, 202)
      << "the run is free again";
}

TEST_F(ServedUndo, FileThatOthersChangedStaysAndIsAConflict) {
  start();
  const std::string run = written();
  std::ofstream(notes_) << "mine\n";
  const Answer done = undo(run);
  EXPECT_THAT(files(done), ElementsAre("more.txt remove restore", "notes.txt restore changed_since"));
  EXPECT_EQ(json_int(done.json, "conflicts"), 1);
  EXPECT_EQ(contents(notes_), "mine\n");
  EXPECT_FALSE(std::filesystem::exists(more_));
}

TEST_F(ServedUndo, RunThatWorksIsRefusedAndNothingChanges) {
  script("asks", write(notes_, "two\n") + R"({"tool_calls":[{"name":"kv","arguments":{"op":"list"}}]})");
  agent("asks", "[tools.kv]\n[tools.file]\nwrite = [\"" + folder_.string() +
                    "\"]\n[policy]\nallow = [\"file_write\"]\nask = [\"kv\"]\n");
  start();
  const std::string run = create("asks");
  wait_for(run, "awaiting_user");
  const Answer refused = undo(run);
  EXPECT_EQ(refused.status, 409) << refused.body;
  EXPECT_THAT(refused.text("detail"), HasSubstr("interrupt it before you take its files back"));
  EXPECT_EQ(contents(notes_), "two\n");
  EXPECT_THAT(files(undo(run, R"({"dry_run":true})")), ElementsAre("notes.txt restore restore"));
}

TEST_F(ServedUndo, RunThatAnotherProcessHasOpenIsRefused) {
  start();
  const std::string run = written();
  const auto other = sqlite_journal((folder_ / "runs.db").string());
  ASSERT_TRUE(other) << other.error().message;
  auto lease = (*other)->acquire(SessionId(run));
  // The server closes a run some time after its turn has ended.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!lease && std::chrono::steady_clock::now() < until) lease = (*other)->acquire(SessionId(run));
  ASSERT_TRUE(lease) << lease.error().message;
  const Answer refused = undo(run);
  EXPECT_EQ(refused.status, 409) << refused.body;
  EXPECT_EQ(contents(notes_), "three\n");
  (*other)->release(*lease);
  EXPECT_EQ(undo(run).status, 200);
  EXPECT_EQ(contents(notes_), "one\n");
}

TEST_F(ServedUndo, WrongRequestsAreNamed) {
  start();
  const std::string run = written();
  EXPECT_EQ(undo(run, R"({"turn":"t9"})").text("field"), "turn");
  EXPECT_EQ(undo(run, R"({"after":-1})").text("field"), "after");
  EXPECT_EQ(undo(run, R"({"after":2,"turn":"t1"})").text("field"), "after");
  EXPECT_EQ(undo(run, R"({"redo":true,"turn":"t1"})").text("field"), "redo");
  EXPECT_EQ(undo(run, R"({"redo":1})").text("field"), "redo");
  EXPECT_EQ(undo(run, R"({"redo":true})").status, 400) << "there is no undo to take back";
  EXPECT_EQ(undo("nothing-like-it").status, 404);
  EXPECT_EQ(undo(run, "", kAnna).status, 404);
  EXPECT_EQ(contents(notes_), "three\n");
}

TEST_F(ServedUndo, TokenThatSeesItsOwnRunsOnlyChangesNoFiles) {
  start();
  const std::string own = create("writes", kAnna);
  wait_for(own, "completed");
  EXPECT_EQ(undo(own, "", kAnna).status, 403);
  EXPECT_EQ(contents(notes_), "two\n");
}

}  // namespace
}  // namespace praxis::server
