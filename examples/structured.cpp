// An answer as a value of a type of the program.
#include <iostream>
#include <praxis/praxis.hpp>

struct Party {
  praxis::arg<std::string, "Where it takes place"> place;
  std::vector<std::string> guests;
};
PRAXIS_FIELDS(Party, place, guests)

int main(int argc, char** argv) {
  const char* const model = argc > 1 ? argv[1] : "openai:gpt-5-mini";
  const praxis::Agent agent{model, "You plan parties."};
  const auto party = agent.run<Party>("Plan a birthday party");
  if (!party) return std::cerr << party.error().message << '\n', 1;
  std::cout << party->value->guests.size() << " guests at " << party->value->place << ", "
            << party->usage.output << " tokens\n";
}
