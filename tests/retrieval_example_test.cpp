// Runs examples/retrieval, with its script as the model, and its check of citations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "example_folder.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class RetrievalExample : public ExampleFolder {
 protected:
  RetrievalExample() : ExampleFolder("retrieval") {}

  /// Checks an answer of one statement; returns the status.
  int check(const std::string& place, const std::string& quote) {
    return check_answer(R"({"statements": [{"text": "So it is.", "place": ")" + place + R"(", "quote": ")" +
                        quote + R"("}]})");
  }
  int check_answer(const std::string& json) {
    std::ofstream(root_ / "answer.json") << json;
    const auto here = root_ / "examples/retrieval";
    return run((here / "check").string() + ' ' + (here / "ferry").string() + ' ' +
               (root_ / "answer.json").string());
  }
};

TEST_F(RetrievalExample, WrongCitation_IsSentBackAndTheRightOneIsShown) {
  ASSERT_EQ(play(), 0) << told_;
  EXPECT_THAT(told_, HasSubstr("timetable-2025.md:11 does not say"));
  EXPECT_EQ(printed_,
            "The last ferry leaves the island at 19:10. [timetable.md:10]\n"
            "From November to March that crossing is cancelled. [timetable.md:15]\n");
  ASSERT_EQ(run(std::string(kPraxis) + " show last --journal " + journal().string()), 0) << told_;
  EXPECT_THAT(printed_, HasSubstr("Wrong citations:")) << "the message to the model is in the journal";
}

TEST_F(RetrievalExample, WrongCitation_FailsTheRunIfNothingIsSentBack) {
  EXPECT_EQ(play("--rounds 0"), 1);
  EXPECT_EQ(printed_, "");
  EXPECT_THAT(told_, HasSubstr("the answer is not shown, because its citations are wrong"));
}

TEST_F(RetrievalExample, AnswersThatStayWrong_FailTheRun) {
  std::ofstream script(root_ / "stubborn.jsonl");
  for (int i = 0; i < 4; ++i)
    script
        << R"({"text": "{\"statements\": [{\"text\": \"At noon.\", \"place\": \"timetable.md:5\", \"quote\": \"leaves at noon sharp\"}]}"})"
        << '\n';
  script.close();
  EXPECT_EQ(play("--model script:" + (root_ / "stubborn.jsonl").string() + " 'When does it leave?'"), 1);
  EXPECT_EQ(printed_, "");
  ASSERT_EQ(run(std::string(kPraxis) + " show last --journal " + journal().string()), 0) << told_;
  EXPECT_THAT(printed_, AllOf(HasSubstr("## Turn t3"), Not(HasSubstr("## Turn t4"))))
      << "twice, not for ever";
}

TEST_F(RetrievalExample, ChangedDocument_MakesTheCitationWrong) {
  ASSERT_EQ(play(), 0) << told_;
  const auto timetable = root_ / "examples/retrieval/ferry/timetable.md";
  std::string text = content_of(timetable);
  text.replace(text.find("19:10"), 5, "20:10");
  std::ofstream(timetable) << text;
  EXPECT_EQ(play(), 1) << "the script still says 19:10";
  EXPECT_THAT(told_, HasSubstr("timetable.md:1-11 does not say"));
}

TEST_F(RetrievalExample, Check_ComparesQuoteAndLines) {
  EXPECT_EQ(check("lost-property.txt:4-5", "for four weeks. After that it goes"), 0) << "over two lines";
  EXPECT_EQ(printed_, "So it is. [lost-property.txt:4-5]\n");
  EXPECT_EQ(check("fares.html:1-13", "A bicycle is 2 euros for each crossing \u2013 folded"), 0)
      << "what a reader of HTML sees";
  EXPECT_EQ(printed_, "So it is. [fares.html:8]\n");
  EXPECT_EQ(check((root_ / "examples/retrieval/ferry/timetable.md").string() + ":15",
                  "From 1 November to 31 March"),
            0)
      << "as recall names the file";

  EXPECT_EQ(check("timetable.md:13", "From 1 November to 31 March"), 1) << "the line before has it";
  EXPECT_EQ(check("timetable.md:15-99", "From 1 November to 31 March"), 1);
  EXPECT_THAT(printed_, HasSubstr("timetable.md:15-99 does not exist"));
  EXPECT_EQ(check("timetable.md:0", "From 1 November to 31 March"), 1);
  EXPECT_EQ(check("timetable.md:15", "From 1"), 1);
  EXPECT_THAT(printed_, HasSubstr("fewer than 3 words"));
  EXPECT_EQ(check("timetable.md", "From 1 November to 31 March"), 1);
  EXPECT_THAT(printed_, HasSubstr("write FILE:LINE or FILE:FIRST-LAST"));
}

TEST_F(RetrievalExample, Check_ReadsNothingButTheDocuments) {
  std::ofstream(root_ / "examples/retrieval/secret.txt") << "all the words of the quote\n";
  for (const std::string place : {"../secret.txt:1", "/etc/passwd:1", "missing.txt:1", ".:1"}) {
    EXPECT_EQ(check(place, "all the words of the quote"), 1) << place;
    EXPECT_THAT(printed_, HasSubstr("is not one of the documents")) << place;
  }
}

TEST_F(RetrievalExample, Check_TakesEveryFormOfAnswer) {
  EXPECT_EQ(check_answer(R"({"statements": []})"), 0);
  EXPECT_EQ(printed_, "The documents do not say it.\n");
  for (const char* other :
       {"At 19:10.", "[]", R"({"statements": [{"text": "At 19:10."}]})",
        R"({"statements": [{"text": "a", "place": 1, "quote": "b"}]})", R"({"statements": 1})"}) {
    EXPECT_EQ(check_answer(other), 1) << other;
    EXPECT_THAT(printed_, HasSubstr("The answer is not of the form")) << other;
  }
}

TEST_F(RetrievalExample, Readme_ShowsWhatIsPrinted) { expect_readme_holds(); }

}  // namespace
}  // namespace praxis::testing
