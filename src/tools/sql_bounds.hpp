// Bounds that all SQL connectors share.
#pragma once

#include <cstddef>

namespace praxis {

/// The longest statement, in bytes.
inline constexpr std::size_t kMaxSqlBytes = std::size_t{64} * 1024;

}  // namespace praxis
