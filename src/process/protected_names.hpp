// Names that other programs read as their configuration, execute, or keep secrets in. The sandbox and the
// file tools protect the same ones.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace praxis {

struct ProtectedName {
  std::string_view path;  ///< relative to a granted folder
  bool folder = false;
  bool anywhere = false;  ///< protected at any depth, not only at the top
  /// A sandbox protects it only if it exists: each placeholder is a mount, and costs time in every call.
  bool only_existing = false;
};
std::span<const ProtectedName> protected_names();

/// Whether a file of this name must not even be read: `.env` and `.env.*`.
bool is_secret_name(std::string_view name);
/// Whether something of this name is protected at any depth. A folder `.env` holds programs, not secrets.
bool is_protected_anywhere(std::string_view name, bool is_folder);

enum class PathProtection : std::uint8_t { kNone, kReadOnly, kSecret };
/// How a file is protected whose path below a granted folder is `relative`, without `.` and `..`.
PathProtection protection_of(std::string_view relative);

}  // namespace praxis
