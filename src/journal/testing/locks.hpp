// The locks that this process has on a journal, as another process sees them.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace praxis::testing {

/// Whether another process would find the file locked by this one, as SQLite locks one that is in use
/// (https://www.sqlite.org/src/file/src/os.h: 510 bytes behind the first two from 1 GiB on).
inline bool keeps_locks(const std::string& journal) {
  const pid_t child = fork();
  if (child == 0) {
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = 0x40000002;
    lock.l_len = 510;
    const int file = open(journal.c_str(), O_RDWR | O_CLOEXEC);
    const bool asked = file >= 0 && fcntl(file, F_GETLK, &lock) == 0;
    _exit(asked && lock.l_type != F_UNLCK ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

}  // namespace praxis::testing
