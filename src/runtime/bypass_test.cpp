// Ways around rules (bypasses.jsonl, each with its source): each is denied wherever a call can come from, and
// each is let through, unchanged, where the rules allow everything.
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <set>

#include "driver/call_review.hpp"
#include "praxis/net/http_client.hpp"
#include "runtime/testing/filtered.hpp"
#include "tools/host_rules.hpp"

namespace praxis::testing {
namespace {

using ::testing::IsEmpty;

struct BypassCase {
  std::string id, source, tool;
  Json arguments, form;
};

/// The cases of calls, or those of addresses.
std::vector<BypassCase> bypasses(bool of_calls) {
  std::vector<BypassCase> cases;
  std::ifstream file(PRAXIS_SOURCE_DIR "/src/runtime/testing/bypasses.jsonl");
  for (std::string line; std::getline(file, line);) {
    const Json json = parse_json(line).value();
    BypassCase one{json_string(json, "id"), json_string(json, "source"), json_string(json, "tool"),
                   json_at(json, "arguments"), json};
    if (one.tool.empty() != of_calls) cases.push_back(std::move(one));
  }
  return cases;
}

/// The tools of the cases; they allow nothing by themselves, and keep what they were called with.
class BypassCases : public FilteredTest {
 protected:
  static PolicyRules narrow() {
    PolicyRules rules;
    for (
        const char* text :
        {R"({"id": "log", "allow": "shell", "when": {"argv": {"begins": ["git", "log"]}}})",
         R"({"id": "no", "deny": "shell", "when": {"argv": {"has": ["--output", "--ext-diff", "--textconv"]}}})",
         R"({"id": "docs", "allow": "file_read", "when": {"path": {"below": "docs"}}})",
         R"({"id": "host", "allow": "http", "when": {"url": {"host": ["example.com"]}}})"})
      rules.rules.push_back(policy_rule_from_json(parse_json(text).value()).value());
    return rules;
  }
  static PolicyRules open() {
    PolicyRules rules;
    rules.allow = {"shell", "file_read", "http"};
    return rules;
  }
  Agent with_tools(Agent agent) {
    for (const char* name : {"shell", "file_read", "http"}) {
      Tool tool = host_tool(name, [this, name](ToolContext&, const Json& arguments) -> Result<ToolOutput> {
        const std::lock_guard lock(mutex_);
        ran_.insert(name + to_canonical_json(arguments));
        return says("ran");
      });
      tool.definition.safe_by_default = false;
      agent.use(std::move(tool));
    }
    return agent;
  }
  Agent on_runtime() { return Agent().runtime(runtime_); }
  /// What ran since the last look.
  std::set<std::string> ran() {
    const std::lock_guard lock(mutex_);
    return std::exchange(ran_, {});
  }
  static std::set<std::string> all(const std::vector<BypassCase>& cases) {
    std::set<std::string> keys;
    for (const BypassCase& one : cases) keys.insert(one.tool + to_canonical_json(one.arguments));
    return keys;
  }
  /// A model that makes all calls of the cases in one answer.
  std::shared_ptr<Model> calling_all() const {
    return stub_model([cases = cases_](const ModelRequest& request) {
      if (request.history.messages().size() > 1) return stub_text("done");
      ModelResponse response;
      for (const BypassCase& one : cases) {
        ModelResponse call = stub_call(one.id, one.tool, one.arguments);
        response.parts.push_back(std::move(call.parts.back()));
        response.finish = call.finish;
      }
      return response;
    });
  }
  /// An agent whose tool calls all of them, as a program in Python does.
  Agent calling_within() {
    Agent agent = with_tools(scripted(proposing("outer", "{}")));
    Tool outer = host_tool("outer", [this](ToolContext& context, const Json&) -> Result<ToolOutput> {
      for (const BypassCase& one : cases_) std::ignore = context.call_tool(one.tool, one.arguments);
      return says("ok");
    });
    outer.definition.timeout = Millis{0};
    return agent.use(std::move(outer));
  }
  /// An agent that follows a written plan, in which `$$` stands for a `$`.
  Agent planning_all() {
    JsonArray steps;
    for (const BypassCase& one : cases_) {
      std::string written;
      for (const char c : to_json_text(one.arguments)) written += c == '$' ? "$$" : std::string(1, c);
      steps.push_back(
          JsonObject{{"tool", one.tool}, {"input", parse_json(written).value()}, {"on_error", "continue"}});
    }
    steps.push_back(JsonObject{{"finish", "done"}});
    return with_tools(on_runtime()).plan(std::move(steps));
  }
  static Limits endless() {
    Limits limits;
    limits.max_steps = 2'000;
    limits.max_repeats = 0;
    return limits;
  }

