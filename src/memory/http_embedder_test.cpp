// Embeddings over HTTP, as OpenAI defines them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "praxis/json/json.hpp"
#include "praxis/memory/embedder.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Answers by a list; then with as many vectors as it was given texts.
class ScriptedServer final : public HttpClient {
 public:
  void send(HttpRequest request, std::shared_ptr<HttpSink> sink, std::stop_token) override {
    requests.push_back(request);
    if (answers.empty()) return answer(*sink, {200, vectors_for(*request.body)});
    const auto next = answers.front();
    answers.erase(answers.begin());
    answer(*sink, next);
  }

  struct Answer {
    int status = 200;
    std::string body;
    HttpHeaders headers = {};
  };
  std::vector<Answer> answers;
  std::vector<HttpRequest> requests;

 private:
  static void answer(HttpSink& sink, const Answer& answer) {
    sink.on_head({answer.status, answer.headers});
    sink.on_body(answer.body);
    sink.on_done({});
  }

  /// In reverse order: each item says which text it is for.
  static std::string vectors_for(const std::string& body) {
    const Json request = parse_json(body).value();
    JsonArray data;
    const auto& input = json_at(request, "input").get_array();
    for (std::size_t i = input.size(); i-- > 0;)
      data.push_back({{"index", i}, {"embedding", {input[i].get_string().size(), 0.5}}});
    return to_json_text(Json{{"data", std::move(data)}});
  }
};

class HttpEmbedderTest : public ::testing::Test {
 protected:
  std::shared_ptr<Embedder> embedder(std::size_t batch = 64) {
    HttpEmbedderOptions options{"https://host/v1/", "small"};
    options.key = "sk-secret";
    options.batch = batch;
    options.wait = [this](std::size_t milliseconds, const std::stop_token&) {
      waits_.push_back(milliseconds);
      return waits_.size() < 10;
    };
    return http_embedder(server_, options);
  }
  static std::vector<std::string> texts() { return {"a", "bb", "ccc"}; }

  std::shared_ptr<ScriptedServer> server_ = std::make_shared<ScriptedServer>();
  std::vector<std::size_t> waits_;
};

TEST_F(HttpEmbedderTest, Texts_AreSentInBatchesAndKeepTheirOrder) {
  const auto vectors = embedder(2)->embed(texts());
  ASSERT_TRUE(vectors) << vectors.error().message;
  EXPECT_THAT(*vectors, ElementsAre(ElementsAre(1, 0.5F), ElementsAre(2, 0.5F), ElementsAre(3, 0.5F)));
  ASSERT_EQ(server_->requests.size(), 2U);
  EXPECT_EQ(server_->requests[0].url, "https://host/v1/embeddings");
  EXPECT_EQ(find_header(server_->requests[0].headers, "authorization"), "Bearer sk-secret");
  EXPECT_EQ(*server_->requests[1].body, R"({"model":"small","input":["ccc"],"encoding_format":"float"})");
}

TEST_F(HttpEmbedderTest, FailuresThatMayPass_AreRetriedAsTheServerAsks) {
  server_->answers = {{503, ""}, {429, "", {{"Retry-After", "7"}}}};
  EXPECT_TRUE(embedder()->embed(texts()));
  EXPECT_THAT(waits_, ElementsAre(500, 7000));
  server_->answers = {{500, ""}, {500, ""}, {500, ""}, {500, ""}};
  EXPECT_THAT(embedder()->embed(texts()).error().message, HasSubstr("status 500"));
  EXPECT_EQ(server_->requests.size(), 7U);
}

TEST_F(HttpEmbedderTest, Refusal_IsNotRetriedAndShowsNoKey) {
  server_->answers = {{401, R"({"error": {"message": "Incorrect API key: sk-secret"}})"}};
  const Error error = embedder()->embed(texts()).error();
  EXPECT_EQ(error.code, ErrorCode::kModel);
  EXPECT_THAT(error.message, HasSubstr("status 401: Incorrect API key"));
  EXPECT_THAT(error.message, Not(HasSubstr("sk-secret")));
  EXPECT_EQ(server_->requests.size(), 1U);
}

TEST_F(HttpEmbedderTest, AnswersThatDoNotFit_AreErrors) {
  for (
      const char* body :
      {"no json", "{}", R"({"data": []})", R"({"data": [{}, {}, {}]})",
       R"({"data": [{"embedding": [1]}, {"embedding": ["x"]}, {"embedding": [1]}]})",
       R"({"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}, {"index": 9, "embedding": [1]}]})"}) {
    server_->answers = {{200, body}};
    const auto made = embedder()->embed(texts());
    ASSERT_FALSE(made) << body;
    EXPECT_EQ(made.error().kind(), ErrorKind::kProtocol) << body;
  }
}

}  // namespace
}  // namespace praxis
