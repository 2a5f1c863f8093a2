// A private PostgreSQL server for tests: in a temporary folder, reached by a Unix socket there, one for the
// process. It runs as an unprivileged user, because initdb refuses root.
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/missing_part.hpp"
#include "journal/postgres_connection.hpp"
#include "journal/testing/remove_folder.hpp"

namespace praxis::testing {

class PostgresServer {
 public:
  /// The server of this process; null if the machine has none.
  static PostgresServer* shared() {
    static const std::unique_ptr<PostgresServer> server = start_new();
    return server.get();
  }
  static std::unique_ptr<PostgresServer> start_new() {
    const std::string programs = find_programs();
    if (programs.empty() || !pq::load()) return nullptr;
    std::unique_ptr<PostgresServer> server(new PostgresServer(programs));
    if (!server->make() || !server->start()) return nullptr;
    return server;
  }
  ~PostgresServer() {
    stop(SIGQUIT);
    remove_folder(folder_);
  }
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  /// The address of an empty schema of its own.
  std::string new_schema() {
    const std::string name = "s" + std::to_string(++schemas_) + "_" + std::to_string(getpid());
    auto connection = PostgresConnection::open(address(), false);
    if (!connection || !connection->execute("CREATE SCHEMA " + name)) return "";
    return address() + "&options=-csearch_path%3D" + name;
  }
  std::string address() const { return "postgres:///postgres?user=praxis&host=" + folder(); }
  /// The folder with the socket.
  std::string folder() const { return folder_.string(); }
  /// The address as reached by a proxy whose socket is in another folder.
  std::string through(const std::string& proxy, std::string address) const {
    return address.replace(address.find(folder()), folder().size(), proxy);
  }

  /// Starts the server and waits until it answers.
  bool start() {
    pid_ = run({"postgres", "-D", data(), "-k", folder_.string(), "-h", "", "-F", "-c", "max_connections=200",
                "-c", "shared_buffers=16MB"});
    for (int tries = 0; tries < 3000; ++tries) {
      if (PostgresConnection::open(address(), false)) return true;
      if (waitpid(pid_, nullptr, WNOHANG) == pid_) break;
      usleep(10'000);  // the server tells nobody when it is ready
    }
    return false;
  }
  /// Ends the server: SIGINT at once but in order, SIGQUIT as a crash.
  void stop(int how) {
    if (pid_ <= 0) return;
    kill(pid_, how);
    waitpid(std::exchange(pid_, -1), nullptr, 0);
  }

 private:
  explicit PostgresServer(std::string programs) : programs_(std::move(programs)) {
    std::string name = (std::filesystem::temp_directory_path() / "praxis-pg-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }

  static std::string find_programs() {
    for (int version = 30; version >= 13; --version) {
      const std::string folder = "/usr/lib/postgresql/" + std::to_string(version) + "/bin/";
      if (access((folder + "initdb").c_str(), X_OK) == 0) return folder;
    }
    return "";
  }
  std::string data() const { return (folder_ / "data").string(); }

  bool make() {
    if (geteuid() == 0) {
      const passwd* user = getpwnam("nobody");
      if (user == nullptr || chown(folder_.c_str(), user->pw_uid, user->pw_gid) != 0) return false;
      user_ = user->pw_uid;
      group_ = user->pw_gid;
    }
    int status = 1;
    const pid_t pid = run({"initdb", "-D", data(), "-U", "praxis", "-A", "trust", "-E", "UTF8", "--no-locale",
                           "--no-sync", "--no-instructions"});
    return waitpid(pid, &status, 0) == pid && status == 0;
  }

  pid_t run(std::vector<std::string> arguments) const {
    arguments.front() = programs_ + arguments.front();
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    const pid_t pid = fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
    if (group_ != 0 && (setgroups(0, nullptr) != 0 || setgid(group_) != 0)) _exit(126);
    if (user_ != 0 && setuid(user_) != 0) _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGQUIT);  // which the change of the user has reset
    const int log = open((folder_ / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    const int null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(log, 1);
    dup2(log, 2);
    if (chdir("/") != 0) _exit(126);
    execv(pointers[0], pointers.data());
    _exit(127);
  }

  const std::string programs_;
  std::filesystem::path folder_;
  uid_t user_ = 0;
  gid_t group_ = 0;
  pid_t pid_ = -1;
  int schemas_ = 0;
};

}  // namespace praxis::testing

/// Ends the test if the machine has no PostgreSQL.
#define PRAXIS_NEED_POSTGRES()                                          \
  do {                                                                  \
    if (::praxis::testing::PostgresServer::shared() == nullptr)         \
      PRAXIS_MISSING_PART("no PostgreSQL server (package postgresql)"); \
  } while (false)
