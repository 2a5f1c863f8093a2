#include "server/page_pack.hpp"

#ifdef PRAXIS_PAGE_PACK
// C++23 as g++ 12 has it cannot embed a file; the assembler can.
// clang-format off
asm(".pushsection .rodata\n"
    ".global kPraxisPageBegin\n"
    ".hidden kPraxisPageBegin\n"
    ".global kPraxisPageEnd\n"
    ".hidden kPraxisPageEnd\n"
    "kPraxisPageBegin:\n"
    ".incbin \"" PRAXIS_PAGE_PACK "\"\n"
    "kPraxisPageEnd:\n"
    ".popsection\n");
// clang-format on
extern "C" __attribute__((visibility("hidden"))) const char kPraxisPageBegin[];
extern "C" __attribute__((visibility("hidden"))) const char kPraxisPageEnd[];

namespace praxis::server {
std::string_view page_pack() { return {kPraxisPageBegin, kPraxisPageEnd}; }
}  // namespace praxis::server
#else
namespace praxis::server {
std::string_view page_pack() { return {}; }
}  // namespace praxis::server
#endif
