// `praxis eval` and `praxis stats` as their users see them (docs/evals.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <mutex>

#include "base/testing/missing_part.hpp"
#include "command_line.hpp"
#include "net/testing/test_server.hpp"
#include "praxis/process/sandbox.hpp"
#include "published_schema.hpp"
#include "yes_model.hpp"

namespace praxis::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kSuite = R"(
name = "tea"
repeats = 2
[[variants]]
model = ["script:good.jsonl", "script:bad.jsonl"]
[[cases]]
id = "sum"
prompt = "What is 2 + 3?"
expected = 5
checks = ["number", { max_steps = 1 }]
[[cases]]
id = "tea"
prompt = "Which tea?"
checks = [{ contains = "Green" }]
)";

class CliEval : public CommandLine {
 protected:
  CliEval() {
    file("good.jsonl", "{\"asked\": \"2 + 3\", \"text\": \"It is 5.\"}\n{\"text\": \"Green\"}\n");
    file("bad.jsonl", "{\"text\": \"It is 5.\"}\n");
    file("suite.toml", kSuite);
  }
  /// The variants of the envelope of an evaluation.
  static Json variant(const CommandResult& result, std::size_t index) {
    return result.last_line().at("variants").at(index);
  }
  std::size_t runs_in_journal() const { return praxis({"runs", "--json", "-n", "0"}).items().size(); }
};

TEST_F(CliEval, RunsEachCaseWithEachVariantAndRepeat) {
  const CommandResult result = praxis({"eval", "suite.toml", "--json"});
  EXPECT_EQ(result.status, 0) << result.err;
  ASSERT_THAT(result.items(), SizeIs(8));
  EXPECT_EQ(json_int(variant(result, 0), "passed"), 4);
  EXPECT_EQ(json_int(variant(result, 1), "passed"), 2);
  const Json comparison = result.last_line().at("comparisons").at(0);
  EXPECT_EQ(json_int(comparison, "worse"), 2);
  EXPECT_EQ(json_double(comparison, "p_value"), 0.5);
  EXPECT_EQ(runs_in_journal(), 8U);
  EXPECT_THAT(praxis({"runs", "--tag", "eval", "--json"}).items(), SizeIs(8));
}

TEST_F(CliEval, SecondTime_ReadsWhatHasEnded) {
  praxis({"eval", "suite.toml"});
  const CommandResult again = praxis({"eval", "suite.toml", "--json"});
  EXPECT_EQ(json_int(variant(again, 0), "from_journal"), 4);
  EXPECT_EQ(json_int(variant(again, 1), "from_journal"), 4);
  EXPECT_EQ(runs_in_journal(), 8U);
  const CommandResult other = praxis({"eval", "suite.toml", "--round", "two", "--json"});
  EXPECT_EQ(json_int(variant(other, 0), "from_journal"), 0);
  EXPECT_EQ(runs_in_journal(), 16U);
  file("bad.jsonl", "{\"text\": \"Green, 5\"}\n");
  const CommandResult changed = praxis({"eval", "suite.toml", "--json"});
  EXPECT_EQ(json_int(variant(changed, 0), "from_journal"), 4);
  EXPECT_EQ(json_int(variant(changed, 1), "from_journal"), 0) << "another script is another agent";
  EXPECT_EQ(json_int(variant(changed, 1), "passed"), 4);
}

TEST_F(CliEval, JsonFollowsTheSchema) {
  const PublishedSchema schema;
  for (const Json& line : praxis({"eval", "suite.toml", "--json"}).lines()) schema.check(line, "eval");
  for (const Json& line : praxis({"eval", "nosuch.toml", "--json"}).lines()) schema.check(line, "eval");
  praxis({"eval", "add", "last", "more.toml"});
  for (const Json& line : praxis({"eval", "add", "last", "other.toml", "--json"}).lines())
    schema.check(line, "eval add");
  for (const char* by : {"agent", "model", "tool", "day", "tenant"}) {
    for (const Json& line : praxis({"stats", "--by", by, "--json"}).lines()) schema.check(line, "stats");
  }
  for (const Json& line : praxis({"stats", "--json"}).lines()) schema.check(line, "stats");
}

