// Hooks: one refuses paths outside of a folder, one hides a secret from the model, one hides it from callers.
#include <iostream>
#include <praxis/praxis.hpp>

std::string read_note(const std::string& path) { return path + ": the code is 4711"; }

std::string hidden(std::string text) {
  const auto at = text.find("4711");
  return at == std::string::npos ? text : text.replace(at, 4, "****");
}

int main(int argc, char** argv) {
  const char* const model = argc > 1 ? argv[1] : "openai:gpt-5-mini";
  auto agent = praxis::Agent{model}.use(praxis::tool<read_note>("Reads a note", {"path"}));
  agent.approve([](const praxis::ToolCall& call) {
    const bool inside = call.arguments.find("notes/") != std::string::npos;
    return inside ? praxis::allow() : praxis::deny("Only notes may be read.");
  });
  agent.on_after_tool([](const auto&, const auto&, praxis::Result<praxis::ToolOutput>& output) {
    if (output) output->text = hidden(output->text);
  });
  agent.on_after_turn([](const auto&, praxis::AgentResult& result) { result.text = hidden(result.text); });

  const auto reply = agent.run("What do my notes say?");
  if (!reply) return std::cerr << reply.error().message << '\n', 1;
  for (const std::string& denial : reply->denials) std::cout << "denied: " << denial << '\n';
  std::cout << reply->text << '\n';
}
