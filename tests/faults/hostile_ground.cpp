#include "hostile_ground.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace praxis::faults::hostile {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFolders{"hostile/.git/hooks",
                              "hostile/.vscode",
                              "hostile/conf",
                              "hostile/team/a/.git",
                              "hostile/team/a/deep/er",
                              "hostile/team/b/.praxis",
                              "hostile/team/b/.vscode",
                              "hostile/runs",
                              "honest/.git",
                              "out/keys"};
/// Begins the secret of another process.
constexpr const char* kOther = "sesame-81b2";
/// Files with a secret that must stay unread, and files that must stay unchanged.
constexpr std::array kSecrets{"out/secret",       "out/keys/key",        "honest/.env",
                              "honest/private",   "hostile/.env",        "hostile/.env.local",
                              "hostile/runs/log", "hostile/team/a/.env", "hostile/team/b/.env.local"};
constexpr std::array kFixed{"out/victim",
                            "honest/.git/config",
                            "hostile/.git/config",
                            "hostile/.git/hooks/pre-commit",
                            "hostile/.vscode/tasks.json",
                            "hostile/.mcp.json",
                            "hostile/.bashrc",
                            "hostile/.gitlab-ci.yml",
                            "hostile/Jenkinsfile",
                            "hostile/conf/agent.toml",
                            "hostile/team/a/.git/config",
                            "hostile/team/a/deep/er/.mcp.json",
                            "hostile/team/b/.git",
                            "hostile/team/b/.vscode/tasks.json",
                            "hostile/team/b/.praxis/config.toml"};

void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

FileDescriptor listener(int type, const sockaddr* address, std::size_t size) {
  FileDescriptor made(socket(address->sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (bind(made.get(), address, static_cast<socklen_t>(size)) != 0 ||
      (type == SOCK_STREAM && listen(made.get(), 10) != 0))
    throw std::runtime_error("no listener");
  return made;
}

FileDescriptor unix_listener(int type, const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error("the path of a socket is too long");
  std::memcpy(address.sun_path, path.data(), path.size());
  return listener(type, reinterpret_cast<sockaddr*>(&address), offsetof(sockaddr_un, sun_path) + path.size());
}

FileDescriptor port_listener(int type) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return listener(type, reinterpret_cast<sockaddr*>(&address), sizeof address);
}

std::string port_of(const FileDescriptor& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return std::to_string(ntohs(address.sin_port));
}

std::string abstract_name() { return "praxis_hostile_" + std::to_string(getpid()); }

/// Starts a process with a secret in its environment, which ends with this one.
pid_t start_victim() {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string other = std::string("OTHER=") + kOther + "-of-another";
  std::array<char*, 2> variables{other.data(), nullptr};
  execle("/usr/bin/sleep", "sleep", "1000000", nullptr, variables.data());
  _exit(1);
}

/// The files in `folder` that give those who start them the rights of their owner.
std::string powerful_files(const fs::path& folder) {
  std::string found;
  std::error_code failed;
  for (const auto& entry : fs::recursive_directory_iterator(folder, failed)) {
    struct stat info{};
    if (lstat(entry.path().c_str(), &info) != 0) continue;
    const bool has_id = (info.st_mode & (S_ISUID | S_ISGID)) != 0 ||
                        lgetxattr(entry.path().c_str(), "security.capability", nullptr, 0) > 0;
    const bool is_device = S_ISBLK(info.st_mode) || (S_ISCHR(info.st_mode) && info.st_rdev != 0);
    if (has_id || is_device) found += "a powerful file is left: " + entry.path().string() + '\n';
  }
  return found;
}

std::string processes_with(const std::string& mark) {
  std::string found;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator("/proc", failed)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos || name == std::to_string(getpid()))
      continue;
    if (Ground::text_of(entry.path() / "cmdline").find(mark) != std::string::npos)
      found += "process " + name + " is left\n";
  }
  return found;
}

}  // namespace