TEST_F(CliEval, Tags_ChooseCases) {
  file("tagged.jsonl",
       "{\"id\": \"a\", \"prompt\": \"What is 2 + 3?\", \"expected\": \"It is 5.\", \"tags\": [\"sums\"]}\n"
       "{\"id\": \"b\", \"prompt\": \"Tea?\", \"expected\": \"Green\"}\n");
  const std::vector<std::string> words{"eval", "tagged.jsonl", "--model", "script:good.jsonl", "--json"};
  EXPECT_THAT(praxis(words).items(), SizeIs(2));
  std::vector<std::string> tagged = words;
  tagged.insert(tagged.end(), {"--tag", "sums"});
  const CommandResult one = praxis(tagged);
  ASSERT_THAT(one.items(), SizeIs(1));
  EXPECT_EQ(json_string(one.last_item(), "case"), "a");
  tagged.back() = "other";
  const CommandResult refused = praxis(tagged);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("no case has the tag \"other\"; there are sums"));
}

/// A suite with one case, `tea`, whose answer is "Green", and this check.
std::string suite_with(const std::string& check, const std::string& more = "") {
  return more + "\n[[variants]]\nmodel = \"script:tea.jsonl\"\n" +
         "[[cases]]\nid = \"tea\"\nprompt = \"Which tea?\"\nexpected = \"green tea\"\nchecks = [" + check +
         "]\n";
}

TEST_F(CliEval, Program_JudgesInTheSandbox) {
  if (!probe_sandbox().full()) PRAXIS_MISSING_PART("the sandbox: " + probe_sandbox().reason());
  file("tea.jsonl", "{\"text\": \"Green\"}\n");
  file("check.sh",
       "read -r line\n"
       "case \"$line\" in *'\"answer\":\"Green\"'*) ;; *) echo \"no answer\" >&2; exit 3;; esac\n"
       "case \"$line\" in *'\"expected\":\"green tea\"'*) ;; *) exit 4;; esac\n"
       "if touch here 2>/dev/null; then exit 5; fi\n"
       "case \"$1\" in json) echo 'some output'; echo '{\"pass\": false, \"reason\": \"too short\"}';;\n"
       "  wrong) echo 'not what it is' >&2; exit 1;; slow) sleep 60;; esac\n");
  const auto judged = [&](const std::string& words) {
    file("program.toml", suite_with("{ program = [\"sh\", \"check.sh\"" + words + " }"));
    const CommandResult result = praxis({"eval", "program.toml", "--json"});
    const Json item = result.last_item();
    const JsonArray& problems = json_at(item, "problems").get_array();
    return json_string(item, "verdict") + (problems.empty() ? "" : ": " + to_plain_text(problems.front()));
  };
  EXPECT_EQ(judged("]"), "passed");
  EXPECT_EQ(judged(", \"json\"]"), "failed: program: it does not accept the answer: too short");
  EXPECT_EQ(judged(", \"wrong\"]"), "failed: program: exit status 1: not what it is");
  EXPECT_THAT(judged(", \"slow\"], timeout = \"100ms\""), HasSubstr("failed: program: it took longer than "));
  file("program.toml", suite_with("{ program = \"no-such-program\" }"));
  const CommandResult missing = praxis({"eval", "program.toml", "--json"});
  EXPECT_EQ(missing.status, 1) << "a check that could not be made is no verdict";
  EXPECT_EQ(json_string(missing.last_item(), "verdict"), "error");
}

