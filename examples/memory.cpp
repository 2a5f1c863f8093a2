// What an agent remembers outlasts its session; the program sees the same memory.
#include <iostream>
#include <praxis/memory/stores.hpp>
#include <praxis/praxis.hpp>
#include <praxis/runtime/memory_tools.hpp>

int main(int argc, char** argv) {
  const char* const model = argc > 1 ? argv[1] : "openai:gpt-5-mini";
  const auto memory = praxis::memory_in_process();  // or sqlite_memory(path)
  praxis::Agent agent{model, "Remember what the user tells you."};
  for (const auto& tool : praxis::memory_tools(memory.database)) agent.use(tool);
  agent.policy({.allow = {"remember"}});
  const auto reply = agent.run("I drink green tea.");
  if (!reply) return std::cerr << reply.error().message << '\n', 1;
  std::cout << reply->text << '\n';
  const auto hits = memory.database->search("which teas?");
  if (!hits) return std::cerr << hits.error().message << '\n', 1;
  for (const auto& hit : *hits) {
    std::cout << praxis::json_string(hit.note.value, "text") << '\n';
    for (const auto& term : hit.terms) std::cout << "  matches " << term << '\n';
  }
}
