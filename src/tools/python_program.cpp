#include "tools/python_requests.hpp"

// C++23 as g++ 12 has it cannot embed a file; the assembler can.
// clang-format off
asm(".pushsection .rodata\n"
    ".global kPraxisPythonBegin\n"
    ".hidden kPraxisPythonBegin\n"
    ".global kPraxisPythonEnd\n"
    ".hidden kPraxisPythonEnd\n"
    "kPraxisPythonBegin:\n"
    ".incbin \"" PRAXIS_SOURCE_DIR "/src/tools/python_bridge.py\"\n"
    "kPraxisPythonEnd:\n"
    ".popsection\n");
// clang-format on
extern "C" __attribute__((visibility("hidden"))) const char kPraxisPythonBegin[];
extern "C" __attribute__((visibility("hidden"))) const char kPraxisPythonEnd[];

namespace praxis {

std::string_view python_bridge_program() { return {kPraxisPythonBegin, kPraxisPythonEnd}; }

}  // namespace praxis
