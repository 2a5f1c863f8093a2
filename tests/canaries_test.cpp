// Secrets in prompts, arguments, results, errors and file names do not leave the program where
// docs/secrets.md says so. Runs the real binary; server_test has the events of the server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "command_line.hpp"
#include "net/testing/test_server.hpp"
#include "redact/testing/canaries.hpp"

namespace praxis::testing {
namespace {

using redact::Canary;
using redact::escaped_from;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Canaries : public CommandLine {
 protected:
  Canaries() {
    for (const Canary& each : all_) {
      text_ += "plain " + each.secret + " url ?q=" + each.url + "& base64 " + each.base64 + " .\n";
      // A file name is part of a path: no slashes.
      if (files_.size() < 20 && !each.secret.contains('/')) files_.push_back("gone/" + each.secret + ".txt");
    }
  }

  static JsonObject call_of(std::string_view tool, JsonObject arguments) {
    return {{"name", tool}, {"arguments", std::move(arguments)}};
  }
  /// A run whose model writes the secrets in arguments, results, errors, names of files, and its answer.
  CommandResult leak(const std::string& policy, std::vector<std::string> options = {}) {
    JsonArray reads;
    for (const std::string& path : files_) reads.push_back(call_of("file_read", {{"path", path}}));
    const JsonObject storing{
        {"text", "Storing."},
        {"reasoning", text_},
        {"tool_calls", JsonArray{call_of("kv", {{"op", "put"}, {"key", "k"}, {"value", text_}}),
                                 call_of("kv", {{"op", text_}, {"key", "k"}})}}};
    const JsonObject reading{{"tool_calls", JsonArray{call_of("kv", {{"op", "get"}, {"key", "k"}})}}};
    file("leak.jsonl", to_json_text(storing) + '\n' + to_json_text(reading) + '\n' +
                           to_json_text(JsonObject{{"tool_calls", reads}}) + '\n' +
                           to_json_text(JsonObject{{"text", text_}}) + '\n');
    file("leak.toml",
         "model = \"script:leak.jsonl\"\n[tools.kv]\n[tools.file]\nread = [\".\"]\n[policy]\nallow = "
         "[\"kv\"]\n" +
             policy);
    std::vector<std::string> words{"run", "leak.toml", "Keep this: " + text_};
    words.insert(words.end(), options.begin(), options.end());
    CommandResult result = praxis(words);
    EXPECT_EQ(result.status, 0) << result.err;
    return result;
  }
  std::string exported(const std::string& format) const {
    const CommandResult result = praxis({"export", "last", "--format", format});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("file_read"));
    return result.out;
  }

