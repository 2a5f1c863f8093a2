// expects: a tool needs a name for each parameter of its handler
#include <praxis/tools/typed_tool.hpp>

std::string forecast(const std::string& city, int days) { return city + std::to_string(days); }
auto tool = praxis::tool<forecast>("Weather to come", {"city"});
