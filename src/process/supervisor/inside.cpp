#include "process/supervisor/inside.hpp"

#include <sys/prctl.h>

#include <cerrno>

#include "process/supervisor/confine.hpp"
#include "process/supervisor/forwarder.hpp"
#include "process/supervisor/launch.hpp"

namespace praxis::supervisor {

namespace {

Stage confine(const Request& request) {
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
