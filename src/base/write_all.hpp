// Writing to a descriptor that may take less than it is given.
#pragma once

#include <string_view>

namespace praxis {

/// Writes all of `bytes`, also when signals interrupt it. Returns 0, or the `errno` of the failure, before
/// which a part may have been written. Allocates nothing: may be called after a fork.
int write_all(int file, std::string_view bytes);

}  // namespace praxis
