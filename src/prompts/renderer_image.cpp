#include "prompts/renderer_image.hpp"

#include "base/embed.hpp"

PRAXIS_EMBED(kPraxisRendererBegin, kPraxisRendererEnd, PRAXIS_BINARY_DIR "/praxis_renderer");

namespace praxis {
std::string_view renderer_image() { return {kPraxisRendererBegin, kPraxisRendererEnd}; }
}  // namespace praxis
