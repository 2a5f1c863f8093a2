// The addresses of this machine.
#pragma once

#include <string_view>

namespace praxis {

/// Whether `address` (text form) is one of an interface of this machine now, also when written as an IPv4
/// address within IPv6. Unreadable interfaces count as none. Thread-safe.
bool is_own_address(std::string_view address);

}  // namespace praxis