TEST_F(CliEval, Judge_IsARunOfItsOwnAndAgreesWithLabels) {
  file("tea.jsonl", "{\"text\": \"Green\"}\n");
  file("judge.jsonl",
       "{\"asked\": \"\\\"answer\\\":\\\"Green\\\"\", \"text\": \"{\\\"reason\\\": \\\"It names one.\\\", "
       "\\\"pass\\\": true}\"}\n"
       "{\"asked\": \"\\\"answer\\\":\\\"Mint\\\"\", \"text\": \"{\\\"reason\\\": \\\"It names one.\\\", "
       "\\\"pass\\\": true}\"}\n"
       "{\"text\": \"{\\\"reason\\\": \\\"It names no tea.\\\", \\\"pass\\\": false}\"}\n");
  file("labels.jsonl",
       "{\"case\": \"tea\", \"answer\": \"Mint\", \"pass\": true}\n"
       "{\"case\": \"tea\", \"answer\": \"Coffee\", \"pass\": false}\n"
       "{\"case\": \"tea\", \"answer\": \"Black\", \"pass\": true}\n");
  const std::string check = "{ judge = \"The answer names a tea.\" }";
  file("judged.toml",
       suite_with(check) + "[judge]\nmodel = \"script:judge.jsonl\"\nlabels = \"labels.jsonl\"\n");
  const CommandResult result = praxis({"eval", "judged.toml", "--json"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(json_string(result.last_item(), "verdict"), "passed");
  const Json judge = result.last_line().at("judge");
  EXPECT_EQ(json_int(judge, "labels"), 3);
  EXPECT_EQ(json_int(judge, "agreed"), 2);
  EXPECT_EQ(json_int(judge, "false_fails"), 1);
  EXPECT_NEAR(json_double(judge, "kappa"), 0.4, 1e-12);
  const PublishedSchema schema;
  for (const Json& line : result.lines()) schema.check(line, "eval with a judge");
  EXPECT_EQ(runs_in_journal(), 5U) << "a run of the case, one of its judge, three of labels";
  EXPECT_THAT(praxis({"runs", "--tag", "eval-judge", "--json"}).items(), SizeIs(4));

  const CommandResult again = praxis({"eval", "judged.toml"});
  EXPECT_THAT(again.out, HasSubstr("judge script:judge.jsonl: agrees with 2 of 3 labels"));
  EXPECT_EQ(runs_in_journal(), 5U) << "judgements are read from the journal";

  file("tea.jsonl", "{\"text\": \"Coffee\"}\n");
  const CommandResult other = praxis({"eval", "judged.toml", "--json"});
  EXPECT_EQ(json_string(other.last_item(), "verdict"), "failed");
  EXPECT_THAT(other.out, HasSubstr("judge: It names no tea. (run K"));
}

TEST_F(CliEval, Judge_MistakesNameTheirPlace) {
  const std::string check = "{ judge = \"The answer names a tea.\" }";
  const auto refusal = [&](const std::string& table) {
    file("judged.toml", suite_with(check) + "[judge]\n" + table + "\n");
    const CommandResult result = praxis({"eval", "judged.toml"});
    EXPECT_EQ(result.status, 2);
    return result.err;
  };
  file("labels.jsonl", "{\"case\": \"coffee\", \"answer\": \"Mint\", \"pass\": true}\n");
  EXPECT_THAT(refusal("labels = \"labels.jsonl\""),
              HasSubstr("labels.jsonl:1: the suite has no case \"coffee\""));
  EXPECT_THAT(refusal("labels = \"gone.jsonl\""),
              HasSubstr("error: cannot read \"gone.jsonl\": No such file"));
  EXPECT_THAT(refusal("modell = \"x\""), HasSubstr("did you mean \"model\"?"));
  EXPECT_THAT(refusal("max_usd = 0"), HasSubstr("\"max_usd\" must be a number above 0"));
}

TEST_F(CliEval, Threshold_ExitsWith8) {
  EXPECT_EQ(praxis({"eval", "suite.toml", "--threshold", "0.5"}).status, 0);
  const CommandResult below = praxis({"eval", "suite.toml", "--threshold", "0.6"});
  EXPECT_EQ(below.status, 8);
  EXPECT_THAT(below.err, HasSubstr("script:bad.jsonl: the score 0.500 is below 0.6"));
}

TEST_F(CliEval, Baseline_ExitsWith8IfAVariantIsWorse) {
  const std::string repeats = "repeats = 8\n[[variants]]\nname = \"now\"\nmodel = \"script:";
  const std::string test = "\"\n[[cases]]\nid = \"tea\"\nprompt = \"Which tea?\"\nexpected = \"Green\"\n";
  file("one.toml", repeats + "good.jsonl" + test);
  file("two.toml", repeats + "bad.jsonl" + test);
  file("base.jsonl", praxis({"eval", "one.toml", "--json"}).out);
  EXPECT_EQ(praxis({"eval", "one.toml", "--baseline", "base.jsonl"}).status, 0);
  const CommandResult worse = praxis({"eval", "two.toml", "--baseline", "base.jsonl"});
  EXPECT_EQ(worse.status, 8);
  EXPECT_THAT(worse.out, HasSubstr("now against baseline: 0 better, 8 worse of 8 pairs, p = 0.0078"));
  EXPECT_THAT(worse.err, HasSubstr("now: worse than the baseline"));
  EXPECT_EQ(praxis({"eval", "one.toml", "--baseline", "one.toml"}).status, 2);
}

TEST_F(CliEval, Reports_NameTheRunsAndTheirCommands) {
  EXPECT_EQ(praxis({"eval", "suite.toml", "-q", "--junit", "j.xml", "--html", "h.html", "--journal", "x.db"})
                .status,
            0);
  const std::string html = contents("h.html"), junit = contents("j.xml");
  EXPECT_THAT(html, ContainsRegex("praxis show K[0-9a-f]+ --journal [^<]*x.db"));
  EXPECT_THAT(html, ContainsRegex("open the run</summary><pre>[^<]*What is 2 . 3"));
  EXPECT_THAT(junit, HasSubstr(R"(tests="4" failures="2" errors="0")"));
  const auto begin = html.find("praxis show "), end = html.find('<', begin);
  EXPECT_THAT(shell(html.substr(begin, end - begin)).out, HasSubstr("2 + 3"));
}

TEST_F(CliEval, OutageIsTriedAgain_OtherEndingsAreNot) {
  file("out.jsonl", "{\"error\": {\"status\": 401, \"message\": \"refused\"}}\n{\"text\": \"5\"}\n");
  file("out.toml",
       "[[variants]]\nmodel = \"script:out.jsonl\"\n[[cases]]\nid = \"a\"\nprompt = \"A?\"\nexpected = 5\n");
  const CommandResult first = praxis({"eval", "out.toml", "--json"});
  EXPECT_EQ(first.status, 1);
  EXPECT_EQ(json_text(first.items().at(0), "verdict"), "error");
  const CommandResult second = praxis({"eval", "out.toml", "--json"});
  EXPECT_EQ(json_text(second.items().at(0), "verdict"), "passed") << second.out;
  EXPECT_EQ(json_text(first.items().at(0), "run_id"), json_text(second.items().at(0), "run_id"));
}

TEST_F(CliEval, Budget_StopsBeforeFurtherRuns) {
  file("costly.jsonl", "{\"text\": \"5\", \"usage\": {\"input\": 10, \"output\": 5, \"cost_usd\": 0.4}}\n");
  file("costly.toml",
       "repeats = 9\n[[variants]]\nmodel = \"script:costly.jsonl\"\n[[cases]]\nid = \"a\"\nprompt = \"A?\"\n"
       "expected = 5\n");
  const CommandResult stopped = praxis({"eval", "costly.toml", "--max-usd", "1", "-j", "1", "--json"});
  EXPECT_EQ(stopped.status, 5) << stopped.err;
  EXPECT_THAT(stopped.items(), SizeIs(3));
  EXPECT_EQ(json_int(stopped.last_line(), "missing"), 6);
  EXPECT_EQ(praxis({"eval", "costly.toml"}).status, 0);
  EXPECT_EQ(runs_in_journal(), 9U);
}

TEST_F(CliEval, Add_MakesACaseThatItsRunPasses) {
  file("kv.jsonl", R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "a", "value": "b"}}]})"
                   "\n{\"text\": \"Noted \\\"it\\\"\\nand\\u007f more.\"}\n");
  file("kv.toml", "model = \"script:kv.jsonl\"\n[tools.kv]\n[policy]\nallow = [\"kv\"]\n");
  ASSERT_EQ(praxis({"run", "kv.toml", "Note \"it\""}).status, 0);
  praxis({"runs", "name", "last", "noted"});
  EXPECT_EQ(praxis({"eval", "add", "last", "new.toml"}).out, "added noted to new.toml\n");
  const std::string text = contents("new.toml");
  EXPECT_THAT(text, HasSubstr("checks = [\"exact\", { tools = [\"kv\"] }]"));
  file("new.toml", "[[variants]]\nagent = \"kv.toml\"\n\n" + text);
  EXPECT_EQ(praxis({"eval", "new.toml", "--threshold", "1"}).status, 0);
  const CommandResult twice = praxis({"eval", "add", "noted", "new.toml"});
  EXPECT_EQ(twice.status, 2);
  EXPECT_THAT(twice.err, HasSubstr("two cases \"noted\""));
}