  const std::vector<Canary> all_ = [] {
    static const std::vector<Canary> made = redact::canaries();
    return made;
  }();
  std::string text_;
  std::vector<std::string> files_;
};

TEST_F(Canaries, ExportsHoldNone) {
  leak("");
  for (const std::string format : {"json", "markdown", "html"}) {
    const std::string text = exported(format);
    EXPECT_THAT(escaped_from(text, all_), IsEmpty()) << format;
    EXPECT_THAT(text, HasSubstr("[REDACTED:")) << format;
  }
}

TEST_F(Canaries, RecordsOfARunAreExact) {
  leak("");
  EXPECT_EQ(escaped_from(exported("records"), all_).size(), all_.size());
  EXPECT_EQ(praxis({"replay", "last"}).status, 0);
}

TEST_F(Canaries, StandardErrorOfARunHoldsNone) {
  const CommandResult result = leak("", {"-v"});
  EXPECT_THAT(result.err, HasSubstr("file_read"));
  EXPECT_THAT(result.err, HasSubstr("[REDACTED:"));
  EXPECT_THAT(escaped_from(result.err, all_), IsEmpty());
  EXPECT_EQ(escaped_from(result.out, all_).size(), all_.size()) << "the answer is the user's own";
}

TEST_F(Canaries, ErrorsOfACommandHoldNone) {
  for (std::size_t i = 0; i < 10; ++i) {
    const JsonObject error{{"status", 400}, {"message", "wrong key " + all_.at(i * 9).secret}};
    file("bad.jsonl", to_json_text(JsonObject{{"error", error}}) + '\n');
    const CommandResult result = praxis({"run", "-q", "hi", "--model", "script:bad.jsonl"});
    EXPECT_NE(result.status, 0);
    EXPECT_THAT(result.err, HasSubstr("wrong key [REDACTED:")) << all_.at(i * 9).kind;
    EXPECT_THAT(escaped_from(result.err, all_), IsEmpty());
  }
}

TEST_F(Canaries, AgentFileMayTurnExportsOff) {
  leak("[policy.redact]\nexports = \"off\"\n");
  EXPECT_EQ(escaped_from(exported("json"), all_).size(), all_.size());
  file("config/praxis/config.toml", "[policy.redact]\nexports = \"balanced\"\n");
  EXPECT_THAT(escaped_from(exported("json"), all_), IsEmpty()) << "the configuration wins";
}

TEST_F(Canaries, ResultsHoldNoneWhereRulesSaySo) {
  file("data.txt", text_);
  file("read.jsonl",
       to_json_text(JsonObject{
           {"tool_calls", JsonArray{call_of("file_read", {{"op", "read"}, {"path", "data.txt"}})}}}) +
           "\n{\"text\": \"read\"}\n");
  const std::string agent = "model = \"script:read.jsonl\"\n[tools.file]\nread = [\".\"]\n";
  const auto recorded = [&](const std::string& policy) {
    file("read.toml", agent + policy);
    EXPECT_EQ(praxis({"run", "read.toml", "go"}).status, 0);
    EXPECT_EQ(praxis({"replay", "last"}).status, 0);
    return exported("records");
  };
  EXPECT_EQ(escaped_from(recorded(""), all_).size(), all_.size()) << "off by default";
  const std::string clean = recorded("[policy.redact]\nresults = \"balanced\"\n");
  EXPECT_THAT(escaped_from(clean, all_), IsEmpty());
  EXPECT_THAT(clean, HasSubstr("[REDACTED:"));
  file("config/praxis/config.toml", "[policy.redact]\nresults = \"balanced\"\n");
  EXPECT_THAT(escaped_from(recorded("[policy.redact]\nresults = \"off\"\n"), all_), IsEmpty())
      << "the configuration wins";
}

TEST_F(Canaries, PersonalDataStaysUnlessAsked) {
  text_ = "Write to jane@roe.io.";
  leak("");
  EXPECT_THAT(exported("markdown"), HasSubstr("jane@roe.io"));
  file("config/praxis/config.toml", "[policy.redact]\npersonal = true\n");
  EXPECT_THAT(exported("markdown"), Not(HasSubstr("jane@roe.io")));
}

TEST_F(Canaries, RecordingsHoldNoneEvenWhereAStreamCutsThem) {
  std::string stream;
  for (std::size_t at = 0; at < text_.size(); at += 7) {
    const JsonObject delta{{"content", text_.substr(at, 7)}};
    stream += "data: " +
              to_json_text(JsonObject{{"id", "r"},
                                      {"choices", JsonArray{JsonObject{{"index", 0}, {"delta", delta}}}}}) +
              "\n\n";
  }
  stream += R"(data: {"id":"r","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})"
            "\n\ndata: [DONE]\n\n";
  const TestServer server([&](const TestRequest&, TestConnection& to) {
    to.write(http_reply(200, stream, "Content-Type: text/event-stream\r\n"));
  });
  ProcessOptions options = options_;
  options.env["LLAMACPP_BASE_URL"] = server.url("/v1");
  const CommandResult live =
      praxis({"run", "Keep: " + text_, "--model", "llamacpp:demo-1", "--record", "tape"}, options);
  EXPECT_EQ(live.status, 0) << live.err;
  EXPECT_EQ(escaped_from(live.out, all_).size(), all_.size());
  const std::string recorded = contents("tape/exchanges.jsonl");
  EXPECT_THAT(recorded, HasSubstr("[REDACTED:"));
  EXPECT_THAT(escaped_from(recorded, all_), IsEmpty());
  const CommandResult played = praxis({"run", "Keep", "--model", "cassette:tape"});
  EXPECT_EQ(played.status, 0) << played.err;
  EXPECT_THAT(played.out, HasSubstr("[REDACTED:"));
}

TEST_F(Canaries, ReportsOfEvaluationsHoldNone) {
  std::string suite = "name = \"leaks\"\n[[variants]]\nmodel = \"script:answers.jsonl\"\n";
  std::string answers;
  for (std::size_t i = 0; i < 20; ++i) {
    const std::string name = "case " + std::to_string(i) + ".";
    suite += "[[cases]]\nid = \"" + std::to_string(i) + "\"\nprompt = \"" + name +
             "\"\nchecks = [{ exact = \"tea\" }]\n";
    answers += to_json_text(JsonObject{{"asked", name}, {"text", all_.at(i * 7).secret}}) + '\n';
  }
  file("answers.jsonl", answers);
  file("suite.toml", suite);
  const CommandResult json = praxis({"eval", "suite.toml", "--json"});
  EXPECT_THAT(json.out, HasSubstr("[REDACTED:"));
  EXPECT_THAT(escaped_from(json.out + json.err, all_), IsEmpty());
  const CommandResult text = praxis({"eval", "suite.toml", "--junit", "j.xml", "--html", "h.html"});
  for (const std::string& report : {text.out, text.err, contents("j.xml"), contents("h.html")})
    EXPECT_THAT(escaped_from(report, all_), IsEmpty());
  EXPECT_THAT(contents("j.xml"), HasSubstr("[REDACTED:"));
}

}  // namespace
}  // namespace praxis::testing
