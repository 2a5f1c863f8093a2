// Two agents share one conversation; the first hands it over to the second.
#include <iostream>
#include <praxis/praxis.hpp>

int main(int argc, char** argv) {
  const char* const model = argc > 1 ? argv[1] : "openai:gpt-5-mini";
  const auto desk = praxis::Agent{model, "Hand questions about money over to billing."}.id("desk");
  const auto billing = praxis::Agent{model, "Answer questions about money."}.id("billing");
  praxis::Team team{{desk, billing}};
  team.register_agent(praxis::Agent{desk}.use(team.handoff_tools("desk")));
  const auto reply = team.send("Why was I charged twice?");
  if (!reply) return std::cerr << reply.error().message << '\n', 1;
  std::cout << team.current_agent().spec().id << ": " << reply->text << '\n';
}
