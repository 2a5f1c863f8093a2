// A hostile agent tries at random what tests/sandbox has, in a sandbox and through the file tools, while an
// honest one works next to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <thread>

#include "fault.hpp"
#include "hostile_ground.hpp"
#include "praxis/json/json.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/praxis.hpp"
#include "praxis/process/process.hpp"
#include "praxis/tools/python_tool.hpp"

namespace praxis::faults {
namespace hostile {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kProbes = 8, kMoves = 40, kFileCalls = 6;
constexpr const char* kNumbers = "3\n19\n7\n19\n";

fs::path scripts() { return fs::path(PRAXIS_SOURCE_DIR) / "tests/sandbox"; }

std::vector<std::string> names_of_probes() {
  ProcessSpec spec;
  spec.argv = {"/usr/bin/python3", "-I", scripts() / "probes.py", "--list"};
  const auto result = must(must(start_process(spec)).wait({}));
  std::istringstream list(result.out.text());
  std::vector<std::string> names;
  for (std::string line; std::getline(list, line);) names.push_back(line.substr(0, line.find('*')));
  if (names.size() < 100) throw std::runtime_error("no probes: " + result.err.text());
  return names;
}

/// The argument of hostile.py.
std::string settings(const Ground& ground, std::uint64_t seed, std::vector<std::string> names, bool outside) {
  JsonObject variables;
  for (const auto& [name, value] : ground.environment()) variables[name] = value;
  JsonArray reach, probes;
  for (const std::string& path : ground.reach()) reach.emplace_back(path);
  for (const std::string& name : names) probes.emplace_back(name);
  return to_json_text(JsonObject{{"seed", seed & 0xffffffff},
                                 {"moves", outside ? 10 * kMoves : kMoves},
                                 {"probes", probes},
                                 {"reach", reach},
                                 {"outside", outside},
                                 {"scripts", scripts().string()},
                                 {"environment", variables}});
}

ProcessLimits limits() {
  ProcessLimits made = ShellToolOptions::shell_limits();
  made.memory_bytes = 256 << 20;
  made.processes = 64;
  made.file_bytes = 64 << 20;
  made.wall_time = Millis(30'000);
  return made;
}

/// One call of hostile.py, by the tool `shell` or `python`.
JsonObject attack(const Ground& ground, Random& random, const std::vector<std::string>& names) {
  std::vector<std::string> some;
  for (std::uint64_t i = 0; i < kProbes; ++i) some.push_back(names[random.below(names.size())]);
  const std::string how = settings(ground, random(), some, false);
  const std::string script = scripts() / "hostile.py";
  if (random.once_in(3)) {
    const std::string code = "import sys\nsys.argv = ['hostile.py', " + to_json_text(Json(how)) +
                             "]\nexec(open(" + to_json_text(Json(script)) + ").read())\n";
    return {{"name", "python"}, {"arguments", JsonObject{{"code", code}}}};
  }
  return {{"name", "shell"},
          {"arguments", JsonObject{{"argv", JsonArray{"/usr/bin/python3", "-I", script, how}}}}};
}

/// A call of a file tool with a path that must be refused, or leads to nothing that is protected.
JsonObject file_call(const Ground& ground, Random& random) {
  const std::vector<std::string> reach = ground.reach();
  const fs::path target = reach[random.below(reach.size())];
  const std::array<fs::path, 5> ways{
      target, target.lexically_relative(ground.hostile()), fs::path("link") / target.filename(),
      fs::path("/proc/self/root") / target, fs::path("team/x") / target.filename()};
  const std::string path = ways[random.below(ways.size())];
  if (random.once_in(2))
    return {{"name", "file_write"}, {"arguments", JsonObject{{"path", path}, {"content", "evil"}}}};
  const bool lists = random.once_in(4);
  return {{"name", "file_read"},
          {"arguments", lists ? JsonObject{{"op", "search"}, {"path", "."}, {"pattern", "canary"}}
                              : JsonObject{{"op", "read"}, {"path", path}}}};
}

Agent hostile_agent(const Ground& ground, const std::shared_ptr<Runtime>& runtime, Random& random,
                    const std::vector<std::string>& names) {
  JsonArray before, after;
  for (std::uint64_t i = 0; i < kFileCalls; ++i) {
    before.emplace_back(file_call(ground, random));
    after.emplace_back(file_call(ground, random));
  }
  before.emplace_back(attack(ground, random, names));
  const std::string script = to_json_text(JsonObject{{"tool_calls", before}}) + '\n' +
                             to_json_text(JsonObject{{"tool_calls", after}}) + "\n{\"text\": \"done\"}";
  const std::string folder = ground.hostile();
  const FileBounds bounds{
      .no_links_below = {folder}, .protect = {ground.hostile() / "conf/agent.toml"}, .hide = {ground.runs()}};
  ShellToolOptions shell;
  shell.folder = folder;
  shell.readable = {scripts()};
  shell.protect = {bounds.protect.front(), ground.hostile() / "conf/later.toml"};
  shell.hide = bounds.hide;
  shell.no_links_below = bounds.no_links_below;
  shell.limits = limits();
  PythonToolOptions python;
  python.sandbox->writable = {folder};
  python.sandbox->readable = {scripts()};
  python.sandbox->protect = shell.protect;
  python.sandbox->hide = shell.hide;
  python.memory_bytes = shell.limits.memory_bytes;
  python.file_bytes = shell.limits.file_bytes;
  Agent agent("", "Be hostile.");
  agent.id("hostile").model(must(script_model(script, "hostile", runtime->model_services().executor)));
  agent.use(shell_tool(shell)).use(python_tool(python));
  agent.use(file_read_tool({folder}, bounds)).use(file_write_tool({folder}, bounds));
  return agent.policy({.allow = {"*"}, .deny = {}, .ask = {}}).runtime(runtime);
}

Agent honest_agent(const Ground& ground, const std::shared_ptr<Runtime>& runtime) {
  const std::string folder = ground.honest();
  ShellToolOptions shell;
  shell.folder = folder;
  shell.limits = limits();
  Agent agent("", "Be honest.");
  agent.id("honest").use(shell_tool(shell)).use(file_read_tool({folder})).use(file_write_tool({folder}));
  agent.plan(must(parse_json(R"([
  {"id": "sum", "tool": "shell", "input": {"argv": ["sh", "-c", "sort -n numbers | uniq -d > answer; cat answer"]}},
  {"id": "put", "tool": "file_write", "input": {"path": "kept", "content": "nineteen"}},
  {"id": "get", "tool": "file_read", "input": {"op": "read", "path": "answer"}},
  {"id": "end", "finish": "${steps.sum.text}/${steps.get.text}"}])")));
  return agent.policy({.allow = {"*"}, .deny = {}, .ask = {}}).runtime(runtime);
}

/// Fails if the log of the hostile agent holds something that it must not get, or raw control characters.
void expect_got_nothing(const std::string& log) {
  for (const char* text : {Ground::kSecret, "OPEN ", "\\u001b", "\xc2\x9b", "\xe2\x80\xae", "\xe2\x81\xa6"}) {
    const std::size_t at = log.find(text);
    EXPECT_EQ(at, std::string::npos) << "the hostile agent got: " << log.substr(at < 300 ? 0 : at - 300, 600);
  }
}

void expect_unchanged(const std::map<std::string, std::string>& before,
                      const std::map<std::string, std::string>& after) {
  for (const auto& [path, now] : after) {
    const auto was = before.find(path);
    EXPECT_TRUE(was != before.end() && was->second == now)
        << path << " was " << (was == before.end() ? "nothing" : was->second) << ", is " << now;
  }
}

void play(Ground& ground, const std::vector<std::string>& names, std::uint64_t seed) {
  Random random(seed);
  ground.refresh();
  std::ofstream(ground.honest() / "numbers") << kNumbers;
  const auto before = ground.canaries();
  const auto journal = memory_journal();
  RuntimeOptions options;
  options.journal = journal;
  const auto runtime = Runtime::create(std::move(options));
  const Agent good = honest_agent(ground, runtime), bad = hostile_agent(ground, runtime, random, names);
  Result<AgentResult> answer = fail(ErrorCode::kInternal, "did not run"), attacked = answer;
  {
    const std::jthread one([&] { answer = runtime->run_once(good, "Which number is there twice?"); });
    const std::jthread other([&] { attacked = runtime->run_once(bad, "Take everything."); });
  }
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(answer->text, ::testing::HasSubstr("19"))
      << "the honest agent: " << (answer->error ? answer->error->message : "");
  EXPECT_EQ(Ground::text_of(ground.honest() / "answer") + Ground::text_of(ground.honest() / "kept"),
            "19\nnineteen");
  ASSERT_TRUE(attacked) << attacked.error().message;
  expect_got_nothing(must(export_session(*journal, attacked->session)));
  expect_unchanged(before, ground.canaries());
  EXPECT_EQ(ground.traces((scripts() / "hostile.py").string()), "");
}

/// Without a sandbox, the same moves must read the secrets and change the canaries: else the checks that
/// follow would prove nothing.
void expect_the_moves_reach(Ground& ground) {
  const auto before = ground.canaries();
  ProcessSpec spec;
  spec.argv = {"/usr/bin/python3", "-I", scripts() / "hostile.py", settings(ground, 1, {}, true)};
  spec.folder = ground.hostile();
  spec.limits.wall_time = Millis(30'000);
  const auto result = must(must(start_process(spec)).wait({}));
  if (result.out.text().find(Ground::kSecret) == std::string::npos || ground.canaries() == before)
    throw std::runtime_error("the moves reach nothing even outside of a sandbox: " + result.err.text());
}

Run start() {
  if (!probe_sandbox().full()) throw Skipped{probe_sandbox().reason()};
  auto ground = std::make_shared<Ground>();
  expect_the_moves_reach(*ground);
  return [ground, names = names_of_probes()](std::uint64_t seed) { play(*ground, names, seed); };
}

}  // namespace
}  // namespace hostile

Fault hostile_fault() {
  return {.name = "hostile",
          .breaks =
              "an agent tries at random, by `shell`, `python` and the file tools: network, other "
              "processes, files by links, renames and exchanges, protected and hidden files, set-user-id "
              "files, descriptors, memory, processes, invisible text; an honest one works next to it",
          .holds =
              "the honest one has the right answer; the other read no secret, changed no file outside or "
              "protected (content, inode, mode, links), reached no socket or process, left nothing",
          .few = 5'000,
          .many = 50'000,
          .start = hostile::start};
}

}  // namespace praxis::faults
