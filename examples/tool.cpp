// A tool is a plain function: the JSON Schema comes from the struct, the name from the function.
#include <iostream>
#include <praxis/praxis.hpp>

struct City {
  praxis::arg<std::string, "City, e.g. Paris"> name;
};
PRAXIS_FIELDS(City, name)

struct Weather {
  std::string sky;
  int celsius = 0;
};
PRAXIS_FIELDS(Weather, sky, celsius)

Weather get_weather(const City& city) {
  return city.name == "Paris" ? Weather{"sunny", 24} : Weather{"cloudy", 12};
}

int main(int argc, char** argv) {
  const char* const model = argc > 1 ? argv[1] : "openai:gpt-5-mini";
  const auto agent = praxis::Agent{model}.use(praxis::tool<get_weather>("Current weather"));
  const auto reply = agent.run("Do I need an umbrella in Paris?");
  if (!reply) return std::cerr << reply.error().message << '\n', 1;
  std::cout << reply->text << '\n';
}
