#include "process/supervisor/loans.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>

#include "base/file_descriptor.hpp"
#include "base/open_beneath.hpp"

namespace praxis::supervisor {

namespace {

bool write_file(const std::string& path, const std::string& text) {
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// Creates a user name space that maps `owner` and `group` of a file system to `user`.
FileDescriptor map_to(uid_t owner, gid_t group, std::uint32_t user) {
  const pid_t parent = getpid();
  // As fork(2): the child has a copy of the stack. It exists only to hold the name space. It ends with this
  // process, because it also holds the locks of the placeholders.
  const auto child = static_cast<pid_t>(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    for (;;) pause();
  }
  if (child < 0) return {};
  FileDescriptor space;
  const std::string proc = "/proc/" + std::to_string(child);
  const std::string to = " " + std::to_string(user) + " 1\n";
  if (write_file(proc + "/uid_map", std::to_string(owner) + to) &&
      write_file(proc + "/gid_map", std::to_string(group) + to)) {
    space = FileDescriptor(open((proc + "/ns/user").c_str(), O_RDONLY | O_CLOEXEC));
  }
  const int error = errno;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  errno = error;
  return space;
}

/// Returns a copy of the mount at `source` in which the owner of `source` is mapped to `user`.
FileDescriptor lent_copy(const std::string& source, std::uint32_t user) {
  struct stat info{};
  FileDescriptor tree(static_cast<int>(syscall(SYS_open_tree, AT_FDCWD, source.c_str(),
                                               OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW)));
  if (tree.get() < 0 || fstat(tree.get(), &info) != 0) return {};
  if (info.st_uid == user) return tree;
  const FileDescriptor space = map_to(info.st_uid, info.st_gid, user);
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_IDMAP;
  attributes.userns_fd = static_cast<std::uint64_t>(space.get());
  if (space.get() < 0 ||
      syscall(SYS_mount_setattr, tree.get(), "", AT_EMPTY_PATH, &attributes, sizeof attributes) != 0) {
    return {};
  }
  return tree;
}

bool set_attributes(int tree, std::uint64_t attributes) {
  mount_attr wanted{};
  wanted.attr_set = attributes;
  return syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &wanted, sizeof wanted) == 0;
}

/// Returns a read-only copy of the mount at `source`, which may be a link; none, with errno 0, if nothing is
/// there.
FileDescriptor plain_copy(const std::string& source) {
  FileDescriptor tree(static_cast<int>(
      syscall(SYS_open_tree, AT_FDCWD, source.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE)));
  if (tree.get() < 0 && errno == ENOENT) errno = 0;
  if (tree.get() < 0 || !set_attributes(tree.get(), MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV))
    return {};
  return tree;
}

bool make_place(const std::string& place, int like) {
  struct stat info{};
  if (fstat(like, &info) != 0) return false;
  for (auto end = place.find('/', 1); end != std::string::npos; end = place.find('/', end + 1)) {
    if (mkdir(place.substr(0, end).c_str(), 0755) != 0 && errno != EEXIST) return false;
  }
  if (S_ISDIR(info.st_mode)) return mkdir(place.c_str(), 0755) == 0;
  return FileDescriptor(open(place.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644)).get() >= 0;
}

}  // namespace

std::string lend(const std::vector<Loan>& loans, std::uint32_t user) {
  std::string folder = kLoans;
  // From here on, only this process and its children see what it mounts.
  if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return folder;
  std::vector<FileDescriptor> copies;
  for (const Loan& loan : loans) {
    copies.push_back(loan.plain ? plain_copy(loan.source) : lent_copy(loan.source, user));
    if (copies.back().get() < 0 && !(loan.plain && errno == 0)) return loan.source;
  }
  umask(022);
  // Not earlier, because a source may lie below it.
  if (mount("tmpfs", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=1m") != 0) return folder;
  for (std::size_t i = 0; i < loans.size(); ++i) {
    const std::string& place = loans[i].place;
    if (copies[i].get() < 0) continue;
    if (!make_place(place, copies[i].get()) ||
        syscall(SYS_move_mount, copies[i].get(), "", AT_FDCWD, place.c_str(), MOVE_MOUNT_F_EMPTY_PATH) != 0) {
      return loans[i].source;
    }
  }
  return {};
}

Lending::~Lending() {
  if (has_begun_) umount2(kLoans, MNT_DETACH);
}

std::string cover(const std::vector<Loan>& loans, const std::vector<Cover>& covers) {
  FileDescriptor top;
  std::optional<std::uint32_t> top_of;
  for (const Cover& one : covers) {
    if (top_of != one.loan) {
      top = FileDescriptor(open(loans.at(one.loan).place.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
      top_of = one.loan;
    }
    const auto place = open_beneath(top.get(), one.path, O_PATH);
    if (!place) {
      errno = place.error();
      return one.path;
    }
    const FileDescriptor tree(
        static_cast<int>(syscall(SYS_open_tree, place->get(), "",
                                 AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE)));
    const std::uint64_t attributes =
        MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (one.read_only ? MOUNT_ATTR_RDONLY : 0);
    if (tree.get() < 0 || !set_attributes(tree.get(), attributes) ||
        syscall(SYS_move_mount, tree.get(), "", place->get(), "",
                MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0)
      return one.path;
  }
  return {};
}

}  // namespace praxis::supervisor
