// The sandbox: where programs run that nobody has vouched for. They see a read-only system and the folders
// named here, no other process, no network, and nothing of ours. docs/sandbox.md says what it is built of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace praxis {

/// What a program in a sandbox may reach. All paths are absolute; folders keep their paths in the sandbox.
struct Sandbox {
  std::vector<std::string> writable;  ///< folders
  std::vector<std::string> readable;  ///< folders and files, besides the system's programs and libraries
  /// Files and folders that stay read-only although they lie in a writable folder, whether they exist or not:
  /// besides `.git`, `.praxis`, `.mcp.json`, `.env`, the start files of shells and the folders of editors at
  /// the top of each, which always are. What is named `.env` or `.env.*` there cannot be read either.
  std::vector<std::string> protect;
  /// The Unix socket of a proxy. The sandbox then has a network of one address, `http://127.0.0.1:3128`, and
  /// `http_proxy` and `https_proxy` name it. Empty: no network.
  std::string proxy_socket;
  std::uint64_t temporary_bytes = 256 * 1024 * 1024;  ///< what /tmp may hold; it is gone afterwards
};

/// Whether this machine can build a sandbox.
struct SandboxSupport {
  enum class Level : std::uint8_t { kFull, kNone };
  Level level = Level::kNone;
  std::string version;               ///< of bubblewrap, and of the kernel's Landlock; empty without
  std::vector<std::string> missing;  ///< each with what to install or enable

  bool full() const { return level == Level::kFull; }
  /// All that is missing in one line.
  std::string reason() const;
};

/// Builds a sandbox once and remembers how that went. Thread-safe; the first call takes some 50 ms.
const SandboxSupport& probe_sandbox();

}  // namespace praxis
