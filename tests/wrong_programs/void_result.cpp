// expects: the handler of a tool returns its result
#include <praxis/tools/typed_tool.hpp>

void log_line(const std::string& text) { static_cast<void>(text); }
auto tool = praxis::tool<log_line>("Logs a line", {"text"});
