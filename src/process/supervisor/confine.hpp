// Gives up rights of this process and its descendants: file access by Landlock, system calls by seccomp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace praxis::supervisor {

/// The only port that the command may connect to, on 127.0.0.1, if it has a network.
inline constexpr std::uint16_t kProxyPort = 3128;

/// Allows writing only below `writable` and in the temporary folders of the sandbox, and blocks signals and
/// abstract sockets out of it, as far as the kernel's version of Landlock can. False, with errno, if the
/// kernel has no Landlock.
bool restrict_files(const std::vector<std::string>& writable, bool network);

/// Denies system calls that a command needs only to escape: sockets (all, or all but TCP), access to other
/// processes' memory, kernel interfaces with a history of vulnerabilities. False, with errno, on failure.
bool restrict_calls(bool network);

}  // namespace praxis::supervisor
