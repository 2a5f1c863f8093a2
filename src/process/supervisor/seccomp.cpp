#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <memory>

#include "process/supervisor/confine.hpp"

namespace praxis::supervisor {

namespace {

using Filter = std::unique_ptr<void, decltype(&seccomp_release)>;

constexpr std::array kDenied{
    // Other processes.
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(process_madvise),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(kcmp),
    // Name spaces and mounts.
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(open_tree),
    SCMP_SYS(move_mount),
    SCMP_SYS(fsopen),
    SCMP_SYS(fsconfig),
    SCMP_SYS(fsmount),
    SCMP_SYS(fspick),
    SCMP_SYS(mount_setattr),
    SCMP_SYS(name_to_handle_at),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(quotactl),
    SCMP_SYS(swapon),
    SCMP_SYS(swapoff),
    // Kernel interfaces with a large attack surface.
    SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register),
    SCMP_SYS(keyctl),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(fanotify_init),
    SCMP_SYS(lookup_dcookie),
    SCMP_SYS(vmsplice),
    // Power over the whole machine.
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(delete_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load),
    SCMP_SYS(reboot),
    SCMP_SYS(syslog),
    SCMP_SYS(acct),
    SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime),
    SCMP_SYS(clock_adjtime),
    SCMP_SYS(adjtimex),
    SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname),
    SCMP_SYS(iopl),
    SCMP_SYS(ioperm),
    SCMP_SYS(personality),
    SCMP_SYS(vhangup),
    // Memory that belongs to no process, so that no limit of a process counts it.
    SCMP_SYS(memfd_create),
    SCMP_SYS(memfd_secret),
    SCMP_SYS(shmget),
};

constexpr scmp_arg_cmp argument(unsigned index, scmp_compare compare, scmp_datum_t a, scmp_datum_t b = 0) {
  return {index, compare, a, b};
}

constexpr scmp_datum_t kLow = 0xffffffff;  ///< mask for an argument that the kernel takes as an int

bool deny(void* filter, int call, int error, std::initializer_list<scmp_arg_cmp> when = {}) {
  return seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(static_cast<unsigned>(error)), call,
                                static_cast<unsigned>(when.size()),
                                when.size() == 0 ? nullptr : when.begin()) == 0;
}

bool deny_new_namespaces(void* filter) {
  for (const int flag : {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS,
                         CLONE_NEWCGROUP}) {
    const auto bit = static_cast<scmp_datum_t>(static_cast<unsigned>(flag));
    if (!deny(filter, SCMP_SYS(clone), EPERM, {argument(0, SCMP_CMP_MASKED_EQ, bit, bit)})) return false;
  }
  // The flags of clone3 are in memory, where a filter cannot see them; libraries then fall back to clone.
  return deny(filter, SCMP_SYS(clone3), ENOSYS);
}

/// Denies to set the set-user-id and set-group-id bits: a file that has them outlives the sandbox, and
/// whoever starts it outside becomes its owner.
bool deny_set_id_files(void* filter) {
  struct Call {
    int number;
    unsigned mode;             ///< index of the argument with the mode
    unsigned flags = 0;        ///< index of the argument that says whether there is a mode
    scmp_datum_t if_flag = 0;  ///< 0: there is always one
  };
  constexpr int kFchmodat2 = 452;  // libseccomp 2.5 does not know its name
  const std::array calls{Call{SCMP_SYS(chmod), 1},
                         Call{SCMP_SYS(fchmod), 1},
                         Call{SCMP_SYS(fchmodat), 2},
                         Call{kFchmodat2, 2},
                         Call{SCMP_SYS(creat), 1},
                         Call{SCMP_SYS(mknod), 1},
                         Call{SCMP_SYS(mknodat), 2},
                         Call{SCMP_SYS(open), 2, 1, O_CREAT},
                         Call{SCMP_SYS(open), 2, 1, O_TMPFILE},
                         Call{SCMP_SYS(openat), 3, 2, O_CREAT},
                         Call{SCMP_SYS(openat), 3, 2, O_TMPFILE}};
  for (const Call& call : calls) {
    for (const scmp_datum_t bit : std::array<scmp_datum_t, 2>{S_ISUID, S_ISGID}) {
      const scmp_arg_cmp mode = argument(call.mode, SCMP_CMP_MASKED_EQ, bit, bit);
      const scmp_arg_cmp flag = argument(call.flags, SCMP_CMP_MASKED_EQ, call.if_flag, call.if_flag);
      const bool done = call.if_flag == 0 ? deny(filter, call.number, EPERM, {mode})
                                          : deny(filter, call.number, EPERM, {mode, flag});
      if (!done) return false;
    }
  }
  // Its flags and mode are in memory, where a filter cannot see them; libraries then fall back to openat.
  return deny(filter, SCMP_SYS(openat2), ENOSYS);
}