  std::vector<BypassCase> cases_ = bypasses(true);
  std::mutex mutex_;
  std::set<std::string> ran_;
};

TEST_F(BypassCases, AreManyAndHaveASourceEach) {
  const std::vector<BypassCase> addresses = bypasses(false);
  std::map<std::string, int> ids;
  for (const auto* cases : {&std::as_const(cases_), &addresses}) {
    for (const BypassCase& one : *cases) {
      EXPECT_TRUE(one.source.starts_with("https://")) << one.id;
      EXPECT_EQ(++ids[one.id], 1) << one.id;
    }
  }
  EXPECT_GE(ids.size(), 300U);
  EXPECT_EQ(all(cases_).size(), cases_.size()) << "no case twice";
}

TEST_F(BypassCases, RulesDenyEachAlsoBelowAnAgentAndAllowEachIfOpen) {
  ToolDefinition tool;
  for (const BypassCase& one : cases_) {
    ToolCallPart call;
    call.name = one.tool;
    call.arguments = to_json_text(one.arguments);
    tool.name = one.tool;
    const auto denied = [&](const driver::Rules& rules) {
      return std::holds_alternative<Deny>(driver::judge_call(rules, &tool, call).permission);
    };
    EXPECT_TRUE(denied({narrow()})) << one.id << ' ' << call.arguments;
    EXPECT_TRUE(denied({narrow(), open()})) << one.id << " in a sub-agent that allows more";
    EXPECT_TRUE(denied({open(), narrow()})) << one.id << " in a sub-agent that allows less";
    EXPECT_FALSE(denied({open()})) << one.id;
  }
}

TEST_F(BypassCases, RunFromNoPlaceThatCallsCanComeFrom) {
  constexpr std::size_t kOfOneRun = 48;
  const std::vector<BypassCase> every = cases_;
  const auto runs = [&](const std::function<void(const PolicyRules&)>& run) {
    for (std::size_t at = 0; at < every.size(); at += kOfOneRun) {
      const std::size_t end = std::min(at + kOfOneRun, every.size());
      cases_ = {every.begin() + static_cast<std::ptrdiff_t>(at),
                every.begin() + static_cast<std::ptrdiff_t>(end)};
      run(narrow());
      EXPECT_THAT(ran(), IsEmpty());
      run(open());
      EXPECT_EQ(ran(), all(cases_)) << "each works if it is allowed";
    }
  };
  runs([&](const PolicyRules& rules) {
    checked(with_tools(on_runtime()).model(calling_all()).limits(endless()).policy(rules).run("go"));
  });
  runs([&](const PolicyRules& rules) {
    PolicyRules more = rules;
    more.allow.emplace_back("outer");
    checked(calling_within().limits(endless()).policy(more).run("go"));
  });
  runs([&](const PolicyRules& rules) {
    std::ignore = planning_all().limits(endless()).policy(rules).run("go");
  });
  runs([&](const PolicyRules& rules) {
    const Agent leaf =
        with_tools(on_runtime()).model(calling_all()).limits(endless()).id("leaf").policy(open());
    PolicyRules more = rules;
    more.allow.emplace_back("work");
    checked(above(leaf, "root").policy(more).run("go"));
  });
}

TEST_F(BypassCases, AddressesInAnyFormAndOfAnyNameAreRefused) {
  const HostRules rules = HostRules::parse({"example.com"}).value();
  const Url named = parse_url("http://example.com/").value();
  ASSERT_TRUE(rules.allows_address(named, "93.184.215.14")) << "a public address";
  for (const BypassCase& one : bypasses(false)) {
    const std::string address = json_string(one.form, "address"), url = json_string(one.form, "url");
    EXPECT_FALSE(rules.allows_address(named, address)) << one.id << " for an allowed name";
    const bool ipv6 = address.contains(':');
    const HostRules listing = HostRules::parse({ipv6 ? '[' + address + ']' : address}).value();
    EXPECT_TRUE(listing.allows_address(
        named, parse_url("http://" + (ipv6 ? '[' + address + ']' : address)).value().host))
        << one.id << " works if it is listed";
    if (url.empty()) continue;
    const auto parsed = parse_url(url);
    if (!parsed) continue;  // no such URL is fetched at all
    EXPECT_FALSE(rules.allows(*parsed)) << one.id;
    EXPECT_TRUE(!parsed->is_address || is_non_public_address(parsed->host)) << one.id;
  }
}

}  // namespace
}  // namespace praxis::testing
