// Where a hostile agent and an honest one work side by side: their folders, what the hostile one must neither
// read nor change, and what must hear nothing from it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"

namespace praxis::faults::hostile {

class Ground {
 public:
  Ground();
  ~Ground();
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;

  /// Makes the folders again, and sockets of the host in them.
  void refresh();
  /// What is at each path that must not change: kind, inode, owner, mode, links, time and content.
  std::map<std::string, std::string> canaries() const;
  /// What a sandbox left in the hostile folder or in the machine, or reached by a socket or another process;
  /// empty if nothing. `mark` is in the command line of its processes.
  std::string traces(const std::string& mark) const;

  std::filesystem::path hostile() const { return top_ / "hostile"; }
  std::filesystem::path honest() const { return top_ / "honest"; }
  std::filesystem::path outside() const { return top_ / "out"; }
  std::filesystem::path runs() const { return hostile() / "runs"; }
  /// The files to reach, as the hostile program names them.
  std::vector<std::string> reach() const;
  /// The variables that the probes need.
  std::map<std::string, std::string> environment() const;

  /// The content of a file; empty if it cannot be read.
  static std::string text_of(const std::filesystem::path& path);

  /// Part of every secret.
  static constexpr const char* kSecret = "canary-5c1d7f";

 private:
  std::string host_sockets() const;
  std::string victim() const;

  std::filesystem::path top_;
  FileDescriptor tcp_, udp_, by_path_, by_name_, datagrams_;
  pid_t victim_ = -1;  ///< another process of the same user
};

}  // namespace praxis::faults::hostile
