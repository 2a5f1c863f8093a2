#include "app/secret_uses.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "app/plain_text.hpp"
#include "app/secret_broker.hpp"
#include "app/secret_headers.hpp"
#include "app/secret_text.hpp"
#include "app/setting_key.hpp"
#include "app/source_file.hpp"
#include "base/ascii.hpp"

namespace praxis::app {
namespace {

/// Those that `HttpRequest` refuses.
constexpr std::array<std::string_view, 6> kHeadersOfClient{
    "host", "content-length", "transfer-encoding", "connection", "upgrade", "expect"};

/// Error: without its place.
Result<const SecretRule*> secret_for(const SecretTable& table, const std::string& name) {
  if (!table.options.secrets) return fail(ErrorCode::kInput, "this program provides no secrets for agents");
  SecretUser user{.tool = table.path.substr(table.path.find('.') + 1)};
  user.agent_file = absolute_path(table.document.name());
  user.is_project = !table.options.within.empty();
  return table.options.secrets->find(name, user);
}

Status check_header(const std::string& name, const std::string& text) {
  const auto splits = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; };
  const bool is_token = !name.empty() && std::ranges::all_of(name, [](char c) {
    return c > ' ' && c < 0x7F && std::string_view("()<>@,;:\\\"/[]?={}").find(c) == std::string_view::npos;
  });
  if (!is_token) return fail(ErrorCode::kInput, "is not the name of a header");
  if (std::ranges::find(kHeadersOfClient, lower_case(name)) != kHeadersOfClient.end())
    return fail(ErrorCode::kInput, "is set by the client itself");
  if (std::ranges::any_of(text, splits)) return fail(ErrorCode::kInput, "must be one line of text");
  return {};
}

Result<SecretHeader> header_of(const SecretTable& table, const HostRules& reachable, const std::string& name,
                               const std::string& text) {
  if (auto checked = check_header(name, text); !checked) return fail(std::move(checked.error()));
  auto read = read_secret_text(text);
  if (!read) return fail(std::move(read.error()));
  SecretHeader header{name, std::move(read->before)};
  if (read->secret.empty()) return header;
  const auto rule = secret_for(table, read->secret);
  if (!rule) return fail(rule.error());
  if (!(*rule)->host_rules.meet(reachable))
    return fail(ErrorCode::kInput, "the secret " + in_quotes(read->secret) +
                                       " is for none of the hosts that the tool may reach; it is for " +
                                       ((*rule)->hosts.empty() ? "none" : joined((*rule)->hosts)));
  header.rule = *rule;
  return header;
}

/// The hosts that programs of the table may reach; they were checked with it.
HostRules program_hosts(const SecretTable& table) {
  return HostRules::parse(texts_of(table.document.at(table.path + ".allow"))).value_or(HostRules());
}

using SecretVariables = std::vector<std::pair<std::string, const SecretRule*>>;

Status add_variable(const SecretTable& table, const std::string& name, const std::string& reference,
                    SecretVariables& variables) {
  const auto rule = secret_for(table, reference.substr(kSecretReference.size()));
  if (!rule) return fail(rule.error());
  if (!(*rule)->host_rules.cover(program_hosts(table)))
    return fail(ErrorCode::kInput,
                "the program would know the secret " + in_quotes((*rule)->name) +
                    " and may reach hosts that it is not for; \"allow\" can list " +
                    ((*rule)->hosts.empty() ? "none: the secret has no \"hosts\"" : joined((*rule)->hosts)));
  variables.emplace_back(name, *rule);
  return {};
}

/// The variables of `TABLE.environment`.
Status read_list(const SecretTable& table, ProgramVariables& made, SecretVariables& secrets) {
  for (const std::string& entry : texts_of(table.document.at(table.path + ".environment"))) {
    const std::size_t equals = entry.find('=');
    if (equals == entry.npos) {
      made.passed_on.push_back(entry);
      continue;
    }
    const std::string name = entry.substr(0, equals), value = entry.substr(equals + 1);
    if (name.empty() || !value.starts_with(kSecretReference))
      return fail(ErrorCode::kInput,
                  in_quotes(name + "=...") + " is neither the name of a variable nor VARIABLE=secret:NAME");
    if (auto added = add_variable(table, name, value, secrets); !added) return added;
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<HttpClient>> http_of_table(const SecretTable& table, const HostRules& reachable,
                                                  const std::string& token) {
  std::vector<SecretHeader> headers;
  const std::string place = table.path + ".headers";
  if (const JsonObject* const given = table.document.at(place).if_object()) {
    for (const auto& [name, value] : *given) {
      const std::string key(name);
      const auto mistake = [&](const std::string& what) {
        return table.document.mistake(place + '.' + key, in_quotes(key) + ": " + what);
      };
      if (!value.is_string()) return mistake("must be a text");
      auto header = header_of(table, reachable, key, std::string(value.get_string()));
      if (!header) return mistake(header.error().message);
      headers.push_back(*std::move(header));
    }
  }
  if (token.starts_with(kSecretReference)) {
    auto header = header_of(table, reachable, "Authorization", "Bearer " + token);
    if (!header) return table.document.mistake(table.path, header.error().message);
    headers.push_back(*std::move(header));
  }
  if (headers.empty()) return table.options.http;
  return http_with_headers(table.options.http, table.options.secrets, std::move(headers));
}

Result<ProgramVariables> variables_of_table(const SecretTable& table,
                                            std::map<std::string, std::string>* further) {
  ProgramVariables made;
  SecretVariables secrets;
  auto read = read_list(table, made, secrets);
  if (read && further != nullptr) {
    for (const auto& [name, value] : *further) {
      if (read && value.starts_with(kSecretReference)) read = add_variable(table, name, value, secrets);
    }
    std::erase_if(*further, [](const auto& each) { return each.second.starts_with(kSecretReference); });
  }
  if (!read) return table.document.mistake(table.path + ".environment", read.error().message);
  if (secrets.empty()) return made;
  made.prepare = [broker = table.options.secrets,
                  secrets = std::move(secrets)](std::map<std::string, std::string>& environment) -> Status {
    for (const auto& [name, rule] : secrets) {
      const auto value = broker->hand_out(*rule);
      if (!value) return fail(value.error());
      environment[name] = (*value)->reveal();
    }
    return {};
  };
  return made;
}

}  // namespace praxis::app
