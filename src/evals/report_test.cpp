#include "evals/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/columns.hpp"
#include "praxis/json/json.hpp"

namespace praxis::evals {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

TrialResult trial(const std::string& test, const std::string& variant, std::uint32_t repeat, Verdict verdict,
                  double weight = 1) {
  TrialResult made{.test = test, .variant = variant, .repeat = repeat, .verdict = verdict, .weight = weight};
  made.run = SessionId("K" + test + variant + std::to_string(repeat));
  if (verdict != Verdict::kPassed)
    made.problems = {"exact: the answer is \"<b> & co\", not \"what was expected of it\""};
  return made;
}

std::vector<TrialResult> trials() {
  using enum Verdict;
  return {trial("a", "one", 1, kPassed, 3), trial("a", "one", 2, kFailed, 3),
          trial("a", "two", 1, kPassed, 3), trial("a", "two", 2, kPassed, 3),
          trial("b", "one", 1, kError),     trial("b", "one", 2, kFailed),
          trial("b", "two", 1, kPassed),    trial("b", "two", 2, kFailed)};
}

TEST(EvalSummary, WeighsCasesAndMarksFlakyOnes) {
  const auto all = trials();
  const Summary summary = summarise(all);
  ASSERT_THAT(summary.variants, SizeIs(2));
  const VariantSummary& one = summary.variants[0];
  EXPECT_EQ(one.runs, 4U);
  EXPECT_EQ(one.passed, 1U);
  EXPECT_EQ(one.errors, 1U);
  EXPECT_EQ(one.flaky, 1U);
  EXPECT_EQ(one.k, 2U);
  EXPECT_DOUBLE_EQ(one.score, 0.5 * 3 / 4);
  EXPECT_DOUBLE_EQ(one.pass_at_k, 3.0 / 4);
  EXPECT_DOUBLE_EQ(one.pass_all_k, 0);
  EXPECT_DOUBLE_EQ(summary.variants[1].pass_all_k, 3.0 / 4);
  EXPECT_TRUE(summary.cells[0].is_flaky());
}

TEST(EvalSummary, ComparesPairsOfTheSameCaseAndRepeat) {
  const auto all = trials();
  std::vector<TrialResult> baseline{trial("a", "one", 1, Verdict::kPassed),
                                    trial("a", "one", 2, Verdict::kPassed),
                                    trial("c", "one", 1, Verdict::kPassed)};
  const Summary summary = summarise(all, &baseline);
  ASSERT_THAT(summary.comparisons, SizeIs(2)) << "the baseline has no second variant";
  const Comparison& second = summary.comparisons[0];
  EXPECT_EQ(second.variant, "two");
  EXPECT_EQ(second.against, "one");
  EXPECT_EQ(second.pairs, 4U);
  EXPECT_EQ(second.better, 2U);
  EXPECT_EQ(second.worse, 0U);
  EXPECT_DOUBLE_EQ(second.p_value, 0.5);
  EXPECT_EQ(summary.comparisons[1].against, kBaselineName);
  EXPECT_EQ(summary.comparisons[1].pairs, 2U);
  EXPECT_EQ(summary.comparisons[1].worse, 1U);
}

TEST(EvalSummary, IsWorseOnlyBeyondChance) {
  const auto is_worse = [](std::uint64_t better, std::uint64_t worse) {
    Comparison comparison;
    comparison.better = better;
    comparison.worse = worse;
    comparison.p_value = mcnemar_exact(better, worse);
    return comparison.is_worse();
  };
  EXPECT_FALSE(is_worse(0, 5));
  EXPECT_TRUE(is_worse(0, 6));
  EXPECT_FALSE(is_worse(6, 0));
}

TEST(EvalSummary, Baseline_IsReadFromWhatWasWritten) {
  std::string text;
  for (const TrialResult& each : trials()) {
    JsonObject line = trial_json(each);
    line["item"] = "eval_run";
    text += to_json_text(line) + '\n';
  }
  const auto read = read_baseline(text + "{\"event\":\"result\"}\n", "base.jsonl");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_THAT(*read, SizeIs(8));
  EXPECT_EQ(read->at(4).verdict, Verdict::kError);
  EXPECT_EQ(read->at(1).repeat, 2U);
  EXPECT_FALSE(read_baseline("{\"event\":\"result\"}\n", "base.jsonl"));
  EXPECT_FALSE(read_baseline("{\"item\":\"eval_run\"}\n", "base.jsonl"));
}

TEST(EvalReport, Text_FitsItsColumns) {
  const auto all = trials();
  const Summary summary = summarise(all);
  for (const std::size_t columns : {40U, 80U, 200U}) {
    std::string text;
    for (const std::string& line : text_report({"suite", " --journal x.db"}, summary, columns)) {
      if (!line.starts_with("  praxis")) {
        EXPECT_LE(columns_of(line), columns) << line;
      }
      text += line + '\n';
    }
    EXPECT_THAT(text, HasSubstr("  praxis show Kaone2 --journal x.db\n"));
    EXPECT_THAT(text, HasSubstr("(flaky)"));
  }
}

TEST(EvalReport, Files_EscapeWhatModelsWrote) {
  const auto all = trials();
  const Summary summary = summarise(all);
  const std::string junit = junit_report({"s & t", ""}, summary), html = html_report({"s & t", ""}, summary);
  for (const std::string& text : {junit, html}) {
    EXPECT_THAT(text, HasSubstr("&lt;b&gt; &amp; co"));
    EXPECT_THAT(text, HasSubstr("s &amp; t"));
    EXPECT_THAT(text, Not(HasSubstr("<b>")));
    EXPECT_THAT(text, HasSubstr("praxis show Kbone1"));
  }
  EXPECT_THAT(junit, HasSubstr(R"(tests="4" failures="2" errors="1")"));
  EXPECT_THAT(html, HasSubstr(R"(<td class="flaky"><details><summary>1/2 flaky)"));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
}

TEST(EvalReport, Html_HoldsItsRunsWithinBounds) {
  const auto all = trials();
  ReportHead head{"s", ""};
  head.run_text = [](const SessionId& run) { return "<i>" + run.str() + "</i>\nnext line"; };
  const std::string html = html_report(head, summarise(all));
  EXPECT_THAT(html,
              HasSubstr("open the run</summary><pre>&lt;i&gt;Kaone2&lt;/i&gt;\nnext line</pre></details>"));
  head.run_text = [](const SessionId&) { return std::string(100'000, 'x'); };
  const std::string cut = html_report(head, summarise(all));
  EXPECT_THAT(cut, HasSubstr("x</pre>The command above shows the rest."));
  EXPECT_LT(cut.size(), html.size() + all.size() * 66'000);
}

}  // namespace
}  // namespace praxis::evals
