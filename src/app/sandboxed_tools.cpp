#include "app/sandboxed_tools.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "app/secret_uses.hpp"
#include "app/setting_key.hpp"
#include "base/exhausted.hpp"
#include "net/egress_proxy.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/tools/python_tool.hpp"
#include "praxis/tools/shell_tool.hpp"
#include "tools/host_rules.hpp"

namespace praxis {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMebibyte = 1024 * 1024;

std::vector<std::string> joined(std::vector<std::string> all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::uint64_t whole(const Json& table, std::string_view key, std::uint64_t otherwise) {
  return static_cast<std::uint64_t>(json_int(table, key, static_cast<std::int64_t>(otherwise)));
}

std::uint64_t memory_of(const Json& table, std::uint64_t otherwise) {
  return whole(table, "max_memory_mb", otherwise / kMebibyte) * kMebibyte;
}

/// The sandbox's access to certain hosts. Opens on the first call of the tool and stays open as long as the
/// tool. Thread-safe.
class WayOut {
 public:
  explicit WayOut(HostRules rules) : rules_(std::make_shared<const HostRules>(std::move(rules))) {
    path_ = new_proxy_path(fs::temp_directory_path(), system_environment()->new_id());
  }

  const std::string& path() const { return path_; }

  Status open() {
    const std::lock_guard lock(mutex_);
    if (proxy_) return {};
    remove_ended_proxies(fs::temp_directory_path());
    EgressOptions options;
    options.socket_path = path_;
    options.rules.allows = [rules = rules_](const Url& url) { return rules->allows(url); };
    options.rules.allows_address = [rules = rules_](const Url& url, std::string_view address) {
      return rules->allows_address(url, address);
    };
    auto proxy = EgressProxy::start(std::move(options));
    if (!proxy) return fail(proxy.error());
    proxy_ = *std::move(proxy);
    return {};
  }

 private:
  const std::shared_ptr<const HostRules> rules_;
  std::string path_;
  std::mutex mutex_;
  std::unique_ptr<EgressProxy> proxy_;
};

/// Null if the table lists no hosts.
Result<std::shared_ptr<WayOut>> way_out(const TomlDocument& document, const std::string& table) {
  const std::vector<std::string> hosts = texts_of(document.at(table + ".allow"));
  if (hosts.empty()) return nullptr;
  auto rules = HostRules::parse(hosts);
  if (!rules) return document.mistake(table + ".allow", rules.error().message);
  return std::make_shared<WayOut>(*std::move(rules));
}

Tool through(std::shared_ptr<WayOut> way, Tool tool) {
  if (!way) return tool;
  tool.handler = [way = std::move(way), run = std::move(tool.handler)](
                     ToolContext& context, const Json& arguments) -> Result<ToolOutput> {
    if (auto open = way->open(); !open) {
      Error closed = open.error();
      if (!is_exhausted(closed)) closed.set("kind", to_string(ErrorKind::kMachine));
      return fail(std::move(closed));
    }
    return run(context, arguments);
  };
  return tool;
}

}  // namespace

std::vector<std::string> linkless_folders(const TomlDocument& document, const fs::path& folder) {
  std::vector<std::string> all{folder.lexically_normal()};
  for (const char* list : {"tools.shell.write", "tools.python.write", "tools.file.write"})
    all = joined(std::move(all), paths_of(document.at(list), folder));
  if (const auto* servers = document.at("tools.mcp").if_object()) {
    for (const auto& [name, server] : *servers)
      all = joined(std::move(all), paths_of(json_at(server, "write"), folder));
  }
  if (const std::string work = json_string(document.at("tools.shell"), "folder"); !work.empty())
    all.push_back((folder / work).lexically_normal());
  return all;
}

Result<SandboxWayOut> sandbox_way_out(const TomlDocument& document, const std::string& table) {
  auto way = way_out(document, table);
  if (!way) return fail(std::move(way.error()));
  if (!*way) return SandboxWayOut{};
  return SandboxWayOut{(*way)->path(), [open = *way] { return open->open(); }};
}

Result<Tool> shell_tool_of(const TomlDocument& document, const AgentFileOptions& file_options,
                           const fs::path& folder, const FileBounds& bounds,
                           const std::vector<std::string>& readable) {
  const Json& table = document.at("tools.shell");
  auto way = way_out(document, "tools.shell");
  if (!way) return fail(way.error());
  ShellToolOptions options;
  options.folder = (folder / json_string(table, "folder", ".")).lexically_normal();
  options.writable = paths_of(json_at(table, "write"), folder);
  options.readable = joined(paths_of(json_at(table, "read"), folder), readable);
  options.protect = joined(paths_of(json_at(table, "protect"), folder), bounds.protect);
  options.hide = bounds.hide;
  options.no_links_below = bounds.no_links_below;
  options.programs = texts_of(json_at(table, "programs"));
  options.shell_strings = json_bool(table, "shell_strings");
  auto variables = app::variables_of_table({document, file_options, "tools.shell"});
  if (!variables) return fail(std::move(variables.error()));
  options.environment = std::move(variables->passed_on);
  options.prepare = std::move(variables->prepare);
  if (*way) options.proxy_socket = (*way)->path();
  ProcessLimits& limits = options.limits;
  if (const Millis time = duration_of(json_at(table, "timeout")); time > Millis{0}) limits.wall_time = time;
  limits.memory_bytes = memory_of(table, limits.memory_bytes);
  limits.processes = whole(table, "max_processes", limits.processes);
  limits.output_bytes = whole(table, "max_output", limits.output_bytes);
  return through(*std::move(way), shell_tool(std::move(options)));
}

Result<Tool> python_tool_of(const TomlDocument& document, const AgentFileOptions& /*file_options*/,
                            const fs::path& folder, const FileBounds& bounds,
                            const std::vector<std::string>& readable) {
  const Json& table = document.at("tools.python");
  auto way = way_out(document, "tools.python");
  if (!way) return fail(way.error());
  PythonToolOptions options;
  Sandbox& sandbox = *options.sandbox;
  sandbox.writable = paths_of(json_at(table, "write"), folder);
  sandbox.readable = joined(paths_of(json_at(table, "read"), folder), readable);
  sandbox.protect = joined(paths_of(json_at(table, "protect"), folder), bounds.protect);
  sandbox.hide = bounds.hide;
  sandbox.no_links_below = bounds.no_links_below;
  if (const std::string home = json_string(table, "folder"); !home.empty()) {
    options.folder = (folder / home).lexically_normal();
    sandbox.readable.push_back(options.folder);
  }
  if (*way) sandbox.proxy_socket = (*way)->path();
  if (const Millis time = duration_of(json_at(table, "timeout")); time > Millis{0}) options.time = time;
  options.memory_bytes = memory_of(table, options.memory_bytes);
  options.processes = whole(table, "max_processes", options.processes);
  options.output_bytes = whole(table, "max_output", options.output_bytes);
  return through(*std::move(way), python_tool(std::move(options)));
}

}  // namespace praxis
