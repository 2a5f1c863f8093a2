#include "models/recording/cassette.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "models/recording/recorder.hpp"
#include "praxis/models/catalog.hpp"

namespace praxis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

namespace fs = std::filesystem;

constexpr const char* kKey = "sk-very-secret";

std::string answer(const std::string& text) {
  return R"(data: {"id":"r","model":"m","choices":[{"index":0,"delta":{"content":")" + text +
         "\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],"
         "\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n";
}

/// A fake server that returns its replies in order.
class Replies final : public HttpClient {
 public:
  struct Reply {
    int status = 200;
    std::string body;
    HttpHeaders headers = {{"content-type", "text/event-stream"}};
  };
  explicit Replies(std::vector<Reply> replies) : replies_(std::move(replies)) {}

  void send(HttpRequest, std::shared_ptr<HttpSink> sink, std::stop_token) override {
    const Reply reply = next_ < replies_.size() ? replies_[next_] : Reply{.status = 0, .body = ""};
    ++next_;
    if (reply.status == 0) {
      return sink->on_done(fail(ErrorCode::kModel, ErrorKind::kClosed, "gone", true));
    }
    sink->on_head({reply.status, reply.headers});
    for (const char c : reply.body) sink->on_body(std::string_view(&c, 1));
    sink->on_done({});
  }

 private:
  const std::vector<Reply> replies_;
  std::size_t next_ = 0;
};

