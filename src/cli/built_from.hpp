// What the program was built from (cmake/parts.cmake writes the text).
#pragma once

#include <string_view>

namespace praxis::cli {

/// Version, commit if the build knew it, compiler, and each library with its version and licence. Lines.
std::string_view built_from();

}  // namespace praxis::cli
