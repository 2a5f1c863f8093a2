// expects: describe this type with PRAXIS_FIELDS or PRAXIS_ENUM
#include <praxis/tools/typed_tool.hpp>

struct Place {
  double north = 0;
};
struct City {
  std::string name;
  Place place;
};
PRAXIS_FIELDS(City, name, place)
auto tool = praxis::make_tool("find", "Finds a city", [](const City& city) { return city.name; });
