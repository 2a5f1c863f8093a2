#include "praxis/process/sandbox.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "base/exhausted.hpp"
#include "base/open_beneath.hpp"
#include "base/path_below.hpp"
#include "praxis/process/process.hpp"
#include "process/sandbox_plan.hpp"
#include "process/sandbox_protection.hpp"

namespace praxis {

namespace {

namespace fs = std::filesystem;
using Options = std::vector<std::string>;

/// The user that root switches to for a sandbox, and the user that every process in it appears to have.
constexpr std::uint32_t kNobody = 65534;
constexpr const char* kBubblewrap = "/usr/bin/bwrap";
constexpr const char* kProxyPlace = "/run/proxy";
constexpr const char* kProxyUrl = "http://127.0.0.1:3128";
/// Entries of /etc that programs need and that hold no secrets.
constexpr std::array kEtc{"alternatives", "ld.so.cache",   "ld.so.conf",      "ld.so.conf.d",   "localtime",
                          "timezone",     "nsswitch.conf", "passwd",          "group",          "os-release",
                          "ssl/certs",    "services",      "ca-certificates", "mime.types",     "magic",
                          "terminfo",     "protocols",     "python3",         "debian_version", "perl"};
/// A writable folder must not be, contain or lie in one of these: the sandbox mounts its own.
constexpr std::array kOfTheSystem{"/usr",  "/etc", "/bin", "/sbin", "/lib",
                                  "/proc", "/sys", "/dev", "/run",  "/boot"};

std::unexpected<Error> refused(const std::string& why) {
  return fail(ErrorCode::kPolicy, "the sandbox cannot be built: " + why);
}

/// The same for what an operator must repair: no program of the agent's has caused it.
std::unexpected<Error> machine_lacks(const std::string& what) {
  return fail(ErrorCode::kPolicy, ErrorKind::kMachine, "the sandbox cannot be built: " + what);
}

void add(Options& options, std::initializer_list<std::string> more) { options.insert(options.end(), more); }

/// A folder or file that the sandbox mounts.
struct Granted {
  std::string path;  ///< without links
  FileDescriptor fd;
  bool writable = false;
  bool is_file = false;  ///< known only if it is writable
};

/// Why a path cannot be granted, from the `errno` of opening it.
std::unexpected<Error> not_granted(const std::string& path, int error) {
  if (error != ELOOP) {
    auto lacking = machine_lacks(path + ": " + std::generic_category().message(error));
    return fail(with_exhaustion(std::move(lacking.error()), error));
  }
  return refused(path +
                 " goes through a symbolic link in a folder that programs may write or that the agent "
                 "works in; name the folder that the link points to");
}

/// Opens a folder or file to be mounted. Refuses a writable one that belongs to the system.
Result<Granted> open_for_mount(const std::string& path, bool writable,
                               const std::vector<std::string>& no_links_below) {
  if (!path.starts_with('/')) return refused("\"" + path + "\" is not an absolute path");
  auto opened = open_granted(fs::path(path).lexically_normal(), no_links_below, O_PATH);
  if (!opened) return not_granted(path, opened.error());
  std::error_code error;
  Granted granted{fs::read_symlink("/proc/self/fd/" + std::to_string(opened->get()), error),
                  *std::move(opened), writable, false};
  if (error) return refused(path + ": " + error.message());
  if (!writable) return granted;
  struct stat info{};
  if (fstat(granted.fd.get(), &info) != 0 || (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode)))
    return refused(path + " is neither a folder nor a file");
  granted.is_file = S_ISREG(info.st_mode);
  for (const char* system : kOfTheSystem) {
    if (!path_below(system, granted.path).empty() || !path_below(granted.path, system).empty()) {
      return refused(path + " belongs to the system; it cannot be writable");
    }
  }
  return granted;
}

void add_system(Options& options) {
  add(options, {"--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session",
                "--cap-drop", "ALL", "--clearenv", "--hostname", "sandbox"});
  add(options, {"--uid", std::to_string(kNobody), "--gid", std::to_string(kNobody)});
  add(options, {"--ro-bind", "/usr", "/usr"});
  for (const char* name : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    std::error_code error;
    if (fs::is_symlink(name, error)) {
      add(options, {"--symlink", fs::read_symlink(name, error).string(), name});
    } else {
      add(options, {"--ro-bind-try", name, name});
    }
  }
}

void add_etc(Options& options, supervisor::Request& request, bool lends) {
  const std::string place = std::string(supervisor::kLoans) + "/etc";
  for (const char* name : kEtc) {
    const std::string path = std::string("/etc/") + name;
    if (lends) {
      request.loans.push_back({path, place + '/' + name, true});
    } else {
      add(options, {"--ro-bind-try", path, path});
    }
  }
  if (lends) add(options, {"--ro-bind", place, "/etc"});
}

void add_own(Options& options, std::uint64_t temporary_bytes) {
  constexpr const char* kShared = "67108864";
  const std::string temporary = std::to_string(temporary_bytes);
  add(options,
      {"--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--size", kShared, "--tmpfs", "/dev/shm"});
  add(options, {"--perms", "1777", "--size", temporary, "--tmpfs", "/tmp"});
  for (const char* path : {"/run", "/home", "/root"}) add(options, {"--size", kShared, "--tmpfs", path});
}

/// Collects the mounts of a sandbox.
class Plan {
 public:
  Plan(const Sandbox& sandbox, supervisor::Request& request) : sandbox_(sandbox), request_(request) {
    if (geteuid() == 0) request_.settings.sandbox_user = kNobody;
  }

