#include "cli/mcp_login.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "base/visible_text.hpp"
#include "cli/open_browser.hpp"
#include "mcp/access.hpp"

namespace praxis::cli {
namespace {

/// The servers that the command is about. Error: the one that it names is not there, or takes no login.
Result<std::vector<McpServer>> named_servers(const McpCommandOptions& options,
                                             const std::vector<McpServer>& servers) {
  if (options.words.size() > 2)
    return fail(
        app::usage_error("login and logout take an agent and one of its servers", "praxis mcp --help"));
  std::vector<McpServer> named;
  for (const McpServer& server : servers) {
    if (options.words.size() == 2 && server.options.server != options.words[1]) continue;
    if (server.access != nullptr) named.push_back(server);
  }
  if (!named.empty()) return named;
  if (options.words.size() == 1) return fail(app::usage_error("no server of the agent takes a login"));
  return fail(
      app::usage_error("no server " + app::in_quotes(options.words[1]) + " of the agent takes a login",
                       "a login is for servers with a url and without token_env"));
}

/// What the login has to bring: found out by use of the server, as a run would. Nothing: the server is
/// content.
Result<std::optional<OauthChallenge>> wanted_by(const McpServer& server, const std::stop_token& stop) {
  const auto tools = server.client->tools(stop);
  auto wanted = server.access->wanted();
  if (!wanted || *wanted || tools) return wanted;
  return fail(tools.error());
}

Result<ExitStatus> log_in_one(const McpServer& server, const McpCommandOptions& options,
                              const std::stop_token& stop, Console& console) {
  const std::string& name = server.options.server;
  const auto wanted = wanted_by(server, stop);
  if (!wanted) return fail(wanted.error());
  if (!*wanted) {
    if (options.json) console.item("login", {{"server", name}, {"state", "not_needed"}});
    if (!options.json) console.out.line(name + ": no login is missing");
    return ExitStatus::kFinished;
  }
  const auto show = [&](const std::string& address) {
    if (options.json) console.item("login", {{"server", name}, {"state", "waiting"}, {"address", address}});
    if (options.json) return;
    if (options.open && open_browser(address)) {
      console.err.line(name + ": the login is in the browser; Ctrl-C stops waiting for it");
      return;
    }
    console.err.line(name + ": open this address to log in; Ctrl-C stops waiting for it");
    console.out.line(visible_text(address));
  };
  const auto issuer = server.access->log_in(**wanted, show, stop);
  if (!issuer) return fail(issuer.error());
  if (options.json) console.item("login", {{"server", name}, {"state", "done"}, {"issuer", *issuer}});
  if (!options.json) console.out.line(visible_text(fmt::format("{}: logged in at {}", name, *issuer)));
  return ExitStatus::kFinished;
}

}  // namespace

Result<ExitStatus> log_in_at(const McpCommandOptions& options, const std::vector<McpServer>& servers,
                             const std::stop_token& stop, Console& console) {
  const auto named = named_servers(options, servers);
  if (!named) return fail(named.error());
  for (const McpServer& server : *named) {
    if (auto done = log_in_one(server, options, stop, console); !done) return done;
  }
  return ExitStatus::kFinished;
}

Result<ExitStatus> log_out_at(const McpCommandOptions& options, const std::vector<McpServer>& servers,
                              const std::stop_token& stop, Console& console) {
  const auto named = named_servers(options, servers);
  if (!named) return fail(named.error());
  for (const McpServer& server : *named) {
    const auto done = server.access->log_out(stop);
    if (!done) return fail(done.error());
    const std::string& name = server.options.server;
    const bool ended = done->had_login && done->still_valid.empty();
    if (options.json) {
      console.item("logout", {{"server", name}, {"had_login", done->had_login}, {"ended", ended}});
      continue;
    }
    console.out.line(name + (!done->had_login ? ": there was no login"
                             : ended          ? ": the login is ended and forgotten"
                                              : ": the login is forgotten"));
    if (done->had_login && !ended)
      console.err.line(visible_text("praxis: " + name +
                                    ": it may still be valid at its login server: " + done->still_valid));
  }
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
