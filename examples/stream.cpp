// The events of a turn as a range, while the model is still talking.
#include <iostream>
#include <praxis/praxis.hpp>

int main(int argc, char** argv) {
  const char* const model = argc > 1 ? argv[1] : "openai:gpt-5-mini";
  const praxis::Agent agent{model, "You plan trips."};
  auto run = agent.stream("Plan a trip to Lisbon");
  for (const auto& event : run) {
    std::visit(
        praxis::match{
            [](const praxis::TextDelta& delta) { std::cout << delta.text << std::flush; },
            [](const praxis::TurnCompleted& turn) { std::cout << "\n(" << turn.result.steps << " step)\n"; },
            [](const auto&) {},
        },
        event.body);
  }
}
