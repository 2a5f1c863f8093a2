// For tests: trees of agents on scripted models, on a journal that several runtimes share as several
// processes would.
#pragma once

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "journal/testing/journals.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::testing {

/// Waits until `holds` returns true; false when that takes more than 20 s.
template <class F>
bool eventually(F holds) {
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

/// Returns the node of a session, or a node without an id when the tree does not hold it.
inline AgentNode node_of(const std::vector<AgentNode>& nodes, const SessionId& id) {
  const auto found = std::ranges::find(nodes, id, &AgentNode::id);
  return found == nodes.end() ? AgentNode{} : *found;
}
/// Returns the first node of an agent.
inline AgentNode node_called(const std::vector<AgentNode>& nodes, std::string_view agent) {
  const auto found = std::ranges::find(nodes, agent, &AgentNode::agent);
  return found == nodes.end() ? AgentNode{} : *found;
}

class Trees : public Scripted {
 protected:
  /// Agents `a0`, `a1`, ..., each of which calls the next one `width` times; the last is `leaf`.
  Agent chain(std::uint32_t depth, Agent leaf, std::uint32_t width = 1) {
    Agent agent = std::move(leaf.runtime(nullptr));
    for (std::uint32_t level = depth; level-- > 0;) {
      std::string calls;
      for (std::uint32_t i = 0; i < width; ++i) {
        calls += (i == 0 ? "" : ",") + std::string(R"({"name":"below","id":"c)") + std::to_string(i) +
                 R"(","arguments":{"prompt":"part )" + std::to_string(i) + R"("}})";
      }
      Agent above =
          scripted(R"({"tool_calls":[)" + calls + R"(],"usage":{"input":7,"output":3,"cost_usd":0.001}}
{"text":"done","usage":{"input":2,"output":1}})");
      above.id("a" + std::to_string(level)).runtime(nullptr).use(agent.as_tool("below", "Does a part"));
      agent = std::move(above);
    }
    return agent;
  }
  /// Gives one answer.
  Agent speaker() {
    Agent agent = scripted(R"({"text":"part","usage":{"input":5,"output":2,"cost_usd":0.002}})");
    return agent.id("leaf");
  }
  /// Calls the blocked tool `slow`, then gives one answer.
  Agent stuck(const BlockedTool& slow) {
    Agent agent = scripted(R"({"tool_calls":[{"name":"slow","id":"s","arguments":{}}]}
{"text":"late"}
{"text":"later"})");
    return agent.id("leaf").use(slow.tool("slow", true));
  }
  /// Calls `echo`, which waits for an approval, then gives one answer.
  Agent asker() {
    Agent agent = scripted(R"({"tool_calls":[{"name":"echo","id":"e","arguments":{"text":"hello"}}]}
{"text":"heard"})");
    return agent.id("leaf").use(echo_tool()).policy(asking({"echo"}));
  }
  /// A session that can outlive its runtime.
  Session start(Agent agent) {
    auto session = runtime_->create_session(agent.runtime(nullptr));
    if (!session) throw std::runtime_error(session.error().message);
    return *session;
  }
  std::vector<AgentNode> tree() const { return runtime_->agent_tree(); }
  /// The text of every command with this verb in a session's log.
  std::vector<std::string> recorded(const SessionId& session, CommandVerb verb) {
    std::vector<std::string> texts;
    const auto records = read_records(*journal_, session);
    for (const StoredRecord& stored : records.value_or(std::vector<StoredRecord>{})) {
      const auto* command = std::get_if<records::Intervened>(&stored.record.body);
      if (command != nullptr && command->verb == verb) texts.push_back(command->text);
    }
    return texts;
  }
};

/// Two runtimes on one file, each with its own connection.
class SharedTrees : public Trees {
 protected:
  SharedTrees() {
    journal_ = std::make_shared<UnreliableJournal>(open_journal(folder_ / "journal.db"));
    use_runtime({});
    RuntimeOptions options;
    options.journal = elsewhere_;
    other_ = Runtime::create(std::move(options));
  }
  ~SharedTrees() override {
    runtime_.reset();
    other_.reset();
  }

  TemporaryFolder folder_;
  std::shared_ptr<Journal> elsewhere_ = open_journal(folder_ / "journal.db");
  std::shared_ptr<Runtime> other_;
};

}  // namespace praxis::testing
