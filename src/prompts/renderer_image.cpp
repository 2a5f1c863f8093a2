#include "prompts/renderer_image.hpp"

// clang-format off
asm(".pushsection .rodata\n"
    ".global kPraxisRendererBegin\n"
    ".hidden kPraxisRendererBegin\n"
    ".global kPraxisRendererEnd\n"
    ".hidden kPraxisRendererEnd\n"
    "kPraxisRendererBegin:\n"
    ".incbin \"" PRAXIS_BINARY_DIR "/praxis_renderer\"\n"
    "kPraxisRendererEnd:\n"
    ".popsection\n");
// clang-format on
extern "C" __attribute__((visibility("hidden"))) const char kPraxisRendererBegin[];
extern "C" __attribute__((visibility("hidden"))) const char kPraxisRendererEnd[];

namespace praxis {
std::string_view renderer_image() { return {kPraxisRendererBegin, kPraxisRendererEnd}; }
}  // namespace praxis
