// Whole flows for the baseline alone: strategies, stores and tools that the other suites of scenarios do not
// have.
#include <filesystem>
#include <fstream>
#include <utility>

#include "praxis/memory/stores.hpp"
#include "praxis/praxis.hpp"
#include "praxis/runtime/memory_tools.hpp"
#include "praxis/tools/code_tools.hpp"
#include "praxis/tools/file_tool.hpp"
#include "scenarios.hpp"

namespace praxis::testing {
namespace {

Scenario six_steps() {
  return {.name = "six_steps",
          .script = R"({"text": "{\"ambiguous\": true, \"question\": \"Whose birthday?\"}"}
{"text": "{\"ambiguous\": false, \"question\": \"\"}"}
{"tool_calls": [{"name": "add", "arguments": {"a": 2, "b": 3}}]}
{"text": "Cake for 5."}
{"text": "{\"answer\": \"A party with cake for 5.\", \"uncertain\": false, \"question\": \"\"}"})",
          .prompts = {"Plan a birthday"},
          .approvals = {answer("That of Ada")},
          .shape = [](Agent& agent) { agent.plan(JsonObject{{"kind", "six_steps"}}); }};
}

Scenario memory() {
  return {
      .name = "memory",
      .script =
          R"({"tool_calls": [{"name": "remember", "arguments": {"key": "city", "text": "Ada lives in Lisbon."}}]}
{"text": "Noted."}
{"tool_calls": [{"name": "recall", "arguments": {"query": "Lisbon"}}]}
{"tool_calls": [{"name": "forget", "arguments": {"key": "city"}}]}
{"tool_calls": [{"name": "recall", "arguments": {"query": "Lisbon"}}]}
{"text": "Lisbon, and it is forgotten."})",
      .prompts = {"I live in Lisbon.", "Where do I live? Then forget it."},
      .shape =
          [](Agent& agent) {
            const MemoryClients memory = memory_in_process({.environment = fixed_environment(1)});
            agent.use(memory_tools(memory.database));
            agent.policy({.allow = {"remember", "forget"}, .deny = {}, .ask = {}});
          },
      .turns = 2};
}

/// An agent that reads and changes a file, which each stage writes again first.
Scenario coding(const std::shared_ptr<MemoryFolder>& folder) {
  return {.name = "coding",
          .script = R"({"tool_calls": [{"name": "file_read", "arguments": {"op": "read", "path": "sum.py"}}]}
{"tool_calls": [{"name": "edit", "arguments": {"path": "sum.py", "edits": [{"old": "a - b", "replacement": "a + b"}]}}]}
{"tool_calls": [{"name": "file_read", "arguments": {"op": "read", "path": "sum.py"}}]}
{"text": "It adds now."})",
          .prompts = {"Correct the sum"},
          .shape = [folder](Agent& agent) {
            const std::string root = *folder / "code";
            std::filesystem::create_directories(root);
            std::ofstream(root + "/sum.py") << "def total(a, b):\n    return a - b\n";
            for (Tool tool : {file_read_tool({root}), edit_tool({root})}) {
              tool.definition.description = "Works on the code.";  // its own names the folder
              agent.use(std::move(tool));
            }
            agent.policy({.allow = {"file_read", "edit"}, .deny = {}, .ask = {}});
          }};
}

Scenario budget() {
  const std::string call = R"({"tool_calls": [{"name": "add", "arguments": {"a": 1, "b": 1}}], )"
                           R"("usage": {"input": 100, "output": 10, "cost_usd": 0.4}})"
                           "\n";
  return {.name = "budget",
          .script = call + call + call + R"({"text": "never said"})",
          .shape =
              [](Agent& agent) {
                Limits limits;
                limits.max_usd = MicroUsd{1'000'000};
                agent.limits(limits);
              },
          .ends = StopReason::kCostLimit};
}

}  // namespace

std::vector<Scenario> flow_scenarios() {
  return {six_steps(), memory(), coding(std::make_shared<MemoryFolder>()), budget()};
}

}  // namespace praxis::testing
