#include "process/supervisor/inside.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>

#include "base/file_descriptor.hpp"
#include "process/supervisor/confine.hpp"
#include "process/supervisor/forwarder.hpp"
#include "process/supervisor/launch.hpp"

namespace praxis::supervisor {

namespace {

/// Whether what is mounted at this path is what the plan of the sandbox named, and mounted as planned.
bool is_as_planned(const Mount& mount) {
  const FileDescriptor there(open(mount.path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct statx info{};
  if (statx(there.get(), "", AT_EMPTY_PATH, STATX_TYPE | STATX_INO, &info) != 0) return false;
  const bool knows_mounts = (info.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0;  // Linux 5.8
  const bool is_mounted = !knows_mounts || (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
  struct statvfs system{};
  const bool is_read_only = fstatvfs(there.get(), &system) == 0 && (system.f_flag & ST_RDONLY) != 0;
  const bool is_same = mount.device == 0 ? !S_ISLNK(info.stx_mode)
                                         : makedev(info.stx_dev_major, info.stx_dev_minor) == mount.device &&
                                               info.stx_ino == mount.inode;
  return is_mounted && is_same && (is_read_only || !mount.read_only);
}

Stage confine(const Request& request) {
  if (!std::ranges::all_of(request.mounts, is_as_planned)) {
    errno = 0;
    return Stage::kMount;
  }
  if (!set_limits(request.settings.limits)) return Stage::kLimits;
  if (request.settings.network && !start_forwarder(request.proxy)) return Stage::kForwarder;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return Stage::kSeccomp;
  if (!restrict_files(request.writable, request.settings.network)) return Stage::kLandlock;
  if (!restrict_calls(request.settings.network)) return Stage::kSeccomp;
  return Stage::kNone;
}

}  // namespace

void enter(const Request& request) {
  const Stage failed = confine(request);
  if (failed != Stage::kNone) return report(kSandboxStatus, {failed, errno});
  become_command(request, kSandboxStatus);
}

}  // namespace praxis::supervisor
