#include "process/supervisor_image.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <system_error>

#include "base/embed.hpp"
#include "base/exhausted.hpp"

PRAXIS_EMBED(kPraxisSupervisorBegin, kPraxisSupervisorEnd, PRAXIS_BINARY_DIR "/praxis_supervisor");

namespace praxis {

namespace {

// Flags newer than the headers of Debian 12.
constexpr unsigned kNoExec = 0x0008U, kExec = 0x0010U;
/// Above the descriptors that the supervisor is started with, so that placing those never overwrites one of
/// ours.
constexpr int kHigh = 16;

/// Kernels before 6.3 lack the flags that allow or forbid executing a file in memory; there, all can be
/// executed.
int create(const char* name, bool executable) {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const int fd = memfd_create(name, kFlags | (executable ? kExec : kNoExec));
  return fd < 0 && errno == EINVAL ? memfd_create(name, kFlags) : fd;
}

bool fill(int fd, std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = pwrite(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  return fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0;
}

}  // namespace

Result<FileDescriptor> memory_file(const char* name, std::string_view bytes, bool executable) {
  const FileDescriptor made(create(name, executable));
  FileDescriptor file(made.get() < 0 ? -1 : fcntl(made.get(), F_DUPFD_CLOEXEC, kHigh));
  if (file.get() >= 0 && fill(file.get(), bytes)) return file;
  const int number = errno;
  return fail(with_exhaustion(
      make_error(ErrorCode::kTool, "no program can be started: a file in memory cannot be made (" +
                                       std::generic_category().message(number) + ")"),
      number));
}

Result<int> supervisor_image() {
  static std::mutex mutex;
  static FileDescriptor image;
  const std::lock_guard lock(mutex);
  if (image.get() >= 0) return image.get();
  auto made = memory_file("praxis_supervisor", {kPraxisSupervisorBegin, kPraxisSupervisorEnd}, true);
  if (!made) return fail(made.error());  // the next call tries again
  image = *std::move(made);
  return image.get();
}

}  // namespace praxis