TEST_F(CliEval, Mistakes_AreReportedBeforeAnythingRuns) {
  const auto refused = [this](const std::vector<std::string>& words, const std::string& message) {
    const CommandResult result = praxis(words);
    EXPECT_EQ(result.status, 2) << message;
    EXPECT_THAT(result.err, HasSubstr(message));
  };
  refused({"eval"}, "no suite given");
  refused({"eval", "add", "last"}, "add takes a run and a suite");
  refused({"eval", "suite.toml", "more"}, "unexpected argument \"more\"");
  refused({"eval", "nosuch.toml"}, "praxis: error: cannot read \"nosuch.toml\": No such file or directory\n");
  const std::string test = "\n[[cases]]\nid = \"a\"\nprompt = \"A?\"\nexpected = 5\n";
  file("a.toml", "[[variants]]\nname = \"v\"\nagent = \"nosuch.toml\"" + test);
  refused({"eval", "a.toml"}, "variant \"v\": ");
  file("b.toml",
       "[[variants]]\nname = \"v\"\nmodel = \"script:good.jsonl\"\nsettings = { options = { temprature = 1 } "
       "}" +
           test);
  refused({"eval", "b.toml"}, "there is no option \"temprature\"; did you mean \"temperature\"?");
  EXPECT_EQ(runs_in_journal(), 0U);
}

