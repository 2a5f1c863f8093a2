// Launches a command: what the supervisor's child does between fork and exec.
#pragma once

#include <sys/types.h>

#include "base/file_descriptor.hpp"
#include "process/supervisor_protocol.hpp"

namespace praxis::supervisor {

/// A child, and our non-blocking ends of its pipes.
struct Launched {
  pid_t pid = -1;  ///< -1: the fork failed
  FileDescriptor out, err;
  FileDescriptor status;  ///< yields `Progress`, then ends when the program starts
};

/// Starts the command, or bubblewrap to run it.
Launched launch(const Request& request);

/// Sets the resource limits of this process. False, with errno, if one cannot be set.
bool set_limits(const Limits& limits);

/// Executes the command with its environment. Reports progress to `status`, which closes on success. Returns
/// only on failure.
void become_command(const Request& request, int status);

void report(int status, Progress progress);

}  // namespace praxis::supervisor
