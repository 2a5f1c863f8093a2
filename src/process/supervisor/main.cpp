// The helper program of src/process/process.cpp: outside a sandbox it supervises one command (`supervise`),
// in a sandbox it is the first program (`inside`). Only the library starts it, with the descriptors of
// supervisor_protocol.hpp.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string_view>

#include "process/supervisor/inside.hpp"
#include "process/supervisor/supervisor.hpp"

namespace {

using praxis::supervisor::Request;

std::optional<Request> read_request() {
  struct stat info{};
  if (fstat(praxis::supervisor::kRequest, &info) != 0 || info.st_size <= 0) return std::nullopt;
  const auto size = static_cast<std::size_t>(info.st_size);
  const void* bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, praxis::supervisor::kRequest, 0);
  if (bytes == MAP_FAILED) return std::nullopt;
  return praxis::supervisor::decode({static_cast<const char*>(bytes), size});
}

void close_on_exec(int first) {
  for (int fd = first; fd < praxis::supervisor::kFirstFree; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

}  // namespace

int main(int argc, char** argv) {
  using praxis::supervisor::Stage;
  const auto request = read_request();
  const int error = errno;
  if (argc == 2 && std::string_view(argv[1]) == "supervise") {
    close_on_exec(praxis::supervisor::kControl);
    if (request) {
      praxis::supervisor::supervise(*request);
    } else {
      praxis::supervisor::refuse({Stage::kRequest, error});
    }
    return 0;
  }
  if (argc == 2 && std::string_view(argv[1]) == "inside" && request) {
    close_on_exec(praxis::supervisor::kSandboxStatus);
    praxis::supervisor::enter(*request);
  }
  return 1;
}
