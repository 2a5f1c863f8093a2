// The files of the page as the build embeds them. Only this file's source depends on the built page.
#pragma once

#include <string_view>

namespace praxis::server {

/// The pack that scripts/build-page writes; empty in a build without the page.
std::string_view page_pack();

}  // namespace praxis::server