/// A suite of `count` cases; the answer is that of each prompt.
std::string many_cases(int count, const std::string& model) {
  std::string text = "name = \"many\"\n[[variants]]\nmodel = \"" + model + "\"\n";
  for (int i = 1; i <= count; ++i) {
    text += "[[cases]]\nid = \"c" + std::to_string(i) + "\"\nprompt = \"case " + std::to_string(i) +
            "?\"\nexpected = \"yes\"\n";
  }
  return text;
}

/// A model server that answers the first request of some cases only when it is released.
class HangingModel {
 public:
  HangingModel() : server_([this](const TestRequest& request, TestConnection& to) { answer(request, to); }) {}
  ~HangingModel() { release(); }
  HangingModel(const HangingModel&) = delete;
  HangingModel& operator=(const HangingModel&) = delete;
  std::string url() const { return server_.url("/v1"); }
  void release() {
    const std::scoped_lock lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }
  void wait_for(std::size_t requests) { server_.wait_for_requests(requests); }
  std::map<int, int> answered() {
    const std::scoped_lock lock(mutex_);
    return answered_;
  }

 private:
  void answer(const TestRequest& request, TestConnection& to) {
    const int test = case_of(request);
    {
      std::unique_lock lock(mutex_);
      const bool hangs = test % 4 == 0 && ++asked_[test] == 1;
      if (hangs) changed_.wait(lock, [this] { return released_; });
      ++answered_[test];
    }
    to.write(yes_reply());
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool released_ = false;
  std::map<int, int> asked_, answered_;
  TestServer server_;
};

TEST_F(CliEval, KilledWhileModelsThink_AsksAgainOnlyWhatHadNoAnswer) {
  HangingModel model;
  options_.env["LLAMACPP_BASE_URL"] = model.url();
  file("many.toml", many_cases(12, "llamacpp:demo-1"));
  {
    Process first(command({"eval", "many.toml", "-j", "2"}), options_);
    model.wait_for(8);  // cases 4 and 8 hang, so that both threads do; all before case 8 have ended
    first.signal(SIGKILL);
    first.finish();
  }
  {
    Process second(command({"eval", "many.toml", "-j", "1"}), options_);
    model.wait_for(14);  // 4 and 8 again, 9 to 11, and 12, which hangs
    second.signal(SIGKILL);
    second.finish();
  }
  const CommandResult third = praxis({"eval", "many.toml", "--json"});
  EXPECT_EQ(third.status, 0) << third.err;
  EXPECT_EQ(json_int(variant(third, 0), "passed"), 12);
  EXPECT_EQ(json_int(variant(third, 0), "from_journal"), 11);
  const auto answered = model.answered();
  EXPECT_THAT(answered, SizeIs(12));
  for (const auto& [test, times] : answered) EXPECT_EQ(times, 1) << "case " << test;
}

TEST_F(CliEval, Interrupt_LetsRunsEndAndBeginsNoFurther) {
  HangingModel model;
  options_.env["LLAMACPP_BASE_URL"] = model.url();
  file("many.toml", many_cases(6, "llamacpp:demo-1"));
  Process eval(command({"eval", "many.toml", "-j", "1"}), options_);
  model.wait_for(4);
  eval.signal(SIGINT);
  ASSERT_TRUE(eval.reports("stopping: runs in progress finish first"));
  model.release();
  EXPECT_EQ(eval.finish(), 130) << eval.errors;
  EXPECT_THAT(eval.errors, HasSubstr("2 runs did not begin"));
  const CommandResult rest = praxis({"eval", "many.toml", "--json"});
  EXPECT_EQ(json_int(variant(rest, 0), "from_journal"), 4);
  EXPECT_EQ(json_int(variant(rest, 0), "passed"), 6);
}

TEST_F(CliEval, SecondInterrupt_ExitsAtOnceAndTheSameCommandContinues) {
  HangingModel model;
  options_.env["LLAMACPP_BASE_URL"] = model.url();
  file("many.toml", many_cases(6, "llamacpp:demo-1"));
  Process eval(command({"eval", "many.toml", "-j", "1"}), options_);
  model.wait_for(4);
  eval.signal(SIGINT);
  ASSERT_TRUE(eval.reports("stopping: runs in progress finish first"));
  eval.signal(SIGINT);
  EXPECT_EQ(eval.finish(), 130) << eval.errors;
  const CommandResult rest = praxis({"eval", "many.toml", "--json"});
  EXPECT_EQ(json_int(variant(rest, 0), "from_journal"), 3);
  EXPECT_EQ(json_int(variant(rest, 0), "passed"), 6);
}

class CliStats : public CliEval {
 protected:
  CliStats() {
    file(
        "work.jsonl",
        R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "a", "value": "b"}}, {"name": "kv", "arguments": {"op": "nosuch"}}], "usage": {"input": 100, "output": 10, "cost_usd": 0.25}})"
        "\n"
        R"({"error": {"status": 503, "message": "busy"}})"
        "\n"
        R"({"text": "Noted.", "usage": {"input": 150, "output": 20, "cache_read": 60, "cost_usd": 0.5}})"
        "\n");
    file("work.toml",
         "id = \"worker\"\nmodel = \"script:work.jsonl\"\n[tools.kv]\n[policy]\nallow = [\"kv\"]\n");
    file("broken.jsonl", R"({"error": {"status": 401, "message": "refused"}})");
    EXPECT_EQ(praxis({"run", "work.toml", "Note it"}).status, 0);
    EXPECT_EQ(praxis({"run", "--model", "script:broken.jsonl", "Hi"}).status, 6);
  }
  Json row(const std::vector<std::string>& by, const std::string& name) const {
    std::vector<std::string> words{"stats", "--json"};
    words.insert(words.end(), by.begin(), by.end());
    for (const Json& item : praxis(words).items()) {
      if (json_string(item, "name") == name) return item;
    }
    return nullptr;
  }
};

