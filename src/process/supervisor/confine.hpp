// What a process gives up for itself and all it starts: files by Landlock, system calls by seccomp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace praxis::supervisor {

/// The only port that the command may connect to, on 127.0.0.1, if it has a network.
inline constexpr std::uint16_t kProxyPort = 3128;

/// Nothing can be written but below `writable` and in the temporary folders of the sandbox; no signal or
/// abstract socket reaches out of it. As far as the kernel's Landlock goes. False, with errno, when it has
/// none.
bool restrict_files(const std::vector<std::string>& writable, bool network);

/// Denies what a command needs only to get out: sockets (all, or all but TCP), other processes' memory,
/// kernel interfaces with a history of holes. False, with errno, on failure.
bool restrict_calls(bool network);

}  // namespace praxis::supervisor
