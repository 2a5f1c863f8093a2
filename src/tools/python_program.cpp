#include "base/embed.hpp"
#include "tools/python_requests.hpp"

PRAXIS_EMBED(kPraxisPythonBegin, kPraxisPythonEnd, PRAXIS_SOURCE_DIR "/src/tools/python_bridge.py");

namespace praxis {

std::string_view python_bridge_program() { return {kPraxisPythonBegin, kPraxisPythonEnd}; }

}  // namespace praxis
