// Images and files in the messages of clients.
#include "server/input_parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/base64.hpp"
#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace testing;
using namespace std::string_view_literals;

constexpr std::string_view kPng = "\x89PNG\r\n\x1a\nimage"sv;

std::string data_url(std::string_view type, std::string_view bytes) {
  return "data:" + std::string(type) + ";base64," + base64_encode(bytes);
}

class InputParts : public ServerTest {
 protected:
  static std::string chat_with(const std::string& parts) {
    return R"({"model":"chat","messages":[{"role":"user","content":[)" + parts + "]}]}";
  }
  static std::string response_with(const std::string& parts) {
    return R"({"model":"chat","input":[{"role":"user","content":[)" + parts + "]}]}";
  }
  const std::string png_ = data_url("image/png", kPng);
  const std::string pdf_ = data_url("application/pdf", "%PDF-1.4");
};

TEST_F(InputParts, ImageAndFilesOfAChatReachTheRun) {
  start();
  const Answer answer =
      call("POST", "/v1/chat/completions",
           chat_with(R"({"type":"text","text":"What is this?"},{"type":"image_url","image_url":{"url":")" +
                     png_ + R"("}},{"type":"file","file":{"filename":"a.pdf","file_data":")" + pdf_ +
                     R"("}},{"type":"file","file":{"filename":"a.txt","file_data":")" +
                     data_url("text/plain", "Some words.") + R"("}})"));
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json messages = call("GET", "/agent/" + answer.text("id").substr(9)).json;
  const Json parts = json_at(json_at(messages, "messages").at(0), "content");
  ASSERT_EQ(parts.as_array().size(), 4U) << to_json_text(parts);
  EXPECT_THAT(to_json_text(parts.at(0)), HasSubstr("What is this?"));
  EXPECT_THAT(to_json_text(parts.at(1)),
              AllOf(HasSubstr(R"("type":"image")"), HasSubstr("image/png"), HasSubstr(base64_encode(kPng))));
  EXPECT_THAT(to_json_text(parts.at(2)),
              AllOf(HasSubstr(R"("type":"file")"), HasSubstr("application/pdf"), HasSubstr("a.pdf")));
  EXPECT_THAT(to_json_text(parts.at(3)), AllOf(HasSubstr("a.txt"), HasSubstr("Some words.")));
}

TEST_F(InputParts, ImageOfAResponseStaysInTheConversation) {
  start();
  const Answer first =
      call("POST", "/v1/responses",
           response_with(R"({"type":"input_text","text":"See"},{"type":"input_image","image_url":")" + png_ +
                         R"("},{"type":"input_file","filename":"a.pdf","file_data":")" + pdf_ + R"("})"));
  ASSERT_EQ(first.status, 200) << first.body;
  const Answer items = call("GET", "/v1/responses/" + first.text("id") + "/input_items");
  EXPECT_THAT(items.body, AllOf(HasSubstr(R"("type":"input_image")"), HasSubstr(png_),
                                HasSubstr(R"("type":"input_file")"), HasSubstr("a.pdf")));
  // With other instructions a new run begins with the conversation so far.
  const Answer second = call("POST", "/v1/responses",
                             R"({"model":"chat","input":"And now?","instructions":"Be brief.",)"
                             R"("previous_response_id":")" +
                                 first.text("id") + "\"}");
  const std::string run = second.text("id").substr(5, second.text("id").find('~') - 5);
  EXPECT_THAT(call("GET", "/agent/" + run).body, HasSubstr(base64_encode(kPng)));
}

TEST_F(InputParts, AddressIsPassedOnAndNotRead) {
  const auto part = media_part("https://example.org/cat.png", "", "p");
  ASSERT_TRUE(part);
  EXPECT_EQ(std::get<ImagePart>(*part).source.url, "https://example.org/cat.png");
  EXPECT_FALSE(media_part("/etc/passwd", "", "p")) << "a file of the server";
  EXPECT_FALSE(media_part("file:///etc/passwd", "", "p"));
}

TEST_F(InputParts, WhatIsNoImageOrFileIsRefused) {
  start();
  const std::vector<std::string> chats{
      R"({"type":"image_url"})",
      R"({"type":"image_url","image_url":{"url":"data:image/png;base64,!"}})",
      R"({"type":"image_url","image_url":{"url":")" + data_url("image/png", "no image") + R"("}})",
      R"({"type":"image_url","image_url":{"url":")" + pdf_ + R"("}})",
      R"({"type":"file","file":{"file_id":"file-1"}})",
      R"({"type":"file","file":{"file_data":")" + data_url("a/b", "\xff\xfe\x01") + R"("}})",
      R"({"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}})"};
  for (const std::string& parts : chats) {
    for (const bool is_chat : {true, false}) {
      const Answer refused = is_chat ? call("POST", "/v1/chat/completions", chat_with(parts))
                                     : call("POST", "/v1/responses", response_with(parts));
      EXPECT_EQ(refused.status, 400) << parts << refused.body;
      EXPECT_THAT(refused.body, HasSubstr(is_chat ? "messages[0]" : "input[0]")) << "the field";
    }
  }
  EXPECT_EQ(json_at(call("GET", "/api/v1/runs").json, "runs").as_array().size(), 0U);
}

TEST_F(InputParts, FileOfTheAiSdkReachesTheRun) {
  start();
  const Answer answer = call("POST", "/api/ai/chat",
                             R"({"id":"c1","agent":"chat","messages":[{"id":"m","role":"user","parts":[)"
                             R"({"type":"file","mediaType":"image/png","url":")" +
                                 png_ + R"("},{"type":"text","text":"What is this?"}]}]})");
  EXPECT_EQ(answer.status, 200) << answer.body;
  const Json runs = call("GET", "/api/v1/runs").json;
  EXPECT_THAT(call("GET", "/agent/" + json_string(json_at(runs, "runs").at(0), "id")).body,
              AllOf(HasSubstr(base64_encode(kPng)), HasSubstr("What is this?")));
}

}  // namespace
}  // namespace praxis::server
