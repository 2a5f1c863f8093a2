// Notes by key, which belong to the session: another process that opens it finds them.
#include <iostream>
#include <praxis/praxis.hpp>

int main(int argc, char** argv) {
  const char* const model = argc > 1 ? argv[1] : "openai:gpt-5-mini";
  const auto agent = praxis::Agent{model, "Keep what the user tells you."}.use(praxis::kv_tool());
  auto session = agent.session();
  if (!session) return std::cerr << session.error().message << '\n', 1;
  for (const char* message : {"I live in Lisbon.", "Where do I live?"}) {
    const auto reply = session->ask(message);
    if (!reply) return std::cerr << reply.error().message << '\n', 1;
    std::cout << reply->text << '\n';
    std::cout << "  memory: " << praxis::to_json_text(reply->memory_deltas) << '\n';
  }
}
