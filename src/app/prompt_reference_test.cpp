// The keys `prompt` and `[prompt_variables]` of an agent file.
#include "app/prompt_reference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "praxis/base/digest.hpp"
#include "praxis/prompts/prompt_store.hpp"

namespace praxis {
namespace {

using ::testing::HasSubstr;

class PromptReference : public ::testing::Test {
 protected:
  PromptReference() {
    options_.prompts = [this]() -> Result<std::shared_ptr<PromptStore>> { return store_; };
    for (const char* text : {"Review {what}.", "Review {what} briefly."}) {
      PromptTemplate prompt;
      prompt.id = "review";
      prompt.text = text;
      EXPECT_TRUE(store_->put(prompt, "ann"));
    }
    EXPECT_TRUE(store_->label("review", "production", "1"));
  }
  std::string mistake(const std::string& text) {
    return parse_agent_file(text, "a.toml", options_).error().message;
  }

  const std::shared_ptr<PromptStore> store_ = memory_prompts();
  AgentFileOptions options_;
};

TEST_F(PromptReference, Instructions_AreThoseOfTheVersionAndTheAgentSaysWhich) {
  const auto agent =
      parse_agent_file("prompt = 'review@production'\n[prompt_variables]\nwhat = 'C++'", "a.toml", options_);
  ASSERT_TRUE(agent) << agent.error().message;
  EXPECT_EQ(agent->spec().instructions, "Review C++.");
  const Json& record = json_at(agent->spec().metadata, "prompt");
  EXPECT_EQ(json_string(record, "version"), "1");
  EXPECT_EQ(json_string(record, "label"), "production");
  EXPECT_EQ(json_string(record, "hash"), store_->get("review", "1").value()->hash);
  EXPECT_EQ(json_string(json_at(record, "variables"), "what"), digest_of("\"C++\"").hex())
      << "a digest, not the value";
  const auto forged = parse_agent_file("[metadata]\nowner = 'ann'\nprompt = 'review'", "a.toml", options_);
  EXPECT_EQ(forged->spec().metadata, Json({{"owner", "ann"}})) << "a file cannot claim a prompt";
  const auto latest = parse_agent_file("prompt = 'review'\nprompt_variables.what = 'x'", "a.toml", options_);
  EXPECT_EQ(latest->spec().instructions, "Review x briefly.");
}

TEST_F(PromptReference, Mistakes_AreNamedWithTheirPlace) {
  EXPECT_EQ(mistake("prompt = 'review'"), "a.toml:1:1: the prompt \"review\" needs values for \"what\"");
  EXPECT_THAT(mistake("prompt = 'reviews'"), HasSubstr("no prompt \"reviews\""));
  EXPECT_THAT(mistake("prompt = 'review@beta'"), HasSubstr("label \"beta\""));
  EXPECT_THAT(mistake("prompt = 'review'\ninstructions = 'x'"), HasSubstr("not both"));
  EXPECT_THAT(mistake("[prompt_variables]\na = 1"), HasSubstr("needs the \"prompt\""));
  options_.within = "/src/clone";
  EXPECT_THAT(mistake("prompt = 'review'"), HasSubstr("of a project cannot use your prompts"));
  options_ = {};
  EXPECT_THAT(mistake("prompt = 'review'"), HasSubstr("provides no prompts"));
}

}  // namespace
}  // namespace praxis
