#include "app/http_table.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "app/secret_uses.hpp"
#include "app/setting_key.hpp"
#include "praxis/tools/http_tool.hpp"

namespace praxis::app {

Result<std::vector<Tool>> tools_of_http(const TomlDocument& document, const AgentFileOptions& options) {
  constexpr const char* kTable = "tools.http";
  const Json& http = document.at(kTable);
  if (http.is_null()) return std::vector<Tool>{};
  HttpToolOptions http_options;
  http_options.allow_hosts = texts_of(json_at(http, "allow"));
  if (http_options.allow_hosts.empty())
    return document.mistake(kTable, "[tools.http] needs the hosts it may reach in \"allow\"");
  http_options.max_body_bytes = static_cast<std::size_t>(
      json_int(http, "max_bytes", static_cast<std::int64_t>(http_options.max_body_bytes)));
  http_options.send_trace = json_bool(http, "send_trace");
  if (options.http == nullptr) return document.mistake(kTable, "this program provides no network for agents");
  const HostRules hosts = HostRules::parse(http_options.allow_hosts).value_or(HostRules());
  auto client = http_of_table({document, options, kTable}, hosts);
  if (!client) return fail(std::move(client.error()));
  auto tool = http_tool(*std::move(client), std::move(http_options));
  if (!tool) {
    constexpr std::string_view kOption = "allow_hosts";  // its name in the library
    std::string message = tool.error().message;
    if (message.starts_with(kOption)) message.replace(0, kOption.size(), "\"tools.http.allow\"");
    return document.mistake("tools.http.allow", message);
  }
  if (const Millis timeout = praxis::duration_of(json_at(http, "timeout")); timeout > Millis{0})
    tool->definition.timeout = timeout;
  tool->retries = static_cast<std::uint32_t>(json_int(http, "retries", tool->retries));
  return std::vector<Tool>{*std::move(tool)};
}

}  // namespace praxis::app
