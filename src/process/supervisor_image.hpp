// The supervisor's program, embedded in the library.
#pragma once

#include <string_view>

#include "base/file_descriptor.hpp"
#include "praxis/base/result.hpp"

namespace praxis {

/// Returns a descriptor of the supervisor's program in memory, created once, which can be executed through
/// /proc/self/fd. Error `kTool`: the kernel does not execute files in memory.
Result<int> supervisor_image();

/// Creates a read-only file in memory; its descriptor is 16 or above and closed on exec. Error `kTool`.
Result<FileDescriptor> memory_file(const char* name, std::string_view bytes, bool executable = false);

}  // namespace praxis
