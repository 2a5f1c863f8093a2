// expects: several threads call the handler of a tool at once, so its lambda must not be mutable
#include <praxis/tools/typed_tool.hpp>

auto tool = praxis::make_tool("count", "Counts", [n = 0]() mutable { return ++n; });
