#include "server/page_pack.hpp"

#ifdef PRAXIS_PAGE_PACK
#include "base/embed.hpp"

PRAXIS_EMBED(kPraxisPageBegin, kPraxisPageEnd, PRAXIS_PAGE_PACK);

namespace praxis::server {
std::string_view page_pack() { return {kPraxisPageBegin, kPraxisPageEnd}; }
}  // namespace praxis::server
#else
namespace praxis::server {
std::string_view page_pack() { return {}; }
}  // namespace praxis::server
#endif