  Result<Options> make() {
    add_system(options_);
    const bool has_folders = !sandbox_.writable.empty() || !sandbox_.readable.empty();
    add_etc(options_, request_, has_folders && request_.settings.sandbox_user != 0);
    add_own(options_, sandbox_.temporary_bytes);
    if (auto done = add_folders(); !done) return fail(std::move(done.error()));
    if (!sandbox_.proxy_socket.empty()) {
      const auto socket = open_for_mount(sandbox_.proxy_socket, false, {});
      if (!socket) return fail(socket.error());
      add_proxy(socket->path);
    }
    add(options_, {"--remount-ro", "/", "--chdir", request_.folder});
    add_variables();
    return std::move(options_);
  }

 private:
  /// Returns where bubblewrap finds `path`. If we are root, bubblewrap runs as another user and reads a loan
  /// instead.
  std::string source_of(const std::string& path) {
    if (request_.settings.sandbox_user == 0) return path;
    const std::string place = supervisor::kLoans + ("/" + std::to_string(request_.loans.size()));
    request_.loans.push_back({path, place});
    return place;
  }

  /// Sorted, so that a nested folder is mounted over the outer one and over the mounts that protect the outer
  /// one; a folder that is granted twice is writable.
  Result<std::map<std::string, Granted>> granted() const {
    std::vector<std::string> no_links_below = sandbox_.no_links_below;
    no_links_below.insert(no_links_below.end(), sandbox_.writable.begin(), sandbox_.writable.end());
    std::map<std::string, Granted> all;
    for (const bool writable : {false, true}) {
      for (const std::string& path : writable ? sandbox_.writable : sandbox_.readable) {
        auto opened = open_for_mount(path, writable, no_links_below);
        if (!opened) return fail(std::move(opened.error()));
        const std::string real = opened->path;
        all.insert_or_assign(real, *std::move(opened));
      }
    }
    return all;
  }

  Status add_folders() {
    const auto folders = granted();
    if (!folders) return fail(folders.error());
    std::set<std::string> by_name;
    for (const auto& [path, folder] : *folders) by_name.insert(path);
    std::set<std::string> mounted = by_name;
    for (const auto& [path, folder] : *folders) {
      SandboxFolder made{path, source_of(path), folder.fd.get()};
      if (made.source != path) made.loan = static_cast<std::uint32_t>(request_.loans.size() - 1);
      add(options_, {folder.writable ? "--bind" : "--ro-bind", made.source, made.path});
      const FileIdentity identity = identity_of(folder.fd.get());
      request_.mounts.push_back({made.path, identity.device, identity.inode, !folder.writable});
      if (!folder.writable) {
        hide_paths(made, sandbox_, mounted, options_, request_);
        continue;
      }
      request_.writable.push_back(made.path);
      if (folder.is_file && is_closed(path))
        return refused(
            path +
            " decides what agents may do, is run by a setting, or records what they did; it cannot "
            "be written. Grant another file");
      if (folder.is_file) continue;
      if (auto done = protect_paths(made, sandbox_, by_name, mounted, options_, request_); !done) return done;
    }
    return {};
  }

