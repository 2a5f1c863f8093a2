// `serve`: makes the runs of a journal reachable over HTTP.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "app/hints.hpp"
#include "app/own_folder.hpp"
#include "app/roles.hpp"
#include "app/tokens.hpp"
#include "base/visible_text.hpp"
#include "cli/commands.hpp"
#include "cli/interrupts.hpp"
#include "cli/live_traces.hpp"
#include "cli/open_browser.hpp"
#include "cli/place.hpp"
#include "cli/serve_engine.hpp"
#include "cli/server_token.hpp"
#include "net/http_server_tls.hpp"
#include "net/socket_address.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/net/http_client.hpp"
#include "server/server.hpp"

namespace praxis::cli {
namespace {

constexpr std::chrono::seconds kGrace{10};  // for turns to end before the server does
constexpr int kFirstInherited = 3;          // SD_LISTEN_FDS_START of sd_listen_fds(3)

/// The socket that systemd opened for this process, or -1.
int inherited_socket() {
  const std::string pid = app::environment_variable("LISTEN_PID"),
                    count = app::environment_variable("LISTEN_FDS");
  return pid == std::to_string(::getpid()) && count == "1" ? kFirstInherited : -1;
}

/// The names by which clients may call a server: those of its address, and those that were given.
std::vector<std::string> hosts_of(const ServeOptions& options) {
  if (!options.socket.empty()) return {};  // who opens the socket has its path
  std::vector<std::string> hosts{"localhost", "127.0.0.1", "::1", options.listen};
  for (const std::string& host : options.hosts) hosts.push_back(server::host_of(host));
  return hosts;
}

std::string address_of(const ServeOptions& options, std::uint16_t port) {
  if (!options.socket.empty()) return "the socket " + options.socket;
  const bool is_ipv6 = options.listen.contains(':');
  const char* const scheme = options.tls_cert.empty() ? "http" : "https";
  return fmt::format(fmt::runtime(is_ipv6 ? "{}://[{}]:{}" : "{}://{}:{}"), scheme, options.listen, port);
}

/// The address of the page, with a code that signs it in.
std::string page_address(const ServeOptions& options, std::uint16_t port, const std::string& code) {
  ServeOptions reached = options;
  if (options.listen == "0.0.0.0" || options.listen == "::") reached.listen = "localhost";
  return address_of(reached, port) + "/#/login/" + code;
}

/// Without TLS, tokens and runs can be read on the way: refuses unless only this machine can connect, or the
/// user wants it.
Status check_reach(const ServeOptions& options, int inherited) {
  if (!options.tls_cert.empty() || options.plain_http || (inherited < 0 && !options.socket.empty()))
    return {};
  const auto address =
      inherited < 0 ? SocketAddress::parse(options.listen, options.port) : SocketAddress::bound(inherited);
  if (!address || address->is_loopback()) return {};
  return fail(app::usage_error("others on the network could read what is sent to " + address->text(),
                               "give --tls-cert and --tls-key, or --plain-http if a proxy in front has TLS"));
}

/// How to listen. Errors `kInput`: of `check_reach`, of `ServerTls::load`.
Result<HttpServerOptions> listening(const ServeOptions& options) {
  HttpServerOptions http;
  http.address = options.listen;
  http.port = options.port;
  http.socket_path = options.socket;
  http.inherited_socket = inherited_socket();
  if (options.tls_cert.empty() != options.tls_key.empty())
    return fail(
        app::usage_error("TLS needs a certificate and its key", "give both --tls-cert and --tls-key"));
  if (auto reached = check_reach(options, http.inherited_socket); !reached) return fail(reached.error());
  if (options.tls_cert.empty()) return http;
  auto tls = ServerTls::load(options.tls_cert, options.tls_key);
  if (!tls) return fail(tls.error());
  http.tls = *std::move(tls);
  http.tls_certificate = options.tls_cert;
  http.tls_key = options.tls_key;
  return http;
}

/// Lines of several threads, each whole.
class Lines {
 public:
  explicit Lines(Console& console) : console_(console) {}
  void write(const std::string& line) {
    const std::lock_guard lock(mutex_);
    console_.err.line(line);
  }

