// Reads files that configure or feed the program: regular files of bounded size, opened so that a FIFO or a
// device in their place is an error at once and never a wait.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <string>

#include "base/file_descriptor.hpp"
#include "praxis/base/result.hpp"

namespace praxis {

/// A file that is open for reading, as it was when it was opened.
struct RegularFile {
  FileDescriptor descriptor;
  struct stat about = {};
};

/// Opens a file without ever blocking; follows links. Error `kInput`: cannot be opened, or is not a regular
/// file.
Result<RegularFile> open_regular_file(const std::string& path);
/// Opens a file of the program's own state with `flags` of open(2), and O_CLOEXEC. Creates it with mode 0600
/// under any umask, follows no link and never blocks. On failure the descriptor is -1 with `errno` set: ELOOP
/// for a link, EINVAL for what is no regular file.
FileDescriptor open_state_file(const std::string& path, int flags);
/// Gives the user back the rights to a file that was just created with mode 0600, in case the umask took
/// them.
void keep_own_rights(int file);
/// Checks an open descriptor in the same way; `name` stands for the file in errors.
Result<RegularFile> regular_file_of(FileDescriptor descriptor, const std::string& name);
/// Returns the whole content. Error `kInput`: unreadable, or longer than `max_bytes`.
Result<std::string> read_whole(const RegularFile& file, const std::string& name, std::size_t max_bytes);
/// Opens and reads a file. Errors as above.
Result<std::string> read_regular_file(const std::string& path, std::size_t max_bytes);

}  // namespace praxis