/// Denies all sockets without `network` but pairs of connected streams, which reach nobody else: a datagram
/// socket of a pair can still send to any path, and a socket with a path can be reached by others.
bool restrict_pairs(void* filter, bool network) {
  constexpr scmp_datum_t kType = 0xf;
  bool done = deny(filter, SCMP_SYS(socketpair), EACCES, {argument(0, SCMP_CMP_NE, AF_UNIX)});
  for (scmp_datum_t type = 0; type <= kType; ++type) {
    if (type == SOCK_STREAM || type == SOCK_SEQPACKET) continue;
    done = done && deny(filter, SCMP_SYS(socketpair), EACCES, {argument(1, SCMP_CMP_MASKED_EQ, kType, type)});
  }
  if (network) return done;
  for (const int call : {SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen)})
    done = done && deny(filter, call, EACCES);
  return done;
}

/// A filter has no "neither A nor B": complementary rules, one for each argument, deny everything but the
/// allowed sockets.
bool restrict_sockets(void* filter, bool network) {
  const bool pairs = restrict_pairs(filter, network);
  if (!network) return pairs && deny(filter, SCMP_SYS(socket), EACCES);
  constexpr scmp_datum_t kType = 0xf;
  bool done = pairs && deny(filter, SCMP_SYS(socket), EACCES, {argument(0, SCMP_CMP_LT, AF_INET)}) &&
              deny(filter, SCMP_SYS(socket), EACCES, {argument(0, SCMP_CMP_GT, AF_INET)}) &&
              deny(filter, SCMP_SYS(socket), EACCES, {argument(2, SCMP_CMP_GT, IPPROTO_TCP)});
  for (scmp_datum_t type = 0; type <= kType; ++type) {
    if (type == SOCK_STREAM) continue;
    done = done && deny(filter, SCMP_SYS(socket), EACCES, {argument(1, SCMP_CMP_MASKED_EQ, kType, type)});
  }
  return done;
}

bool deny_terminal_tricks(void* filter) {
  constexpr scmp_datum_t kPutIn = 0x5412, kLinux = 0x541C;  // TIOCSTI, TIOCLINUX
  return deny(filter, SCMP_SYS(ioctl), EPERM, {argument(1, SCMP_CMP_MASKED_EQ, kLow, kPutIn)}) &&
         deny(filter, SCMP_SYS(ioctl), EPERM, {argument(1, SCMP_CMP_MASKED_EQ, kLow, kLinux)});
}

}  // namespace

bool restrict_calls(bool network) {
  const Filter filter(seccomp_init(SCMP_ACT_ALLOW), seccomp_release);
  if (!filter || seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) != 0)
    return false;
  for (const int call : kDenied) {
    if (!deny(filter.get(), call, EPERM)) return false;
  }
  return deny_new_namespaces(filter.get()) && deny_set_id_files(filter.get()) &&
         restrict_sockets(filter.get(), network) && deny_terminal_tricks(filter.get()) &&
         seccomp_load(filter.get()) == 0;
}

}  // namespace praxis::supervisor
