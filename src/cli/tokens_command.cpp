// `tokens`: makes, lists and revokes tokens of the server (docs/roles.md).
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "app/roles.hpp"
#include "app/tokens.hpp"
#include "cli/author.hpp"
#include "cli/commands.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis::cli {
namespace {

constexpr const char* kRoleHint = "praxis help roles explains roles and rights";

Result<std::string> tokens_folder() {
  if (std::string folder = app::state_folder(); !folder.empty()) return folder;
  return fail(app::usage_error("there is no place for tokens: neither HOME nor XDG_STATE_HOME is set"));
}

/// What the new token may do. Error `kInput`: no such role or right.
Status set_rights(const TokensOptions& options, app::AccessToken& token) {
  if (options.role.empty() == options.rights.empty())
    return fail(
        app::usage_error("say what the token may do: --role ROLE, or --right RIGHT once or more", kRoleHint));
  for (const std::string& name : options.rights) {
    const auto right = app::read_right(name);
    if (!right) return fail(app::with_hint(Error(right.error()), kRoleHint));
    token.rights.add(*right);
  }
  if (options.role.empty()) return {};
  const auto roles = app::read_roles(app::roles_file());
  if (!roles) return fail(roles.error());
  token.role = options.role;
  if (find_role(roles->all, options.role) != nullptr) return {};
  std::vector<std::string> names;
  for (const AccessRole& role : roles->all) names.push_back(role.name);
  const auto meant = closest(options.role, names);
  return fail(app::usage_error("there is no role " + app::in_quotes(options.role) +
                                   (meant ? "; did you mean \"" + *meant + "\"?" : ""),
                               kRoleHint));
}

Result<ExitStatus> add_token(const TokensOptions& options, Console& console) {
  app::AccessToken token{.name = options.name, .tenant = options.tenant, .agents = options.agents};
  if (!app::is_access_name(token.name) || token.name == "owner")
    return fail(app::usage_error(
        "a token needs a name of 1 to 64 letters, digits, '.', '_', '-' and '@', other than \"owner\"",
        "praxis tokens add anna --role approver"));
  if (!token.tenant.empty() && !app::is_access_name(token.tenant))
    return fail(app::usage_error("a tenant has a name of 1 to 64 letters, digits, '.', '_', '-' and '@'"));
  if (auto set = set_rights(options, token); !set) return fail(set.error());
  const auto folder = tokens_folder();
  if (!folder) return fail(folder.error());
  const auto environment = system_environment();
  if (options.expires) token.expires = environment->now() + *options.expires;
  token.created_by = cli_author().principal;
  const auto added = app::TokenStore(*folder).add(std::move(token), *environment);
  if (!added) return fail(added.error());
  JsonObject shown = app::to_json(added->first);
  shown["token"] = added->second;
  console.result(std::move(shown));
  if (options.json) return ExitStatus::kFinished;
  console.out.line(added->second);
  console.err.line("this is the token " + added->first.id + " of " + added->first.name +
                   "; it is not shown again");
  return ExitStatus::kFinished;
}

std::string state_of(const app::AccessToken& token, UnixMillis now) {
  if (token.revoked.value != 0) return "revoked";
  if (token.expires.value == 0) return "valid";
  return (token.expires <= now ? "expired " : "until ") + to_iso8601(token.expires);
}

Result<ExitStatus> list_tokens(const TokensOptions& options, Console& console) {
  const auto folder = tokens_folder();
  if (!folder) return fail(folder.error());
  const auto tokens = app::TokenStore(*folder).all();
  if (!tokens) return fail(tokens.error());
  const UnixMillis now = system_environment()->now();
  for (const app::AccessToken& token : *tokens) {
    if (options.json) {
      console.item("token", app::to_json(token));
      continue;
    }
    std::string given = token.role;
    for (const std::string& right : token.role.empty() ? token.rights.names() : std::vector<std::string>{})
      given += (given.empty() ? "" : ",") + right;
    std::string line = fmt::format("{}  {:12} {:12} {}", token.id, token.name, given, state_of(token, now));
    if (!token.tenant.empty()) line += "  tenant " + token.tenant;
    for (const std::string& agent : token.agents) line += "  agent " + app::exact(agent);
    console.out.line(line);
  }
  if (tokens->empty() && !options.json) console.err.line("there are no tokens; praxis tokens add makes one");
  return ExitStatus::kFinished;
}

Result<ExitStatus> revoke_tokens(const TokensOptions& options, Console& console) {
  if (options.name.empty())
    return fail(app::usage_error("name the principal, or the id of a token", "praxis tokens list"));
  const auto folder = tokens_folder();
  if (!folder) return fail(folder.error());
  const auto count =
      app::TokenStore(*folder).revoke(options.name, system_environment()->now(), cli_author().principal);
  if (!count) return fail(count.error());
  console.result({{"revoked", *count}});
  if (*count == 0) {
    return fail(app::usage_error("no token that stands has the name or id " + app::in_quotes(options.name),
                                 "praxis tokens list shows them"));
  }
  if (!options.json)
    console.err.line(fmt::format("{} token{} revoked", *count, *count == 1 ? " is" : "s are"));
  return ExitStatus::kFinished;
}

}  // namespace

Result<ExitStatus> execute(const TokensOptions& options, Console& console) {
  const bool adds = options.verb == TokensOptions::Verb::kAdd;
  const bool has_more = !options.role.empty() || !options.rights.empty() || !options.tenant.empty() ||
                        !options.agents.empty() || options.expires;
  if (!adds && has_more)
    return fail(
        app::usage_error("--role, --right, --tenant, --agent and --expires belong to "
                         "praxis tokens add"));
  if (adds) return add_token(options, console);
  return options.verb == TokensOptions::Verb::kList ? list_tokens(options, console)
                                                    : revoke_tokens(options, console);
}

}  // namespace praxis::cli
