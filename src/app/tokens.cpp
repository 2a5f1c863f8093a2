#include "app/tokens.hpp"

#include <cstdio>
#include <optional>

#include "app/private_file.hpp"
#include "app/roles.hpp"
#include "praxis/base/dates.hpp"

namespace praxis::app {
namespace {

constexpr const char* kTokenFile = "tokens.jsonl";
constexpr std::size_t kMostTokenFile = 4 * 1024 * 1024;

std::string hex_of(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

void put_time(JsonObject& out, const char* key, UnixMillis time) {
  if (time.value != 0) out[key] = to_iso8601(time);
}

UnixMillis time_at(const Json& json, const char* key) {
  return from_iso8601(json_string(json, key)).value_or(UnixMillis{});
}

/// Nothing: it is not a token, so that the file is damaged.
std::optional<AccessToken> token_in_line(const Json& json) {
  AccessToken token{.id = json_string(json, "id"),
                    .name = json_string(json, "name"),
                    .role = json_string(json, "role"),
                    .tenant = json_string(json, "tenant"),
                    .created = time_at(json, "created"),
                    .expires = time_at(json, "expires"),
                    .revoked = time_at(json, "revoked"),
                    .created_by = json_string(json, "created_by"),
                    .revoked_by = json_string(json, "revoked_by")};
  const auto digest = Digest::from_hex(json_string(json, "digest"));
  const auto lost = [&](const char* key, UnixMillis time) {
    return json.get_object().contains(key) && time.value == 0;
  };
  if (!digest || token.id.empty() || !is_access_name(token.name) || lost("expires", token.expires) ||
      lost("revoked", token.revoked))
    return std::nullopt;
  token.digest = *digest;
  const auto* const agents = json_at(json, "agents").if_array();
  for (const Json& each : agents != nullptr ? *agents : JsonArray{})
    token.agents.push_back(to_plain_text(each));
  const auto* const rights = json_at(json, "rights").if_array();
  for (const Json& each : rights != nullptr ? *rights : JsonArray{}) {
    const auto right = right_from(to_plain_text(each));
    if (!right) return std::nullopt;
    token.rights.add(*right);
  }
  return token;
}

JsonObject line_of(const AccessToken& token) {
  JsonObject line = to_json(token);
  line["digest"] = token.digest.hex();
  return line;
}

Result<std::vector<AccessToken>> tokens_in(const std::vector<Json>& lines, const std::string& path) {
  std::vector<AccessToken> tokens;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto token = lines[i].is_object() ? token_in_line(lines[i]) : std::nullopt;
    if (!token)
      return fail(ErrorCode::kInput,
                  path + ':' + std::to_string(i + 1) + ": not a token that praxis tokens wrote");
    tokens.push_back(*std::move(token));
  }
  return tokens;
}

}  // namespace

JsonObject to_json(const AccessToken& token) {
  JsonObject out{{"id", token.id}, {"name", token.name}};
  if (!token.role.empty()) out["role"] = token.role;
  if (token.role.empty()) {
    const std::vector<std::string> names = token.rights.names();
    out["rights"] = JsonArray(names.begin(), names.end());
  }
  if (!token.tenant.empty()) out["tenant"] = token.tenant;
  if (!token.agents.empty()) out["agents"] = JsonArray(token.agents.begin(), token.agents.end());
  put_time(out, "created", token.created);
  put_time(out, "expires", token.expires);
  put_time(out, "revoked", token.revoked);
  if (!token.created_by.empty()) out["created_by"] = token.created_by;
  if (!token.revoked_by.empty()) out["revoked_by"] = token.revoked_by;
  return out;
}

std::string random_secret(Environment& environment) {
  std::string text;
  for (int i = 0; i < 4; ++i) text += hex_of(environment.random());
  return text;
}

TokenStore::TokenStore(const std::string& folder) : lines_(folder, kTokenFile, kMostTokenFile) {}

Result<std::vector<AccessToken>> TokenStore::all() const {
  // The lines alone are checked for who can write them; these must not be read by others either.
  if (const auto text = read_private_file(path(), kMostTokenFile); !text) return fail(text.error());
  const auto lines = lines_.all();
  if (!lines) return fail(lines.error());
  return tokens_in(*lines, path());
}

Result<std::pair<AccessToken, std::string>> TokenStore::add(AccessToken token,
                                                            Environment& environment) const {
  const std::string secret = "praxis-" + random_secret(environment);
  token.id = "t" + hex_of(environment.random()).substr(0, 8);
  token.digest = digest_of(secret);
  token.created = environment.now();
  const auto changed = lines_.change([&](std::vector<Json>& lines) -> Result<bool> {
    if (const auto known = all(); !known) return fail(known.error());
    lines.emplace_back(line_of(token));
    return true;
  });
  if (!changed) return fail(changed.error());
  return std::pair(std::move(token), secret);
}

Result<std::size_t> TokenStore::revoke(const std::string& id_or_name, UnixMillis now,
                                       const std::string& by) const {
  std::size_t count = 0;
  const auto changed = lines_.change([&](std::vector<Json>& lines) -> Result<bool> {
    auto tokens = all();
    if (!tokens) return fail(tokens.error());
    for (std::size_t i = 0; i < tokens->size(); ++i) {
      AccessToken& token = (*tokens)[i];
      if ((token.id != id_or_name && token.name != id_or_name) || token.revoked.value != 0) continue;
      token.revoked = now;
      token.revoked_by = by;
      lines[i] = line_of(token);
      ++count;
    }
    return count > 0;
  });
  if (!changed) return fail(changed.error());
  return count;
}

}  // namespace praxis::app
