// expects: the parameter of a handler is a struct described with PRAXIS_FIELDS, or needs a name
#include <praxis/tools/typed_tool.hpp>

std::string weather(const std::string& city) { return city; }
auto tool = praxis::tool<weather>("Current weather");
