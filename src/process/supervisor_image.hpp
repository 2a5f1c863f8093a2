// The supervisor's program, a part of the library.
#pragma once

#include <string_view>

#include "base/file_descriptor.hpp"
#include "praxis/base/result.hpp"

namespace praxis {

/// A descriptor of the supervisor's program in memory, made once, that /proc/self/fd can start. Error
/// `kTool`: the kernel does not let programs in memory run.
Result<int> supervisor_image();

/// A read-only file in memory, closed on exec, whose descriptor is 16 or above. Error `kTool`.
Result<FileDescriptor> memory_file(const char* name, std::string_view bytes, bool executable = false);

}  // namespace praxis
