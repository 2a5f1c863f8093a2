#include "app/acp_table.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "acp/acp_tools.hpp"
#include "app/setting_key.hpp"
#include "app/values.hpp"
#include "praxis/policy/policy.hpp"
#include "praxis/runtime/mcp_tools.hpp"

namespace praxis::app {
namespace {

constexpr const char* kHere = ".";  ///< the folder without the key

class AcpTable {
 public:
  AcpTable(const TomlDocument& document, const std::string& name, const ProgramBounds& bounds,
           const AgentFileOptions& options)
      : document_(document),
        name_(name),
        place_("tools.acp." + name_),
        table_(document.at(place_)),
        bounds_(bounds),
        options_(options) {}

  Result<std::vector<Tool>> read() const {
    if (!check_mcp_name(name_))
      return mistake("must have a name of 1 to 24 letters, digits, '-' or single '_' within");
    for (const char* other : {"tools.mcp.", "tools.a2a."}) {
      if (!document_.at(other + name_).is_null())
        return mistake("has the name of [" + (other + name_) + "]; give it another one");
    }
    if (!is_named("policy.allow", "__ask") && !is_named("policy.ask", "__ask"))
      return mistake("needs a rule: name \"" + name_ + "__ask\" in policy.ask, or in policy.allow");
    std::vector<std::string> argv = texts_of(json_at(table_, "command"));
    if (argv.empty()) return mistake("needs \"command\", the program of the agent and its arguments");
    const std::string folder = json_string(table_, "folder", kHere);
    auto program = program_of_table({document_, options_, place_}, folder, std::move(argv), {}, bounds_);
    if (!program) return fail(std::move(program.error()));
    std::vector<std::string> writable = program->sandbox->writable;
    auto tools = acp_tools(agent_of(*std::move(program)));
    if (!tools) return mistake(tools.error().message);
    if (options_.on_writing_tool && !writable.empty())
      tools->front() = options_.on_writing_tool(std::move(tools->front()), writable, bounds_.files);
    return tools;
  }

 private:
  std::unexpected<Error> mistake(const std::string& text) const {
    return document_.mistake(place_, '[' + place_ + "] " + text);
  }

  bool is_named(std::string_view list, const char* tool) const {
    return std::ranges::any_of(texts_of(document_.at(list)),
                               [&](const std::string& rule) { return rule_names(rule, name_ + tool); });
  }

  AcpAgent agent_of(McpProgram program) const {
    AcpAgent agent;
    agent.name = name_;
    agent.description = json_string(table_, "description");
    agent.folder = program.folder;
    agent.program = std::move(program);
    agent.asks = !is_named("policy.allow", "__permission");
    if (const Millis time = duration_of(json_at(table_, "timeout")); time > Millis{0}) agent.timeout = time;
    if (const Millis time = duration_of(json_at(table_, "start_timeout")); time > Millis{0})
      agent.start = time;
    agent.bounds.result_bytes = static_cast<std::size_t>(
        json_int(table_, "max_result", static_cast<std::int64_t>(agent.bounds.result_bytes)));
    return agent;
  }

  const TomlDocument& document_;
  const std::string name_;
  const std::string place_;
  const Json& table_;
  const ProgramBounds& bounds_;
  const AgentFileOptions& options_;
};

}  // namespace

Result<std::vector<Tool>> tools_of_acp(const TomlDocument& document, const ProgramBounds& bounds,
                                       const AgentFileOptions& options) {
  std::vector<Tool> tools;
  const auto* const tables = document.at("tools.acp").if_object();
  if (tables == nullptr) return tools;
  for (const auto& each : *tables) {
    auto read = AcpTable(document, std::string(each.key()), bounds, options).read();
    if (!read) return read;
    std::ranges::move(*read, std::back_inserter(tools));
  }
  return tools;
}

}  // namespace praxis::app