 private:
  Console& console_;
  std::mutex mutex_;
};

std::function<void(const std::string&)> warnings_to(std::shared_ptr<Lines> lines) {
  return [lines = std::move(lines)](const std::string& text) {
    lines->write(visible_text("praxis: warning: " + text));
  };
}

server::Access::Rules access_rules(std::vector<server::Token> tokens, const ServeOptions& options) {
  return {std::move(tokens), hosts_of(options), options.origins, {app::state_folder(), app::roles_file()}};
}

/// Errors `kInput`: of `server::read_bound`, of `engine_of`.
Status set_bounds_and_engine(const ServeOptions& options, const app::Workspace& workspace,
                             server::ServerOptions& serving) {
  serving.load.memory = server::present_memory() / 5 * 4;
  for (const std::string& text : options.bounds) {
    if (auto read = server::read_bound(text, serving.load); !read) return fail(read.error());
  }
  auto restate = engine_of(options.engine, workspace, options.plain_http);
  if (!restate) return fail(restate.error());
  serving.restate = *std::move(restate);
  return {};
}

}  // namespace

Result<ExitStatus> execute(const ServeOptions& options, Console& console) {
  Interrupts interrupts;
  std::map<std::string, std::string> flags;
  if (!options.model.empty()) flags["model"] = options.model;
  auto workspace = open_place(options.place, console, std::move(flags));
  if (!workspace) return fail(workspace.error());
  workspace->offers_presets = false;  // clients reach what the user set up for them
  auto http = listening(options);
  if (!http) return fail(http.error());
  const auto file = options.token_file.empty() ? local_token_file() : Result<std::string>(options.token_file);
  if (!file) return fail(file.error());
  auto tokens = server::read_tokens(*file, "praxis-" + app::random_secret(*system_environment()));
  if (!tokens) return fail(tokens.error());
  if (options.open && !options.socket.empty())
    return fail(app::usage_error("a browser cannot open a Unix socket", "leave out --socket or --open"));
  const auto lines = std::make_shared<Lines>(console);
  server::ServerOptions serving;
  serving.http = *std::move(http);
  serving.access = access_rules(std::move(tokens->tokens), options);
  serving.push.hosts = options.push_hosts;
  serving.oidc = {options.oidc, options.oidc_audience};
  if (auto set = set_bounds_and_engine(options, *workspace, serving); !set) return fail(set.error());
  if (options.open) {
    auto token = token_for("", *file);
    if (!token) return fail(token.error());
    serving.login_token = *std::move(token);
    serving.login_code = app::random_secret(*system_environment());
  }
  const std::string code = serving.login_code;
  serving.take_up = options.take_up;
  if (options.access_log) serving.log = [lines](const std::string& line) { lines->write(line); };
  serving.warn = warnings_to(lines);
  std::mutex mutex;
  std::condition_variable ended;
  bool ends = false;
  interrupts.on_first([&] {
    const std::lock_guard lock(mutex);
    ends = true;
    ended.notify_one();
  });
  auto running = server::Server::start(*workspace, std::move(serving));
  if (!running) return fail(running.error());
  const auto traces = live_traces(*workspace, warnings_to(lines));
  if (!tokens->created.empty()) lines->write("praxis: new token, kept in " + *file + ": " + tokens->created);
  lines->write("praxis: serving on " + address_of(options, (*running)->port()));
  if (options.open) {
    const std::string page = page_address(options, (*running)->port(), code);
    if (!open_browser(page)) lines->write("praxis: no browser was found; open within a minute: " + page);
  }

  {
    std::unique_lock lock(mutex);
    ended.wait(lock, [&] { return ends; });
  }
  lines->write("praxis: ending; runs that work have ten seconds, then they can be resumed");
  (*running)->drain(kGrace);
  running->reset();
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
