#include "app/private_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "app/plain_text.hpp"
#include "app/values.hpp"
#include "base/regular_file.hpp"

namespace praxis::app {

Result<std::optional<std::string>> read_private_file(const std::string& path, std::size_t max_bytes) {
  FileDescriptor descriptor = open_state_file(path, O_RDONLY);
  if (descriptor.get() < 0 && errno == ENOENT) return std::optional<std::string>();
  if (descriptor.get() < 0) {
    const std::string why = errno == ELOOP    ? "is a link; put the file itself there"
                            : errno == EINVAL ? "is not a regular file"
                                              : std::string("cannot be opened: ") + std::strerror(errno);
    return fail(ErrorCode::kInput, in_quotes(path) + ' ' + why);
  }
  const auto file = regular_file_of(std::move(descriptor), path);
  if (!file) return fail(file.error());
  if (file->about.st_uid != geteuid())
    return fail(ErrorCode::kInput, in_quotes(path) + " belongs to another user; it must be yours");
  if ((file->about.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return fail(ErrorCode::kInput, in_quotes(path) + " is open to other users; check its content, then: " +
                                       "chmod 600 " + shell_word(path));
  }
  auto text = read_whole(*file, path, max_bytes);
  if (!text) return fail(text.error());
  return std::optional<std::string>(*std::move(text));
}

}  // namespace praxis::app
