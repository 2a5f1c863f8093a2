#include "app/mcp_pins.hpp"

#include <algorithm>
#include <utility>

namespace praxis::app {
namespace {

constexpr const char* kPinsName = "mcp-tools.jsonl";
constexpr std::size_t kMaxPinsBytes = std::size_t{32} * 1024 * 1024;

Json pin_of(const std::string& server, const McpTool& tool) {
  return JsonObject{{"server", server},
                    {"tool", tool.name},
                    {"description", tool.description},
                    {"parameters", tool.parameters}};
}

McpTool tool_of_pin(const Json& pin) {
  return {json_string(pin, "tool"), json_string(pin, "description"), json_at(pin, "parameters")};
}

bool is_pin_of(const Json& pin, const std::string& server, const std::string& tool) {
  return json_string(pin, "tool") == tool && json_string(pin, "server") == server;
}

}  // namespace

McpPins::McpPins(std::string folder, std::string server)
    : lines_(std::move(folder), kPinsName, kMaxPinsBytes), server_(std::move(server)) {}

Result<std::map<std::string, McpTool>> McpPins::changed(const std::vector<McpTool>& listed) {
  std::map<std::string, McpTool> differing;
  std::vector<McpTool> fresh;
  const auto pins = lines_.all();
  if (!pins) return fail(pins.error());
  for (const McpTool& tool : listed) {
    const auto pin =
        std::ranges::find_if(*pins, [&](const Json& each) { return is_pin_of(each, server_, tool.name); });
    if (pin == pins->end()) {
      fresh.push_back(tool);
    } else if (*pin != pin_of(server_, tool)) {
      differing.emplace(tool.name, tool_of_pin(*pin));
    }
  }
  if (auto accepted = fresh.empty() ? Status{} : accept(fresh); !accepted) return fail(accepted.error());
  return differing;
}

Status McpPins::accept(const std::vector<McpTool>& tools) {
  const auto stored = lines_.change([&](std::vector<Json>& pins) -> Result<bool> {
    for (const McpTool& tool : tools) {
      std::erase_if(pins, [&](const Json& each) { return is_pin_of(each, server_, tool.name); });
      pins.push_back(pin_of(server_, tool));
    }
    return true;
  });
  return stored ? Status{} : fail(stored.error());
}

}  // namespace praxis::app
