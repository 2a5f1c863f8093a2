// The text of an answer while the model is still writing it.
#include <iostream>
#include <praxis/praxis.hpp>

int main(int argc, char** argv) {
  const char* const model = argc > 1 ? argv[1] : "openai:gpt-5-mini";
  const praxis::Agent agent{model, "You plan trips."};
  auto run = agent.stream("Plan a trip to Lisbon");
  for (const std::string_view text : run.text()) std::cout << text << std::flush;
  const auto reply = run.result();
  if (!reply) return std::cerr << reply.error().message << '\n', 1;
  std::cout << "\n(" << reply->steps << " step)\n";
}
