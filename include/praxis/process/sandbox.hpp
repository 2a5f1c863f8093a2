// The sandbox for untrusted programs. They see a read-only system and the folders listed here, no other
// process, no network, and nothing of this process. docs/sandbox.md describes how it is built.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace praxis {

/// What a program in a sandbox can reach. All paths are absolute; folders have the same paths in the sandbox.
struct Sandbox {
  std::vector<std::string> writable;  ///< folders, and single files, that the program may write
  /// Folders and files that it may read, in addition to the system's programs and libraries.
  std::vector<std::string> readable;
  /// Files and folders within the writable folders that stay read-only, whether they exist or not. Always
  /// read-only: `.git`, `.praxis`, `.mcp.json`, `.envrc`, `.vscode` and `.idea` anywhere in a writable
  /// folder; at its top the settings of other tools, the definitions of CI systems and the start-up files of
  /// shells (docs/sandbox.md lists them). Files named `.env` or `.env.*` cannot even be read. What `writable`
  /// names itself is open.
  std::vector<std::string> protect;
  /// Existing files and folders within the granted folders, seen as empty; links on the way to them stay.
  std::vector<std::string> hide;
  /// No folder or file of these lists is reached through a link below one of these folders, or below a
  /// writable one: a program that may write there does not decide what another one may reach.
  std::vector<std::string> no_links_below;
  /// The Unix socket of a proxy. With one, the sandbox has a network of one address, `http://127.0.0.1:3128`,
  /// and `http_proxy` and `https_proxy` name it. Empty: no network.
  std::string proxy_socket;
  std::uint64_t temporary_bytes = 256 * 1024 * 1024;  ///< size limit of /tmp, which is deleted at the end
};

/// Whether this machine can build a sandbox.
struct SandboxSupport {
  enum class Level : std::uint8_t { kFull, kNone };
  Level level = Level::kNone;
  /// Of bubblewrap and of the kernel's Landlock; empty when one is missing.
  std::string version;
  std::vector<std::string> missing;  ///< each with what to install or enable
  /// Whether the kernel bounds the memory of a whole sandbox, by a control group. Otherwise the supervisor
  /// measures it four times a second.
  bool memory_group = false;

  bool full() const { return level == Level::kFull; }
  /// The missing parts, in one line.
  std::string reason() const;
};

/// Builds a sandbox once and caches the outcome. Thread-safe; the first call takes some 50 ms.
const SandboxSupport& probe_sandbox();

}  // namespace praxis
#pragma GCC visibility pop