TEST_F(CliStats, CountsTurnsStepsToolsAndMoney) {
  const Json all = row({}, "");
  EXPECT_EQ(json_int(all, "turns"), 2);
  EXPECT_EQ(json_double(all, "success_rate"), 0.5);
  const Json worker = row({"--by", "agent"}, "worker");
  EXPECT_EQ(json_int(worker, "turns"), 1);
  EXPECT_EQ(json_int(worker, "steps"), 2);
  EXPECT_EQ(json_double(worker, "cost_usd"), 0.75);
  EXPECT_EQ(json_int(json_at(worker, "model_calls"), "retries"), 1);
  EXPECT_EQ(json_int(json_at(worker, "usage"), "cache_read"), 60);
  const Json tool = row({"--by", "tool"}, "kv");
  EXPECT_EQ(json_int(json_at(tool, "tool_calls"), "calls"), 2);
  EXPECT_EQ(json_int(json_at(tool, "tool_calls"), "errors"), 1);
  EXPECT_EQ(json_double(row({"--by", "model"}, "script:broken.jsonl"), "success_rate"), 0);
}

TEST_F(CliStats, SinceLeavesOutWhatEndedBefore) {
  EXPECT_EQ(json_int(row({"--since", "1h"}, ""), "turns"), 2);
  EXPECT_EQ(praxis({"stats", "--since", "soon"}).status, 2);
  EXPECT_EQ(praxis({"stats", "--by", "colour"}).status, 2);
  EXPECT_THAT(praxis({"stats", "--journal", "none.db"}).err, HasSubstr("no runs yet"));
}

TEST_F(CliStats, AgreesWithTheListOfRuns) {
  double cost = 0;
  for (const Json& run : praxis({"runs", "--json"}).items()) cost += json_double(run, "cost_usd");
  EXPECT_DOUBLE_EQ(json_double(row({"--by", "agent"}, "worker"), "cost_usd"), cost);
}

}  // namespace
}  // namespace praxis::testing
