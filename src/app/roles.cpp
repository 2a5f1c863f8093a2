#include "app/roles.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "app/own_folder.hpp"
#include "app/private_file.hpp"
#include "app/setting_key.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis::app {
namespace {

constexpr std::size_t kMostRoles = 100, kMostAccessName = 64;

constexpr std::array kRoleKeys{
    SettingKey{"four_eyes", SettingKey::Type::kFlag, "Who started a run may not approve its steps"},
    SettingKey{"roles", SettingKey::Type::kTable, "Roles by their names"},
    SettingKey{"roles.*", SettingKey::Type::kTable, "A role"},
    SettingKey{"roles.*.rights", SettingKey::Type::kTexts, "What it may do"}};

Result<AccessRole> role_in(const TomlDocument& document, const std::string& name, const Json& table) {
  const std::string path = "roles." + name;
  if (!is_access_name(name))
    return document.mistake(path, "a role has a name of 1 to 64 letters, digits, '.', '_', '-' and '@'");
  if (find_role(built_in_roles(), name) != nullptr)
    return document.mistake(path, "\"" + name + "\" is a built-in role; choose another name");
  const std::vector<std::string> rights = texts_of(json_at(table, "rights"));
  if (rights.empty())
    return document.mistake(path, "a role needs rights, such as rights = [\"read_history\"]");
  AccessRole role{name, {}};
  for (const std::string& each : rights) {
    const auto right = read_right(each);
    if (!right) return document.mistake(path + ".rights", right.error().message);
    role.rights.add(*right);
  }
  return role;
}

}  // namespace

std::string roles_file() {
  const auto folder = own_folder("XDG_CONFIG_HOME", ".config");
  return folder.empty() ? std::string() : (folder / "roles.toml").string();
}

bool is_access_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-' || c == '@';
  };
  return !name.empty() && name.size() <= kMostAccessName && std::ranges::all_of(name, allowed);
}

Result<Right> read_right(std::string_view name) {
  if (const auto right = right_from(name)) return *right;
  const std::vector<std::string> known = Rights::all().names();
  const auto nearest = closest(name, known);
  std::string all;
  for (const std::string& each : known) all += (all.empty() ? "" : ", ") + each;
  return fail(ErrorCode::kInput,
              "\"" + std::string(name) + "\" is not a right" +
                  (nearest ? "; did you mean \"" + *nearest + "\"?" : "; the rights are " + all));
}

Result<Roles> parse_roles(std::string_view text, const std::string& name) {
  const auto document = TomlDocument::parse(text, name);
  if (!document) return fail(document.error());
  std::vector<SettingKey> keys(kRoleKeys.begin(), kRoleKeys.end());
  keys.insert(keys.end(), oidc_keys().begin(), oidc_keys().end());
  if (auto checked = check_keys(*document, keys); !checked) return fail(checked.error());
  Roles roles{{built_in_roles().begin(), built_in_roles().end()}, false};
  const Json& flag = document->at("four_eyes");
  roles.four_eyes = flag.is_bool() && flag.get_bool();
  const Json& tables = document->at("roles");
  const JsonObject own = tables.is_object() ? tables.get_object() : JsonObject{};
  if (own.size() > kMostRoles) return document->mistake("roles", "there may be 100 roles at most");
  for (const auto& member : own) {
    auto role = role_in(*document, std::string(member.key()), member.value());
    if (!role) return fail(role.error());
    roles.all.push_back(*std::move(role));
  }
  auto oidc = read_oidc(*document, roles.all);
  if (!oidc) return fail(oidc.error());
  roles.oidc = *std::move(oidc);
  return roles;
}

Result<Roles> read_roles(const std::string& path) {
  const auto text = path.empty() ? Result<std::optional<std::string>>(std::nullopt)
                                 : read_private_file(path, kMaxTomlBytes);
  if (!text) return fail(text.error());
  return parse_roles(text->value_or(""), path);
}

}  // namespace praxis::app
