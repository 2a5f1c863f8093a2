#include "app/a2a_table.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "app/setting_key.hpp"
#include "praxis/policy/policy.hpp"
#include "praxis/tools/a2a_tools.hpp"
#include "tools/host_rules.hpp"

namespace praxis::app {
namespace {

class A2aTable {
 public:
  A2aTable(const TomlDocument& document, const std::string& name, const AgentFileOptions& options)
      : document_(document),
        name_(name),
        place_("tools.a2a." + name),
        table_(document.at(place_)),
        options_(options) {}

  Result<std::vector<Tool>> read() const {
    if (!document_.at("tools.mcp." + name_).is_null())
      return mistake("", "has the name of an MCP server; give it another one");
    if (auto ruled = check_rule(); !ruled) return fail(std::move(ruled.error()));
    if (options_.http == nullptr) return mistake("url", "this program provides no network for agents");
    A2aAgent agent;
    agent.name = name_;
    agent.url = json_string(table_, "url");
    agent.description = json_string(table_, "description");
    agent.http = options_.http;
    if (agent.url.empty()) return mistake("", "needs the address of the agent, \"url\"");
    if (auto bound = bind_address(agent); !bound) return fail(std::move(bound.error()));
    if (auto read = read_headers(agent.headers); !read) return fail(std::move(read.error()));
    if (const Millis time = praxis::duration_of(json_at(table_, "timeout")); time > Millis{0})
      agent.timeout = time;
    agent.result_bytes = static_cast<std::size_t>(
        json_int(table_, "max_result", static_cast<std::int64_t>(agent.result_bytes)));
    auto tools = a2a_tools(std::move(agent));
    if (!tools) return mistake("", tools.error().message);
    return tools;
  }

 private:
  /// `key`: of the table; empty: the table itself.
  std::unexpected<Error> mistake(const std::string& key, const std::string& text) const {
    return key.empty() ? document_.mistake(place_, '[' + place_ + "] " + text)
                       : document_.mistake(place_ + '.' + key, text);
  }

  /// What leaves this machine needs a rule.
  Status check_rule() const {
    const std::string tool = name_ + "__send";
    for (const char* list : {"policy.allow", "policy.ask"}) {
      for (const std::string& rule : texts_of(document_.at(list))) {
        if (rule_names(rule, tool)) return {};
      }
    }
    return mistake("", "needs a rule: name \"" + tool + "\" in policy.ask, or in policy.allow");
  }

  Status bind_address(A2aAgent& agent) const {
    const auto url = parse_url(agent.url);
    if (!url) return mistake("url", url.error().message);
    const std::string host = url->ipv6 ? '[' + url->host + ']' : url->host;
    auto rules = HostRules::parse({host + ':' + std::to_string(url->port)});
    if (!rules) return mistake("url", rules.error().message);
    agent.allow_address = [url = *url, rules = *std::move(rules)](std::string_view address) {
      return rules.allows_address(url, address);
    };
    return {};
  }

  Result<std::string> variable(const std::string& key, const std::string& name) const {
    const char* const value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0')
      return mistake(key, "the environment variable \"" + name + "\" is not set");
    return std::string(value);
  }

  Status read_headers(HttpHeaders& headers) const {
    if (const std::string name = json_string(table_, "token_env"); !name.empty()) {
      auto token = variable("token_env", name);
      if (!token) return fail(std::move(token.error()));
      headers.emplace_back("Authorization", "Bearer " + *token);
    }
    const JsonObject* const named = json_at(table_, "headers_env").if_object();
    if (named == nullptr) return {};
    for (const auto& [header, name] : *named) {
      if (!name.is_string())
        return mistake("headers_env", "must give each header the name of an environment variable");
      auto value = variable("headers_env", std::string(name.get_string()));
      if (!value) return fail(std::move(value.error()));
      headers.emplace_back(header, *std::move(value));
    }
    return {};
  }

  const TomlDocument& document_;
  const std::string name_;
  const std::string place_;
  const Json& table_;
  const AgentFileOptions& options_;
};

}  // namespace

Result<std::vector<Tool>> tools_of_a2a(const TomlDocument& document, const AgentFileOptions& options) {
  std::vector<Tool> tools;
  const auto* const tables = document.at("tools.a2a").if_object();
  if (tables == nullptr) return tools;
  for (const auto& each : *tables) {
    auto read = A2aTable(document, std::string(each.key()), options).read();
    if (!read) return read;
    std::ranges::move(*read, std::back_inserter(tools));
  }
  return tools;
}

}  // namespace praxis::app
