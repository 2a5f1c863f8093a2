#include "praxis/app/agent_file.hpp"
#include "praxis/planners/six_step_planner.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

#include "app/agent_keys.hpp"
#include "journal/testing/journals.hpp"
#include "praxis/net/http_client.hpp"
#include "praxis/policy/policy.hpp"

namespace praxis {
namespace {

std::string mistake(std::string_view text, const AgentFileOptions& options = {}) {
  const auto agent = parse_agent_file(text, "a.toml", options);
  if (agent) return "no error was found";
  EXPECT_EQ(agent.error().code, ErrorCode::kInput);
  return agent.error().message;
}

AgentSpec spec_of(std::string_view text, const AgentFileOptions& options = {}) {
  const auto agent = parse_agent_file(text, "a.toml", options);
  EXPECT_TRUE(agent.has_value()) << agent.error().message;
  return agent ? agent->spec() : AgentSpec{};
}

std::vector<std::string> tools_of(const AgentSpec& spec) {
  std::vector<std::string> names;
  for (const ToolSpec& tool : spec.tools) names.push_back(tool.definition.name);
  return names;
}

using Names = std::vector<std::string>;

TEST(AgentFile, SettingsOfAPlannerAreRead) {
  const AgentSpec steps =
      spec_of("model = 'openai:a'\nplanner = 'six_steps'\n[six_steps]\nclarify_rounds = 1");
  EXPECT_EQ(json_int(steps.plan, "clarify_rounds"), 1);
  EXPECT_EQ(json_int(steps.plan, "information_rounds"), 3);
  const AgentSpec reviews = spec_of("model = 'openai:a'\nplanner = 'reflect'\n[reflect]\nrounds = 2");
  EXPECT_EQ(to_json_text(reviews.plan), R"({"kind":"reflect","rounds":2})");
}

TEST(AgentFile, RouteIsReadWithItsModels) {
  const AgentSpec spec =
      spec_of("model = 'openai:a|openai:b'\n[route]\norder = 'latency'\nmax_usd = 0.05\nrestart = true");
  EXPECT_EQ(spec.route, (Route{RouteOrder::kLatency, MicroUsd{50'000}, true}));
  EXPECT_NE(mistake("[route]\norder = 'quick'").find("route.order"), std::string::npos);
}

TEST(AgentFile, EveryFieldIsRead) {
  const AgentSpec spec = spec_of(R"(
id = "reviewer"
name = "Reviewer"
description = "Reviews code."
model = "openai:gpt-5-mini"
instructions = "Be brief."
tool_failure = "fail"
in_doubt = "tell"
[options]
temperature = 0.5
max_output_tokens = 1000
reasoning_effort = "low"
tool_choice = "text"
extra = { seed = 7 }
[limits]
max_steps = 10
max_tool_calls = 20
timeout = "4m60s"
max_tokens = 30
max_usd = 0.25
max_context = 40
max_parallel_tools = 2
max_model_attempts = 3
max_repeats = 4
max_messages = 5
[policy]
allow = ["kv"]
deny = ["shell*"]
ask = ["text"]
[tools.kv]
[tools.text]
[metadata]
team = "docs"
)");
  EXPECT_EQ(spec.id, "reviewer");
  EXPECT_EQ(spec.name, "Reviewer");
  EXPECT_EQ(spec.model, "openai:gpt-5-mini");
  EXPECT_EQ(spec.instructions, "Be brief.");
  EXPECT_EQ(spec.tool_failure, ToolFailureMode::kFail);
  EXPECT_EQ(spec.in_doubt, InDoubt::kTell);
  EXPECT_EQ(spec.options, (ModelOptions{0.5, 1000, "text", "low", {}, nullptr, JsonObject{{"seed", 7}}}));
  EXPECT_EQ(spec.limits, (Limits{10, 20, Millis{300'000}, 30, MicroUsd{250'000}, 40, 2, 3, 4, 5}));
  EXPECT_EQ(policy_rules_from_json(spec.policy), (PolicyRules{{"kv"}, {"shell*"}, {"text"}}));
  EXPECT_EQ(tools_of(spec), (Names{"kv", "text"}));
  EXPECT_EQ(json_string(spec.metadata, "team"), "docs");
}

TEST(AgentFile, AnEmptyFileIsAnAgentWithDefaults) {
  AgentSpec defaults;
  defaults.id = "a";  // called by its file, a.toml
  EXPECT_EQ(to_json(spec_of("")), to_json(defaults));
}

TEST(AgentFile, TimeoutsAreDurationsOrMilliseconds) {
  EXPECT_EQ(spec_of("[limits]\ntimeout = 1500").limits.timeout, Millis{1500});
  EXPECT_EQ(spec_of("[limits]\ntimeout = '1.5s'").limits.timeout, Millis{1500});
}

TEST(AgentFile, ListedFoldersAllowTheFileTools) {
  const AgentSpec spec = spec_of("[tools.file]\nread = ['docs']\nwrite = ['out']", {"/home/me", {}, {}});
  EXPECT_EQ(tools_of(spec), (Names{"file_read", "file_write"}));
  EXPECT_EQ(policy_rules_from_json(spec.policy).allow, Names{"file_write"});
  EXPECT_NE(spec.tools[0].definition.description.find("/home/me/docs"), std::string::npos);
}

TEST(AgentFile, ToolsForCodeHaveTheFoldersOfTheFileTools) {
  const AgentSpec spec =
      spec_of("[tools.file]\nread = ['docs']\nwrite = ['out']\ncode = true", {"/home/me", {}, {}});
  EXPECT_EQ(tools_of(spec), (Names{"file_read", "file_write", "glob", "grep", "edit"}));
  EXPECT_EQ(policy_rules_from_json(spec.policy).allow, (Names{"file_write", "edit"}));
  EXPECT_NE(spec.tools[4].definition.description.find("/home/me/out"), std::string::npos);
  EXPECT_EQ(tools_of(spec_of("[tools.file]\nread = ['docs']\ncode = true", {"/home/me", {}, {}})),
            (Names{"file_read", "glob", "grep"}));
}

TEST(AgentFile, ListedHostsAllowHttpUnlessDenied) {
  const AgentFileOptions options{{}, {}, make_http_client()};
  const AgentSpec spec = spec_of(
      "policy.deny = ['http']\n[tools.http]\nallow = ['example.com']\ntimeout = '2s'\nretries = 2", options);
  EXPECT_EQ(tools_of(spec), Names{"http"});
  EXPECT_EQ(spec.tools[0].definition.timeout, Millis{2000});
  EXPECT_EQ(spec.tools[0].retries, 2U);
  const Permission permission = judge(policy_rules_from_json(spec.policy), spec.tools[0].definition,
                                      {CallId{"c"}, "http", "{}", true, nullptr});
  EXPECT_TRUE(std::holds_alternative<Deny>(permission));
}

constexpr std::string_view kPlan = R"(
model = "openai:one"
instructions = "Keep notes."
[tools.kv]
[[plan]]
tool = "kv"
input = { op = "list" }
[[plan]]
finish = "Done."
)";

TEST(AgentFile, PlanIsFollowedUnlessAModelIsGiven) {
  const AgentSpec planned = spec_of(kPlan);
  EXPECT_EQ(to_json_text(planned.plan), R"([{"tool":"kv","input":{"op":"list"}},{"finish":"Done."}])");
  const AgentSpec driven = spec_of(kPlan, {{}, "openai:two", {}});
  EXPECT_TRUE(driven.plan.is_null());
  EXPECT_EQ(driven.model, "openai:two");
  EXPECT_EQ(driven.instructions, "Keep notes.");
}

TEST(AgentFile, PlannerStaysWithEveryModel) {
  constexpr std::string_view kSixSteps = "model = 'openai:one'\nplanner = 'six_steps'\n[tools.fork]";
  EXPECT_EQ(to_json_text(spec_of(kSixSteps).plan), to_json_text(six_steps_plan()));
  EXPECT_EQ(tools_of(spec_of(kSixSteps)), Names{"fork"});
  const AgentSpec driven = spec_of(kSixSteps, {{}, "openai:two", {}});
  EXPECT_FALSE(driven.plan.is_null());
  EXPECT_EQ(driven.model, "openai:two");
}

TEST(AgentFile, FilesAreRelativeToTheAgentFileAndItsPathIsKept) {
  const testing::TemporaryFolder folder;  // the suite may run twice in parallel
  std::ofstream(folder / "words.md") << "Be kind.";
  std::ofstream(folder / "a.toml") << "instructions_file = 'words.md'\nmetadata.team = 'docs'";
  const auto agent = load_agent_file(folder / "a.toml");
  ASSERT_TRUE(agent.has_value()) << agent.error().message;
  EXPECT_EQ(agent->spec().instructions, "Be kind.");
  EXPECT_EQ(json_string(agent->spec().metadata, "agent_file"), folder / "a.toml");
  EXPECT_EQ(json_string(agent->spec().metadata, "team"), "docs");
}

TEST(AgentFileMistake, UnreadableFile) {
  const auto agent = load_agent_file("/nowhere/a.toml");
  ASSERT_FALSE(agent.has_value());
  EXPECT_EQ(agent.error().message, "cannot read \"/nowhere/a.toml\": No such file or directory");
}

TEST(AgentFileMistake, NotToml) {
  EXPECT_TRUE(mistake("id = \"a\"\nmodel = ").starts_with("a.toml:2:")) << mistake("id = \"a\"\nmodel = ");
  EXPECT_NE(mistake("x = [").find("this is not TOML: "), std::string::npos);
}

TEST(AgentFileMistake, DatesAreRejected) {
  EXPECT_EQ(mistake("[metadata]\nday = 2024-01-01"),
            "a.toml:2:1: dates and times have no use here; write a string in quotes");
}

TEST(AgentFileMistake, UnknownKeyNamesTheNearest) {
  EXPECT_EQ(mistake("id = 'a'\n  modle = 'x:y'"),
            "a.toml:2:3: unknown key \"modle\"; did you mean \"model\"?");
  EXPECT_EQ(mistake("[limits]\nmax_step = 3"),
            "a.toml:2:1: unknown key \"limits.max_step\"; did you mean \"max_steps\"?");
  EXPECT_EQ(mistake("[tool.kv]"), "a.toml:1:2: unknown key \"tool\"; did you mean \"tools\"?");
}

TEST(AgentFileMistake, UnknownKeyWithoutANearNameListsTheKeys) {
  EXPECT_EQ(mistake("[policy]\nforbid_everything = true"),
            "a.toml:2:1: unknown key \"policy.forbid_everything\"; [policy] can have allow, ask, deny, "
            "calls, rules, filters, flow and redact");
  EXPECT_EQ(mistake("[tools.kv]\nsize = 3"),
            "a.toml:2:1: unknown key \"tools.kv.size\"; [tools.kv] has no keys");
}

TEST(AgentFileMistake, ValuesOfTheWrongKind) {
  EXPECT_EQ(mistake("id = 3"), "a.toml:1:1: \"id\" must be a non-empty string, not 3");
  EXPECT_EQ(mistake("id = ''"), "a.toml:1:1: \"id\" must be a non-empty string, not \"\"");
  for (const char* id : {"x y z", "a/b", "a\\tb"})
    EXPECT_EQ(mistake("model = 'x:y'\nid = \"" + std::string(id) + '"'),
              "a.toml:2:1: \"id\" must be one word without \"/\"; \"name\" is shown to users");
  EXPECT_EQ(mistake("tool_failure = 'stop'"),
            "a.toml:1:1: \"tool_failure\" must be one of \"continue\", \"fail\", not \"stop\"");
  EXPECT_EQ(mistake("limits = 3"), "a.toml:1:1: \"limits\" must be a table, not 3");
  EXPECT_EQ(mistake("limits.max_steps = -1"),
            "a.toml:1:8: \"limits.max_steps\" must be an integer from 0 to 4294967295, not -1");
  EXPECT_EQ(mistake("options.temperature = nan"),
            "a.toml:1:9: \"options.temperature\" must be a number from 0 to 2, not null");
  EXPECT_EQ(mistake("limits.timeout = 'soon'"),
            "a.toml:1:8: \"limits.timeout\" must be a duration such as \"500ms\", \"30s\", \"5m\" or \"2h\", "
            "or an integer of milliseconds, not \"soon\"");
  EXPECT_EQ(mistake("policy.allow = 'kv'"),
            "a.toml:1:8: \"policy.allow\" must be an array of non-empty strings, not \"kv\"");
  EXPECT_EQ(mistake("policy.allow = ['kv', 3]"),
            "a.toml:1:8: \"policy.allow\" must be an array of non-empty strings, not [\"kv\",3]");
  EXPECT_EQ(mistake("planner = 'seven_steps'"),
            "a.toml:1:1: \"planner\" must be one of \"six_steps\", \"reflect\", not \"seven_steps\"");
  EXPECT_EQ(mistake("planner = 'six_steps'\n[[plan]]\nfinish = 'x'"),
            "a.toml:1:1: give either \"planner\" or [[plan]], not both");
  EXPECT_EQ(mistake("plan = 'x'"), "a.toml:1:1: \"plan\" must be an array of tables, not \"x\"");
}

TEST(AgentFileMistake, TwoKindsOfInstructions) {
  EXPECT_EQ(mistake("instructions = 'a'\ninstructions_file = 'b'"),
            "a.toml:2:1: give either \"instructions\" or \"instructions_file\", not both");
  EXPECT_EQ(mistake("instructions_file = '/nowhere/b'"),
            "a.toml:1:1: cannot read \"/nowhere/b\": No such file or directory");
}

TEST(AgentFileMistake, ToolsWithoutFoldersOrHosts) {
  EXPECT_EQ(mistake("[tools.file]"),
            "a.toml:1:8: [tools.file] needs folders in \"read\", in \"write\" or in both");
  EXPECT_EQ(mistake("[tools.http]\nallow = []"),
            "a.toml:1:8: [tools.http] needs the hosts it may reach in \"allow\"");
  EXPECT_EQ(mistake("[tools.http]\nallow = ['example.com']"),
            "a.toml:1:8: this program provides no network for agents");
  EXPECT_TRUE(mistake("[tools.http]\nallow = ['https://x']", {{}, {}, make_http_client()})
                  .starts_with("a.toml:2:1: "));
}

TEST(AgentFileMistake, UnknownTools) {
  EXPECT_EQ(mistake("options.tool_choice = 'texts'\n[tools.text]"),
            "a.toml:1:9: this agent has no tool \"texts\"; did you mean \"text\"?");
  EXPECT_EQ(mistake("[tools.kv]\n[[plan]]\ntool = 'kvs'"),
            "a.toml:3:1: this agent has no tool \"kvs\"; did you mean \"kv\"?");
  EXPECT_EQ(mistake("[[plan]]\ntools = [{tool = 'http'}]"),
            "a.toml:2:11: this agent has no tool \"http\"; [tools] lists its tools");
}

TEST(AgentFileMistake, PlansAreCheckedWithTheirLine) {
  EXPECT_EQ(mistake("[tools.kv]\n[[plan]]\ntool = 'kv'\n\n[[plan]]\nfinsh = 'x'"),
            "a.toml:5:1: plan step 2 (\"step2\"): unknown key \"finsh\"; did you mean \"finish\"?");
  EXPECT_TRUE(mistake("plan = [{finish = '${steps.x.text}'}]").starts_with("a.toml:1:9: plan step 1"));
}

// ---- sub-agents

/// A temporary folder of agent files.
class AgentFiles : public ::testing::Test {
 protected:
  AgentFiles() {
    std::string name = (std::filesystem::temp_directory_path() / "praxis_agents_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~AgentFiles() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    const auto path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }
  static std::string names(const std::string& name, const std::string& path) {
    return "[agents." + name + "]\nfile = '" + path + "'\ndescription = 'Does it'\n";
  }
  /// The error of loading a file, without the folder's name.
  std::string mistake_in(const std::string& path, const AgentFileOptions& options = {}) const {
    const auto agent = load_agent_file(path, options);
    if (agent) return "no error was found";
    return std::regex_replace(agent.error().message, std::regex(folder_.string() + "/"), "");
  }

  std::filesystem::path folder_;
};

TEST_F(AgentFiles, SubAgents_AreToolsNamedByTheirTables) {
  file("team/research.toml", "id = 'researcher'\n[tools.kv]\n");
  const auto agent =
      load_agent_file(file("lead.toml", "[tools.text]\n" + names("research", "team/research.toml")));
  ASSERT_TRUE(agent) << agent.error().message;
  EXPECT_EQ(tools_of(agent->spec()), (Names{"text", "research"}));
  EXPECT_EQ(agent->spec().tools[1].definition.description, "Does it");
  EXPECT_TRUE(agent->spec().tools[1].definition.safe_by_default);
}

TEST_F(AgentFiles, TheSameFileTwice_IsNoCycle) {
  file("leaf.toml", "");
  file("middle.toml", names("leaf", "leaf.toml"));
  EXPECT_TRUE(
      load_agent_file(file("lead.toml", names("leaf", "leaf.toml") + names("middle", "middle.toml"))));
}

TEST_F(AgentFiles, AnErrorBelow_NamesItsFile) {
  file("research.toml", "[tools]\nkvv = {}\n");
  EXPECT_TRUE(mistake_in(file("lead.toml", names("research", "research.toml")))
                  .starts_with("research.toml:2:1: unknown key \"tools.kvv\"; did you mean \"kv\"?"));
}

TEST_F(AgentFiles, Cycles_AreNamedLinkByLink) {
  file("b.toml", names("c", "c.toml"));
  file("c.toml", names("b", "b.toml"));
  EXPECT_EQ(mistake_in(file("a.toml", names("b", "b.toml"))),
            "c.toml:2:1: agents cannot be their own sub-agents: b.toml -> c.toml -> b.toml");
  std::filesystem::create_symlink(folder_ / "self.toml", folder_ / "other.toml");
  EXPECT_EQ(mistake_in(file("self.toml", names("me", "other.toml"))),
            "self.toml:2:1: agents cannot be their own sub-agents: self.toml -> other.toml");
}

TEST_F(AgentFiles, LevelsAndNumber_AreBounded) {
  file("l9.toml", "");
  for (int i = 8; i > 0; --i)
    file("l" + std::to_string(i) + ".toml", names("next", "l" + std::to_string(i + 1) + ".toml"));
  EXPECT_EQ(mistake_in((folder_ / "l1.toml").string()),
            "l8.toml:2:1: agent files name each other at most 8 levels deep");
  EXPECT_TRUE(load_agent_file((folder_ / "l2.toml").string()));

  std::string many;
  for (int i = 0; i < 65; ++i) many += names("a" + std::to_string(i), "l9.toml");
  EXPECT_EQ(mistake_in(file("many.toml", many)), "many.toml:194:1: one agent has at most 64 files below it");
}

TEST_F(AgentFiles, MissingKeysOfASubAgent_AreReportedWithTheirPlace) {
  EXPECT_EQ(mistake_in(file("a.toml", "[agents.x]\nfile = 'x.toml'\n")),
            "a.toml:1:9: [agents.x] needs \"file\" and \"description\"");
  EXPECT_EQ(mistake_in(file("a.toml", names("x", "x.toml"))),
            "a.toml:2:1: there is no agent file \"x.toml\"");
  EXPECT_TRUE(mistake_in(file("a.toml", "[agents.x]\nfiel = 'x.toml'"))
                  .starts_with("a.toml:2:1: unknown key \"agents.x.fiel\"; did you mean \"file\"?"));
  file("x.toml", "");
  EXPECT_TRUE(mistake_in(file("a.toml", "[tools.kv]\n" + names("kv", "x.toml"))).starts_with("a.toml:2:9: "))
      << "the name is taken";
}

TEST_F(AgentFiles, RememberedCalls_AreAddedForTheirFile) {
  const std::string asks = "[policy]\nask = ['kv']\n[tools.kv]\n";
  const std::string mine = file("mine.toml", asks), other = file("other.toml", asks);
  const auto remembered = std::make_shared<const RememberedRules>((folder_ / "rules.jsonl").string());
  const CallRule rule{"kv", JsonObject{{"op", "list"}}};
  ASSERT_TRUE(remembered->add(mine, rule));
  AgentFileOptions options;
  options.remembered = remembered;
  const auto rules = [&](const std::string& path) {
    return policy_rules_from_json(load_agent_file(path, options)->spec().policy).calls;
  };
  EXPECT_EQ(rules(mine), std::vector<CallRule>{rule});
  EXPECT_EQ(rules(other), std::vector<CallRule>{});
}

TEST(AgentFile, AgentWithoutAModel_GetsTheDefaultModel) {
  AgentFileOptions options;
  options.default_model = "openai:one";
  EXPECT_EQ(spec_of("", options).model, "openai:one");
  EXPECT_EQ(spec_of("model = 'openai:two'", options).model, "openai:two");
  EXPECT_EQ(spec_of("[[plan]]\nfinish = 'Done.'", options).model, "") << "a plan needs no model";
}

TEST(AgentFile, ShellAndPython_NeedARule) {
  EXPECT_EQ(mistake("[tools.shell]"),
            "a.toml:1:8: [tools.shell] needs a rule: name \"shell\" in policy.ask, or in policy.allow");
  EXPECT_EQ(
      tools_of(spec_of("policy.ask = ['shell']\npolicy.allow = ['py*']\n[tools.shell]\n[tools.python]")),
      (Names{"shell", "python"}));
  EXPECT_TRUE(
      mistake("policy.ask = ['shell']\n[tools.shell]\nallow = ['https://x']").starts_with("a.toml:3:1: "));
}

/// A value that fits a property of the schema, as TOML.
std::string example_of(const Json& schema) {
  const std::string type = json_string(schema, "type");
  if (const auto* choices = json_at(schema, "enum").if_array()) return to_json_text((*choices)[0]);
  if (type == "string") return R"("auto")";
  if (type == "integer" || type == "number") return to_json_text(json_at(schema, "minimum"));
  if (type == "array") return "[]";
  if (type == "boolean") return "true";
  return type == "object" ? "{}" : R"("5m")";
}

void collect_leaves(const Json& schema, const std::string& path, std::map<std::string, Json>& leaves) {
  const Json& properties = json_at(schema, "properties");
  const Json& others = json_at(schema, "additionalProperties");
  if (others.is_object()) return collect_leaves(others, path + ".*", leaves);
  if (!properties.is_object() || properties.get_object().empty()) {
    leaves[path] = schema;
    return;
  }
  for (const auto& [key, value] : properties.get_object()) {
    collect_leaves(value, path.empty() ? std::string(key) : path + '.' + std::string(key), leaves);
  }
}

TEST(AgentFile, MessagesToOtherAgents_AreOffWithoutTheirTable) {
  EXPECT_EQ(tools_of(spec_of("model = 'openai:one'\n[tools.kv]")), Names{"kv"});
  EXPECT_EQ(tools_of(spec_of("model = 'openai:one'\n[tools.send_message]\nmax_hops = 2")),
            Names{"send_message"});
  EXPECT_TRUE(mistake("[tools.send_message]\nmax_hops = 0").starts_with("a.toml:2:1"))
      << mistake("[tools.send_message]\nmax_hops = 0");
}

TEST(AgentFileSchema, IsThePublishedOne) {
  std::ifstream file(PRAXIS_SOURCE_DIR "/share/praxis/agent.schema.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto published = parse_json(text);
  ASSERT_TRUE(published.has_value()) << published.error().message;
  EXPECT_EQ(to_canonical_json(*published), to_canonical_json(agent_file_schema()))
      << "share/praxis/agent.schema.json should be:\n"
      << to_json_text(agent_file_schema());
}

TEST(AgentFileSchema, HasEveryKeyAndNoOther) {
  std::map<std::string, Json> leaves;
  collect_leaves(agent_file_schema(), "", leaves);
  EXPECT_EQ(leaves.size(), agent_keys().size());
  for (const SettingKey& key : agent_keys()) EXPECT_TRUE(leaves.contains(std::string(key.path))) << key.path;
  for (const auto& [path, schema] : leaves) {
    const std::string key = std::regex_replace(path, std::regex("[*]"), "any");
    const auto document = TomlDocument::parse(key + " = " + example_of(schema), "a.toml");
    ASSERT_TRUE(document.has_value()) << path;
    const auto checked = check_keys(*document, agent_keys());
    EXPECT_TRUE(checked.has_value()) << path << ": " << checked.error().message;
  }
}

TEST(AgentFile, LimitKeys_AreTheLimitsByTheirNames) {
  std::set<std::string> keys, limits;
  for (const SettingKey& key : limit_keys())
    keys.emplace(key.path.substr(std::string_view("limits.").size()));
  const Json written = to_json(Limits{});
  for (const auto& [name, value] : written.get_object()) limits.emplace(name);
  EXPECT_EQ(keys, limits);
}

}  // namespace
}  // namespace praxis
