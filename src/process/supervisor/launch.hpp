// From a request to a running command: what happens in the supervisor's child up to the new program.
#pragma once

#include <sys/types.h>

#include "base/file_descriptor.hpp"
#include "process/supervisor_protocol.hpp"

namespace praxis::supervisor {

/// A child, and our ends of its pipes, which do not block.
struct Launched {
  pid_t pid = -1;  ///< -1: it could not be made
  FileDescriptor out, err;
  FileDescriptor status;  ///< gives `Progress`, then ends as the program starts
};

/// Starts the command, or bubblewrap for it.
Launched launch(const Request& request);

/// Sets the limits of this process. False, with errno, when one could not be set.
bool set_limits(const Limits& limits);

/// Becomes the command with its environment. Says how it goes to `status`, which closes on success. Returns
/// only if it failed.
void become_command(const Request& request, int status);

void report(int status, Progress progress);

}  // namespace praxis::supervisor
