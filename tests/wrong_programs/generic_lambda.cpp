// expects: the handler of a tool is a function, or has one operator() that is no template
#include <praxis/tools/typed_tool.hpp>

auto tool = praxis::make_tool("echo", "Echoes", [](auto text) { return std::string(text); });