Ground::Ground() {
  std::string name = (fs::temp_directory_path() / "praxis_hostile_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  top_ = name;
  fs::permissions(top_, fs::perms(0755));  // the way in must not be what protects
  tcp_ = port_listener(SOCK_STREAM);
  udp_ = port_listener(SOCK_DGRAM);
  by_path_ = unix_listener(SOCK_STREAM, top_ / "socket");
  by_name_ = unix_listener(SOCK_STREAM, '\0' + abstract_name());
  victim_ = start_victim();
  refresh();
}

Ground::~Ground() {
  kill(victim_, SIGKILL);
  waitpid(victim_, nullptr, 0);
  std::error_code failed;
  fs::remove_all(top_, failed);
}

std::string Ground::text_of(const fs::path& path) {
  // Not with iterators, which throw when a process ends while its file in /proc is read.
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void Ground::refresh() {
  for (const auto& folder : {hostile(), honest(), outside()}) fs::remove_all(folder);
  for (const char* folder : kFolders) fs::create_directories(top_ / folder);
  for (const char* file : kSecrets) write(top_ / file, std::string("KEY=") + kSecret + '\n');
  for (const char* file : kFixed) write(top_ / file, "as it was\n");
  for (const auto& folder : {hostile(), outside(), outside() / "keys"})
    fs::permissions(folder, fs::perms::all);
  for (const char* file : {"out/secret", "out/victim", "out/keys/key"})
    fs::permissions(top_ / file, fs::perms(0666));
  fs::create_symlink(outside(), hostile() / "link");
  datagrams_ = unix_listener(SOCK_DGRAM, hostile() / "datagrams");
  fs::permissions(hostile() / "datagrams", fs::perms::all);
}

std::map<std::string, std::string> Ground::canaries() const {
  std::map<std::string, std::string> all;
  const auto add = [&](const std::string& path) {
    struct stat info{};
    if (lstat((top_ / path).c_str(), &info) != 0) {
      all[path] = "is gone";
      return;
    }
    const bool is_file = S_ISREG(info.st_mode);
    std::string text;
    for (const std::uint64_t part :
         {std::uint64_t{info.st_dev}, std::uint64_t{info.st_ino}, std::uint64_t{info.st_uid},
          std::uint64_t{info.st_mode}, std::uint64_t{is_file ? info.st_nlink : 0},
          static_cast<std::uint64_t>(is_file ? info.st_mtim.tv_nsec : 0)})
      text += std::to_string(part) + ' ';
    if (is_file) text += Ground::text_of(top_ / path);
    all[path] = text;
  };
  for (const char* file : kSecrets) add(file);
  for (const char* file : kFixed) add(file);
  for (const char* folder : kFolders) add(folder);
  std::error_code failed;
  for (const char* folder : {"out", "hostile/.git", "hostile/runs", "hostile/team/a/.git"}) {
    for (const auto& entry : fs::recursive_directory_iterator(top_ / folder, failed))
      all.try_emplace(entry.path().lexically_relative(top_), "exists");
  }
  return all;
}

std::vector<std::string> Ground::reach() const {
  std::vector<std::string> all;
  for (const char* file : kSecrets) all.push_back(top_ / file);
  for (const char* file : kFixed) all.push_back(top_ / file);
  return all;
}

std::map<std::string, std::string> Ground::environment() const {
  return {{"WS", hostile()},
          {"OUT", outside()},
          {"PID", std::to_string(getpid())},
          {"TCP", port_of(tcp_)},
          {"UDP", port_of(udp_)},
          {"SOCK", top_ / "socket"},
          {"SECRET", kOther},
          {"ABSTRACT", abstract_name()},
          {"DATAGRAMS", hostile() / "datagrams"}};
}

std::string Ground::host_sockets() const {
  std::array<pollfd, 5> ready{};
  const std::array<const FileDescriptor*, 5> sockets{&tcp_, &udp_, &by_path_, &by_name_, &datagrams_};
  for (std::size_t i = 0; i < sockets.size(); ++i) ready[i] = {sockets[i]->get(), POLLIN, 0};
  return poll(ready.data(), ready.size(), 0) == 0 ? "" : "a socket of the host was reached\n";
}

std::string Ground::victim() const {
  int status = 0;
  if (waitpid(victim_, &status, WNOHANG | WUNTRACED) != 0) return "another process was ended or stopped\n";
  const std::string about = Ground::text_of("/proc/" + std::to_string(victim_) + "/status");
  return about.find("TracerPid:\t0\n") != std::string::npos ? "" : "another process is traced\n";
}

std::string Ground::traces(const std::string& mark) const {
  return powerful_files(hostile()) + processes_with(mark) + host_sockets() + victim();
}

}  // namespace praxis::faults::hostile
