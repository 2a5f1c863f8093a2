// The prompts of an MCP server for the users of an agent.
#include <algorithm>
#include <chrono>
#include <utility>

#include "praxis/runtime/mcp_tools.hpp"
#include "praxis/runtime/user_prompts.hpp"

namespace praxis {
namespace {

/// Whether a person can type the name after `/`.
bool is_typeable(const std::string& name) {
  return !name.empty() && std::ranges::none_of(name, [](char c) {
    return (static_cast<unsigned char>(c) <= ' ') || c == '\x7f';
  });
}

class McpPrompts final : public PromptSource {
 public:
  explicit McpPrompts(McpServer server) : server_(std::move(server)) {}

  const std::string& server() const override { return server_.options.server; }

  Result<std::vector<OfferedPrompt>> list(const std::stop_token& stop) override {
    const auto info = server_.client->info(stop);
    if (!info) return fail(info.error());
    std::vector<OfferedPrompt> offered;
    if (!info->prompts) return offered;
    const auto prompts = server_.client->prompts(options(stop));
    if (!prompts) return fail(prompts.error());
    for (const McpPrompt& prompt : *prompts) {
      if (!is_typeable(prompt.name)) continue;
      OfferedPrompt each{prefix() + prompt.name, prompt.description, {}};
      for (const McpPrompt::Argument& argument : prompt.arguments)
        each.arguments.push_back({argument.name, argument.description, argument.required});
      offered.push_back(std::move(each));
    }
    return offered;
  }

  Result<std::string> text(const OfferedPrompt& prompt, const JsonObject& arguments,
                           const std::stop_token& stop) override {
    const auto messages =
        server_.client->prompt(prompt.name.substr(prefix().size()), arguments, options(stop));
    if (!messages) return fail(messages.error());
    std::string text;
    for (const auto& [role, said] : *messages)
      text += (text.empty() ? "" : "\n") + std::string(role == Role::kAssistant ? "assistant: " : "") + said;
    return text;
  }

 private:
  std::string prefix() const { return server() + ':'; }
  McpCallOptions options(const std::stop_token& stop) const {
    McpCallOptions made;
    made.stop = stop;
    made.deadline = std::chrono::steady_clock::now() + server_.options.timeout;
    return made;
  }

  const McpServer server_;
};

}  // namespace

std::shared_ptr<PromptSource> mcp_prompts(McpServer server) {
  return std::make_shared<McpPrompts>(std::move(server));
}

}  // namespace praxis
