// Commands of prompts: which arguments the words of a message become.
#include "app/slash_prompt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace praxis::app {
namespace {

using ::testing::HasSubstr;

/// One prompt, whose text is its arguments.
class OnePrompt final : public PromptSource {
 public:
  const std::string& server() const override { return server_; }
  Result<std::vector<OfferedPrompt>> list(const std::stop_token&) override {
    return std::vector<OfferedPrompt>{
        {"shop:order", "Orders", {{"what", "Which goods", true}, {"size", "", false}}}};
  }
  Result<std::string> text(const OfferedPrompt&, const JsonObject& arguments,
                           const std::stop_token&) override {
    return to_json_text(arguments);
  }

 private:
  const std::string server_ = "shop";
};

class SlashPromptTest : public ::testing::Test {
 protected:
  std::string filled(std::string_view message) const {
    const auto text = filled_prompt(message, sources_, {});
    return text ? *text : "error: " + text.error().message;
  }
  const PromptSources sources_{std::make_shared<OnePrompt>()};
};

TEST_F(SlashPromptTest, ArgumentsComeByPositionOrByName) {
  EXPECT_EQ(filled("/shop:order shirt L"), R"({"what":"shirt","size":"L"})");
  EXPECT_EQ(filled("/shop:order size=L shirt"), R"({"size":"L","what":"shirt"})");
  EXPECT_EQ(filled("/shop:order shirt"), R"({"what":"shirt"})");
  EXPECT_EQ(filled("/shop:order shirt very very large"), R"({"what":"shirt","size":"very very large"})");
  EXPECT_EQ(filled("/shop:order a=b"), R"({"what":"a=b"})") << "no argument is called so";
}

TEST_F(SlashPromptTest, QuotesKeepWordsTogether) {
  EXPECT_EQ(filled("/shop:order 'red shirt' size=\"very large\""),
            R"({"size":"very large","what":"red shirt"})");
  EXPECT_EQ(filled("/shop:order Ada's"), R"({"what":"Ada's"})");
  EXPECT_EQ(filled("/shop:order \"\""), R"({"what":""})");
  EXPECT_THAT(filled("/shop:order 'shirt"), HasSubstr("the quote ' has no end"));
}

TEST_F(SlashPromptTest, WhatDoesNotFit_IsNamed) {
  EXPECT_THAT(filled("/shop:order"), HasSubstr("needs \"what\": Which goods"));
  EXPECT_THAT(filled("/shop:order what=a size=b c"), HasSubstr("takes no further argument: \"c\""));
  EXPECT_THAT(filled("/shop:ordre x"), HasSubstr("no prompt \"shop:ordre\""));
}

TEST_F(SlashPromptTest, OnlyTheNameOfAServerMakesACommand) {
  EXPECT_TRUE(names_prompt("/shop:order", sources_));
  EXPECT_TRUE(names_prompt("/shop:other x", sources_));
  for (const char* other : {"shop:order", "/shop", "/sho:order", "/ shop:order", "/order:shop", ""})
    EXPECT_FALSE(names_prompt(other, sources_)) << other;
}

}  // namespace
}  // namespace praxis::app