  /// Whether no program may write a file, although it is granted.
  bool is_closed(const std::string& path) const {
    const auto holds = [&](const std::string& closed) {
      std::error_code failed;
      return !path_below(fs::weakly_canonical(closed, failed).string(), path).empty();
    };
    return std::ranges::any_of(sandbox_.protect, holds) || std::ranges::any_of(sandbox_.hide, holds);
  }

  void add_proxy(const std::string& socket) {
    request_.settings.network = true;
    request_.proxy = kProxyPlace;
    add(options_, {"--ro-bind", source_of(socket), kProxyPlace});
    for (const char* name : {"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"}) {
      request_.environment.push_back(std::string(name) + "=" + kProxyUrl);
    }
  }

  void add_variables() {
    for (const char* name : {"HOME", "TMPDIR"}) {
      const std::string start = std::string(name) + "=";
      const auto is_it = [&](const std::string& variable) { return variable.starts_with(start); };
      if (std::ranges::none_of(request_.environment, is_it)) request_.environment.push_back(start + "/tmp");
    }
  }

  const Sandbox& sandbox_;
  supervisor::Request& request_;
  Options options_;
};

std::string read_line_of(const std::vector<std::string>& argv) {
  ProcessSpec spec;
  spec.argv = argv;
  spec.limits.wall_time = Millis(10'000);
  auto process = start_process(spec);
  const auto result = process ? process->wait({}) : Result<ProcessResult>(fail(process.error()));
  if (!result || result->exit_code != 0) return {};
  return result->out.head.substr(0, result->out.head.find('\n'));
}

SandboxSupport probe() {
  SandboxSupport support;
  const std::string version = access(kBubblewrap, X_OK) == 0 ? read_line_of({kBubblewrap, "--version"}) : "";
  if (version.empty()) {
    support.missing.emplace_back("bubblewrap at /usr/bin/bwrap (install the package bubblewrap)");
  }
  const long landlock = syscall(SYS_landlock_create_ruleset, nullptr, 0, 1);
  if (landlock < 1) {
    support.missing.emplace_back(
        "Landlock in the kernel (Linux 5.13 or later, with landlock in its lsm= list)");
  }
  if (!support.missing.empty()) return support;
  support.version = version + ", " + landlock_text(landlock);

  ProcessSpec spec;
  spec.argv = {"/usr/bin/true"};
  spec.limits.wall_time = Millis(10'000);
  spec.limits.memory_bytes = 1 << 28;
  spec.sandbox.emplace();
  auto process = start_process(spec);
  const auto result = process ? process->wait({}) : Result<ProcessResult>(fail(process.error()));
  if (result && result->end == ProcessEnd::kExited && result->exit_code == 0) {
    support.level = SandboxSupport::Level::kFull;
    support.memory_group = result->memory_group;
  } else {
    support.missing.push_back(
        "user namespaces and seccomp (enable kernel.unprivileged_userns_clone and "
        "user.max_user_namespaces; in a container, allow them): " +
        (result ? "the program in the sandbox failed" : result.error().message));
  }
  return support;
}

}  // namespace

std::string landlock_text(long version) {
  struct Part {
    long since;
    const char* name;
  };
  constexpr std::array kParts{Part{4, "ports (Linux 6.7)"}, Part{5, "controls of devices (Linux 6.10)"},
                              Part{6, "signals and abstract sockets (Linux 6.12)"}};
  std::string lacking;
  for (const Part& part : kParts) {
    if (version < part.since) lacking += (lacking.empty() ? "" : ", ") + std::string(part.name);
  }
  return "Landlock " + std::to_string(version) +
         (lacking.empty()
              ? ""
              : ", which does not know: " + lacking + "; name spaces and seccomp stand alone there");
}

std::string SandboxSupport::reason() const {
  std::string text;
  for (const std::string& one : missing) text += (text.empty() ? "" : "; ") + one;
  return text;
}

const SandboxSupport& probe_sandbox() {
  static const SandboxSupport support = probe();
  return support;
}

Result<std::vector<std::string>> plan_sandbox(const Sandbox& sandbox, supervisor::Request& request) {
  if (access(kBubblewrap, X_OK) != 0) return machine_lacks("bubblewrap is not installed (/usr/bin/bwrap)");
  return Plan(sandbox, request).make();
}

}  // namespace praxis
