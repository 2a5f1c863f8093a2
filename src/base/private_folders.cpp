#include "base/private_folders.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/file_descriptor.hpp"

namespace praxis {
namespace {

int sync_folder(const std::filesystem::path& folder) {
  const FileDescriptor file(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return file.get() >= 0 && fsync(file.get()) == 0 ? 0 : errno;
}

}  // namespace

int make_private_folders(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (folder.empty() || std::filesystem::is_directory(folder, ignored)) return 0;
  if (!folder.has_filename()) return make_private_folders(folder.parent_path());  // ends with a slash
  if (const int error = make_private_folders(folder.parent_path()); error != 0) return error;
  if (mkdir(folder.c_str(), S_IRWXU) == 0) {
    // The umask may have taken away our own rights.
    if (chmod(folder.c_str(), S_IRWXU) != 0) return errno;
    return sync_folder(folder.parent_path());
  }
  const int error = errno;
  return error == EEXIST && std::filesystem::is_directory(folder, ignored) ? 0 : error;
}

}  // namespace praxis
