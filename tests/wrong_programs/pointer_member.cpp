// expects: the member unit is a pointer
#include <praxis/tools/typed_tool.hpp>

struct City {
  std::string name;
  const char* unit;
};
PRAXIS_FIELDS(City, name, unit)
