// What is handed on of `tracestate`, the list of W3C Trace Context that vendors add to.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace praxis {

inline constexpr std::size_t kMaxTraceState =
    512;  ///< bytes, which W3C Trace Context asks to hand on at least

/// The list in its order and without space around members, at most `kMaxTraceState` bytes. Of a longer list,
/// members of more than 128 bytes are left out first, then the last ones. Empty if the list is not valid.
/// Several headers are one list, joined by commas.
std::string trace_state_from(std::string_view tracestate);

}  // namespace praxis