class CassetteTest : public testing::Test {
 protected:
  CassetteTest() {
    std::string name = (fs::temp_directory_path() / "praxis_cassette_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    root_ = name;
    folder_ = root_ / "deep" / "weather";
  }
  ~CassetteTest() override { fs::remove_all(root_); }

  ModelServices services(std::shared_ptr<HttpClient> http, bool record) const {
    return {.http = std::move(http),
            .executor = executor_,
            .env = [](const std::string& name) { return std::string(name == "LOCAL_KEY" ? kKey : ""); },
            .catalog = chat_catalog(),
            .record_to = record ? folder_.string() : ""};
  }

  /// Provider `local` speaks the chat protocol and uses the key above.
  static std::shared_ptr<const Catalog> chat_catalog() {
    const Json local =
        parse_json(R"({"api": "chat", "base_url": "http://localhost:1/v1", "key_env": ["LOCAL_KEY"]})")
            .value();
    return catalog_with(JsonObject{{"providers", JsonObject{{"local", local}}}}).value();
  }

  /// Makes calls in order, like a session, and records them.
  void record(std::vector<Replies::Reply> replies) {
    const std::size_t calls = replies.size();
    const auto model =
        make_model("local:m", services(std::make_shared<Replies>(std::move(replies)), true)).value();
    for (std::size_t i = 0; i < calls; ++i) (void)complete(*model, call(i));
  }

  static ModelRequest call(std::size_t ordinal) {
    std::vector<Message> messages{text_message(Role::kUser, "Question 0")};
    for (std::size_t i = 1; i <= ordinal; ++i) {
      messages.push_back(text_message(Role::kAssistant, "Answer"));
      messages.push_back(text_message(Role::kUser, "Question " + std::to_string(i)));
    }
    ModelRequest request;
    request.history = normalise(messages).history;
    request.ordinal = ordinal;
    return request;
  }

  Result<ModelResponse> play(const ModelRequest& request, const std::string& provider = "cassette") const {
    const auto model = make_model(provider + ':' + folder_.string(), services(nullptr, false));
    return model ? complete(**model, request) : fail(model.error());
  }
  static std::string text(const Result<ModelResponse>& response) {
    return response ? std::get<TextPart>(response->parts.at(0)).text : response.error().message;
  }

  std::string file() const {
    std::ifstream in(folder_ / kExchangesFile, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::vector<Json> lines() const {
    std::vector<Json> out;
    std::istringstream in(file());
    for (std::string line; std::getline(in, line);) out.push_back(parse_json(line).value());
    return out;
  }
  void write(const std::string& lines) const {
    fs::create_directories(folder_);
    std::ofstream(folder_ / kExchangesFile, std::ios::binary) << lines;
  }

  const std::shared_ptr<Executor> executor_ = make_executor();
  fs::path root_, folder_;
};

TEST_F(CassetteTest, RecordedAnswers_AreReplayed) {
  record({{.body = answer("one")}, {.body = answer("two")}});
  const auto second = play(call(1));
  EXPECT_EQ(text(second), "two");
  EXPECT_EQ(second->usage, (Usage{.input = 7, .output = 2}));
  EXPECT_EQ(text(play(call(0))), "one");
}

TEST_F(CassetteTest, RecordedLine_HoldsTheWholeExchange) {
  record(
      {{.body = answer("Grüße")}, {.status = 400, .body = R"({"error":{"message":"no"}})", .headers = {}}});
  const std::vector<Json> exchanges = lines();
  ASSERT_THAT(exchanges, SizeIs(2));
  EXPECT_EQ(json_int(exchanges[1], "i"), 1);
  const Json& request = json_at(exchanges[0], "request");
  EXPECT_EQ(json_text(request, "method"), "POST");
  EXPECT_EQ(json_text(request, "url"), "http://localhost:1/v1/chat/completions");
  EXPECT_EQ(json_text(json_at(request, "headers"), "content-type"), "application/json");
  EXPECT_EQ(json_text(json_at(request, "body"), "model"), "m");
  const Json& response = json_at(exchanges[0], "response");
  EXPECT_EQ(json_int(response, "status"), 200);
  EXPECT_EQ(json_text(response, "kind"), "sse");
  EXPECT_EQ(json_text(response, "body"), answer("Grüße"));
  EXPECT_EQ(json_text(json_at(exchanges[1], "response"), "kind"), "json");
}

TEST_F(CassetteTest, File_IsReadableByTheUserOnly) {
  record({{.body = answer("one")}});
  struct stat info{};
  ASSERT_EQ(stat((folder_ / kExchangesFile).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(CassetteTest, Secrets_AreNotRecorded) {
  const auto http = std::make_shared<Replies>(std::vector<Replies::Reply>{
      {.body = std::string("you are ") + kKey + " of org-AbCdEfGhIjKlMnOpQr, see org-chart",
       .headers = {{"Set-Cookie", "session=1"}, {"OpenAI-Organization", "us"}, {"x-request-id", "r1"}}}});
  const auto client = recording_client(http, folder_.string(), {{kKey}, {"X-Own"}}).value();
  HttpRequest request;
  request.method = "POST";
  request.url = std::string("http://localhost/x?alt=sse&key=abc&v=") + kKey;
  request.headers = {{"Authorization", "Bearer zzz"}, {"x-api-key", "zzz"}, {"x-own", kKey}};
  request.body = std::make_shared<const std::string>(std::string("{\"a\":\"") + kKey + "\"}");
  ASSERT_TRUE(http_fetch(*client, std::move(request)));
  const std::string recorded = file();
  for (const char* secret : {kKey, "zzz", "session", "\"us\"", "abc", "AbCdEf"}) {
    EXPECT_THAT(recorded, Not(HasSubstr(secret)));
  }
  EXPECT_THAT(recorded, HasSubstr("x?alt=sse&key=[key]&v=[key]"));
  EXPECT_THAT(recorded, HasSubstr("you are [key] of org-[id], see org-chart"));
  EXPECT_THAT(recorded, HasSubstr("x-request-id"));
}

TEST_F(CassetteTest, HeadersOfTheConfiguration_AreNotRecorded) {
  const Json house = parse_json(R"({"api": "chat", "base_url": "http://localhost:1/v1", "auth": "X-House",
      "key_env": ["LOCAL_KEY"], "headers": {"Helicone-Auth": "{LOCAL_KEY}", "X-Extra": "plain-extra"}})")
                         .value();
  ModelServices with =
      services(std::make_shared<Replies>(std::vector<Replies::Reply>{
                   {.body = answer("one"), .headers = {{"X-CSRF", "c1"}, {"x-kept", "k1"}}}}),
               true);
  with.catalog = catalog_with(JsonObject{{"providers", JsonObject{{"house", house}}}}).value();
  ASSERT_TRUE(complete(*make_model("house:m", with).value(), call(0)));
  const Json exchange = lines().at(0);
  const Json& headers = json_at(json_at(exchange, "request"), "headers");
  for (const char* name : {"x-house", "helicone-auth", "x-extra"})
    EXPECT_TRUE(json_at(headers, name).is_null()) << name;
  EXPECT_EQ(json_text(headers, "accept"), "text/event-stream");
  EXPECT_THAT(file(), Not(HasSubstr("plain-extra")));
  const Json& answered = json_at(json_at(exchange, "response"), "headers");
  EXPECT_TRUE(json_at(answered, "x-csrf").is_null());
  EXPECT_EQ(json_text(answered, "x-kept"), "k1");
}

TEST_F(CassetteTest, HeadersWithPrivateNames_AreNotRecorded) {
  const auto http = std::make_shared<Replies>(std::vector<Replies::Reply>{{.body = "{}"}});
  const auto client = recording_client(http, folder_.string(), {}).value();
  HttpRequest request;
  request.method = "POST";
  request.url = "http://localhost/x?api%5Fkey=q1&X-Amz-Signature=q2&a=1;sig=q3&max-tokens=9";
  for (const char* name : {"AUTHORIZATION", "x-litellm-key", "x-password", "x-credential", "x-vault",
                           "x-signature", "x-csrf", "X-User-Id", "ocp-apim-subscription-key", "X-Auth-Token",
                           "Proxy-Authorization", "x-goog-api-key", "X_Session"})
    request.headers.emplace_back(name, "hidden-value");
  request.headers.emplace_back("user-agent", "kept-agent");
  request.headers.emplace_back("x-ratelimit-tokens", "kept-tokens");
  ASSERT_TRUE(http_fetch(*client, std::move(request)));
  EXPECT_THAT(file(), Not(HasSubstr("hidden-value")));
  EXPECT_THAT(file(), HasSubstr("x?api%5Fkey=[key]&X-Amz-Signature=[key]&a=1;sig=[key]&max-tokens=9"));
  EXPECT_THAT(file(), HasSubstr("kept-agent"));
  EXPECT_THAT(file(), HasSubstr("kept-tokens"));
}

TEST_F(CassetteTest, KeyInPieces_IsNotRecorded) {
  std::string body;
  for (const char* piece : {"it is sk-v", "ery-se", "cret, I ", "think"})
    body += std::string("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"") + piece + "\"}}]}\n\n";
  body += answer(".");
  record({{.body = body}});
  EXPECT_THAT(file(), Not(HasSubstr("ery-se")));
  EXPECT_EQ(text(play(call(0))), "it is [key], I think.");
}

TEST_F(CassetteTest, FolderAndFile_AreTheUsersUnderAnyUmask) {
  const mode_t before = umask(0);
  record({{.body = answer("one")}});
  umask(before);
  struct stat info{};
  for (const fs::path& folder : {folder_, folder_.parent_path()}) {
    ASSERT_EQ(stat(folder.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0700U) << folder;
  }
  ASSERT_EQ(stat((folder_ / kExchangesFile).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600U);
}

TEST_F(CassetteTest, LinkOrFifoInPlaceOfTheFile_IsRefused) {
  fs::create_directories(folder_);
  const auto mistake = [&] {
    const auto client = recording_client(nullptr, folder_.string(), {});
    return client ? "" : client.error().message;
  };
  fs::create_symlink(root_ / "elsewhere", folder_ / kExchangesFile);
  EXPECT_THAT(mistake(), HasSubstr("it is a symbolic link"));
  EXPECT_FALSE(fs::exists(root_ / "elsewhere"));
  fs::remove(folder_ / kExchangesFile);
  ASSERT_EQ(mkfifo((folder_ / kExchangesFile).c_str(), 0600), 0);
  EXPECT_THAT(mistake(), HasSubstr("it is not a regular file"));
}

TEST_F(CassetteTest, FolderThatCannotBeCreated_IsAnErrorAtOnce) {
  std::ofstream(root_ / "deep") << "a file";
  const auto model =
      make_model("local:m", services(std::make_shared<Replies>(std::vector<Replies::Reply>{}), true));
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::kInput);
}

TEST_F(CassetteTest, WriteFailure_IsReportedEvenIfTheCallSucceeded) {
  const auto model =
      make_model(
          "local:m",
          services(std::make_shared<Replies>(std::vector<Replies::Reply>{{.body = answer("one")}}), true))
          .value();
  // As on a full disk: no file may grow beyond ten bytes.
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{10, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto response = complete(*model, call(0));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  (void)std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kJournal);
  EXPECT_THAT(response.error().message, HasSubstr("cannot record"));
}

TEST_F(CassetteTest, SeveralClients_ShareOneNumbering) {
  record({{.body = answer("one")}});
  record({{.body = answer("two")}});
  EXPECT_THAT(lines(), SizeIs(2));
  EXPECT_EQ(json_int(lines()[1], "i"), 1);
}

TEST_F(CassetteTest, RecordedFailures_AreReplayed) {
  record(
      {{.status = 503, .body = "busy", .headers = {}}, {.status = 0, .body = ""}, {.body = answer("one")}});
  EXPECT_THAT(text(play(call(0))), HasSubstr("503"));
  const auto nothing = play(call(1));
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().kind(), ErrorKind::kNetwork);
  EXPECT_TRUE(nothing.error().retriable);
  EXPECT_EQ(text(play(call(2))), "one");
}

TEST_F(CassetteTest, CancelledCall_IsNotRecorded) {
  class Cancelled final : public HttpClient {
    void send(HttpRequest, std::shared_ptr<HttpSink> sink, std::stop_token) override {
      sink->on_head({200, {}});
      sink->on_done(fail(ErrorCode::kCancelled, "cancelled"));
    }
  };
  const auto model = make_model("local:m", services(std::make_shared<Cancelled>(), true)).value();
  EXPECT_EQ(complete(*model, call(0)).error().code, ErrorCode::kCancelled);
  EXPECT_EQ(file(), "");
}

TEST_F(CassetteTest, CallBeyondTheRecording_IsAClearError) {
  record({{.body = answer("one")}});
  const auto response = play(call(1));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind(), ErrorKind::kProtocol);
  EXPECT_FALSE(response.error().retriable);
  EXPECT_THAT(response.error().message, HasSubstr("holds 1 calls, and this is call 2"));
}

TEST_F(CassetteTest, DifferentRequest_IsRefusedWhenChecked) {
  record({{.body = answer("one")}, {.body = answer("two")}});
  EXPECT_EQ(text(play(call(1), "cassette-check")), "two");
  ModelRequest other = call(0);
  other.history = normalise({text_message(Role::kUser, "Another")}).history;
  EXPECT_EQ(text(play(other)), "one") << "not checked";
  const auto response = play(other, "cassette-check");
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind(), ErrorKind::kProtocol);
  EXPECT_THAT(response.error().message,
              HasSubstr(R"(at /messages/0/content: "Another" instead of "Question 0")"));
}

TEST_F(CassetteTest, EveryProtocol_IsRecognised) {
  const auto exchange = [](const std::string& url, const std::string& body, const std::string& response) {
    return R"({"request":{"url":")" + url + R"(","body":)" + body +
           R"(},"response":{"status":200,"headers":{},"body":)" + to_json_text(Json(response)) + "}}\n";
  };
  write(
      exchange("http://x/v1/chat/completions", R"({"model":"m"})", answer("one")) +
      exchange("http://x/v1/responses?a=b", R"({"model":"m"})",
               R"({"id":"r","object":"response","status":"completed","output":[{"type":"message","id":"i",)"
               R"("role":"assistant","content":[{"type":"output_text","text":"two"}]}]})") +
      exchange("/v1/messages", R"({"model":"m"})",
               R"({"id":"r","type":"message","role":"assistant","content":[{"type":"text","text":"three"}],)"
               R"("stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}})") +
      exchange("http://x/v1beta/models/m:generateContent", "{}",
               R"({"candidates":[{"content":{"parts":[{"text":"four"}]},"finishReason":"STOP"}]})") +
      exchange("http://x/api/chat", R"({"model":"m"})", R"({"message":{"content":"five"},"done":true})"));
  const std::vector<std::string> texts{"one", "two", "three", "four", "five"};
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(text(play(call(i))), texts[i]);
}

TEST_F(CassetteTest, KnownBaseUrl_SelectsTheProvidersFlags) {
  write(R"({"request":{"url":"http://localhost:1/v1/chat/completions","body":{"model":"m"}},)"
        R"("response":{"status":401,"headers":{},"body":"no"}})");
  EXPECT_THAT(text(play(call(0))), testing::StartsWith("local:m: "));
}

TEST_F(CassetteTest, UnreadableCassette_IsAnInputError) {
  const auto message = [this] { return text(play(call(0))); };
  EXPECT_THAT(message(), HasSubstr("cannot read the cassette"));
  write("");
  EXPECT_THAT(message(), HasSubstr("is empty"));
  write("{\"response\":{}}\nnonsense\n");
  EXPECT_THAT(message(), HasSubstr("exchanges.jsonl:2: is not a recorded exchange"));
}

TEST(FirstDifference, Spelling_IsIgnored) {
  const auto difference = [](std::string_view sent, std::string_view recorded) {
    return first_difference(parse_json(sent).value(), parse_json(recorded).value());
  };
  EXPECT_EQ(difference(R"({"a":1,"b":null,"stream":true})", R"({"stream":false,"a":1.0})"), "");
  EXPECT_EQ(difference(R"({"b":[1,{"c":2}],"a":1})", R"({"a":1,"b":[1,{"c":2}]})"), "");
  EXPECT_EQ(difference(R"({"b":[1,{"c":2}]})", R"({"b":[1,{"c":"2"}]})"), R"(at /b/1/c: 2 instead of "2")");
  EXPECT_EQ(difference(R"({"b":[1]})", R"({"b":[1,2]})"), "at /b/1: nothing instead of 2");
  EXPECT_EQ(difference(R"({"a":1})", R"({})"), "at /a: 1 instead of nothing");
}

}  // namespace
}  // namespace praxis
