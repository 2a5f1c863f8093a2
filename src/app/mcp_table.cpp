#include "app/mcp_table.hpp"

#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "app/mcp_pins.hpp"
#include "app/sandboxed_tools.hpp"
#include "app/setting_key.hpp"
#include "praxis/policy/policy.hpp"
#include "tools/host_rules.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kServerPath = "/usr/local/bin:/usr/bin:/bin";
constexpr const char* kServerHome = "/tmp";       ///< of the sandbox; deleted at the end
constexpr std::int64_t kServerMemoryMb = 16'384;  ///< address space, of which some runtimes reserve a lot
constexpr std::size_t kKeptReport = 4096;
constexpr std::uint64_t kMebi = std::uint64_t{1024} * 1024;
constexpr std::uint64_t kServerProcesses = 256;
constexpr std::uint64_t kServerOpenFiles = 1024;

std::vector<std::string> paths_of(const Json& list, const fs::path& folder) {
  std::vector<std::string> all;
  for (const std::string& path : texts_of(list)) all.push_back((folder / path).lexically_normal());
  return all;
}

class McpTable {
 public:
  McpTable(const TomlDocument& document, std::string name, const fs::path& folder,
           const AgentFileOptions& options)
      : document_(document),
        name_(std::move(name)),
        place_("tools.mcp." + name_),
        table_(document.at(place_)),
        folder_(folder),
        options_(options) {}

  Result<McpServer> read(const FileBounds& bounds, const CheckGranted& check_granted) const {
    McpServer server;
    server.options = tool_options();
    if (const std::string state = state_folder(); !state.empty())
      server.options.acceptance = std::make_shared<McpPins>(state, identity());
    if (auto checked = check_mcp_name(name_); !checked) return mistake(checked.error().message);
    if (auto ruled = check_rule(); !ruled) return fail(std::move(ruled.error()));
    McpBounds within;
    if (const Millis time = duration_of(json_at(table_, "start_timeout")); time > Millis{0})
      within.start = time;
    within.result_bytes = static_cast<std::size_t>(
        json_int(table_, "max_result", static_cast<std::int64_t>(within.result_bytes)));
    const bool runs = !json_at(table_, "command").is_null();
    if (runs == !json_at(table_, "url").is_null()) return mistake("needs either \"command\" or \"url\"");
    if (runs) {
      auto program = program_of(bounds, check_granted);
      if (!program) return fail(std::move(program.error()));
      server.client = std::make_shared<McpClient>(*std::move(program), within);
      return server;
    }
    auto endpoint = endpoint_of();
    if (!endpoint) return fail(std::move(endpoint.error()));
    server.client = std::make_shared<McpClient>(*std::move(endpoint), within);
    return server;
  }

 private:
  std::unexpected<Error> mistake(const std::string& text) const {
    return document_.mistake(place_, '[' + place_ + "] " + text);
  }
  std::unexpected<Error> mistake_at(const std::string& key, const std::string& text) const {
    return document_.mistake(place_ + '.' + key, text);
  }
  std::vector<std::string> texts(std::string_view key) const { return texts_of(json_at(table_, key)); }

  /// Identifies the server for all agents, under any name.
  std::string identity() const {
    const Json& command = json_at(table_, "command");
    return to_json_text(command.is_null() ? json_at(table_, "url") : command);
  }

  McpToolOptions tool_options() const {
    McpToolOptions made;
    made.server = name_;
    made.only = texts("tools");
    made.idempotent = texts("idempotent");
    if (const Millis time = duration_of(json_at(table_, "timeout")); time > Millis{0}) made.timeout = time;
    return made;
  }

  /// What a server offers is not known here, so nothing of it is allowed without a rule that names it.
  Status check_rule() const {
    const std::string prefix = mcp_prefix(name_);
    for (const char* list : {"policy.allow", "policy.ask"}) {
      for (const std::string& rule : texts_of(document_.at(list))) {
        if (rule.starts_with(prefix) || rule_names(rule, prefix)) return {};
      }
    }
    return mistake("needs a rule: name \"" + prefix +
                   "*\" or some of its tools in policy.ask, or in policy.allow");
  }

  /// The keys of this list make no sense for the kind of server.
  Status check_absent(std::initializer_list<const char*> keys, const std::string& kind) const {
    for (const char* key : keys) {
      if (!json_at(table_, key).is_null())
        return mistake_at(key, '"' + std::string(key) + "\" goes with \"" + kind + "\" only");
    }
    return {};
  }

  Result<McpProgram> program_of(const FileBounds& bounds, const CheckGranted& check_granted) const {
    if (auto checked = check_absent({"token_env"}, "url"); !checked) return fail(std::move(checked.error()));
    McpProgram program;
    program.argv = texts("command");
    if (program.argv.empty()) return mistake_at("command", "\"command\" must name a program");
    program.environment = {{"PATH", kServerPath}, {"LANG", "C.UTF-8"}, {"HOME", kServerHome}};
    for (const std::string& name : texts("environment")) {
      if (const char* value = std::getenv(name.c_str())) program.environment[name] = value;
    }
    program.limits.processes = kServerProcesses;
    program.limits.open_files = kServerOpenFiles;
    program.limits.output_bytes = kKeptReport;
    program.limits.memory_bytes =
        static_cast<std::uint64_t>(json_int(table_, "max_memory_mb", kServerMemoryMb)) * kMebi;
    Sandbox sandbox;
    for (auto [key, list] : {std::pair{"read", &sandbox.readable}, {"write", &sandbox.writable}}) {
      if (auto checked = check_granted(place_ + '.' + key, texts(key)); !checked)
        return fail(std::move(checked.error()));
      *list = paths_of(json_at(table_, key), folder_);
    }
    program.folder = kServerHome;
    if (const std::string work = json_string(table_, "folder"); !work.empty()) {
      if (auto checked = check_granted(place_ + ".folder", {work}); !checked)
        return fail(std::move(checked.error()));
      program.folder = (folder_ / work).lexically_normal();
      sandbox.readable.push_back(program.folder);
    }
    sandbox.protect = bounds.protect;
    sandbox.hide = bounds.hide;
    sandbox.no_links_below = bounds.no_links_below;
    auto way = sandbox_way_out(document_, place_);
    if (!way) return fail(std::move(way.error()));
    sandbox.proxy_socket = way->socket;
    program.prepare = std::move(way->open);
    program.sandbox = std::move(sandbox);
    return program;
  }

  Result<McpEndpoint> endpoint_of() const {
    if (auto checked =
            check_absent({"folder", "read", "write", "environment", "allow", "max_memory_mb"}, "command");
        !checked)
      return fail(std::move(checked.error()));
    if (options_.http == nullptr) return mistake_at("url", "this program provides no network for agents");
    McpEndpoint endpoint;
    endpoint.url = json_string(table_, "url");
    endpoint.http = options_.http;
    const auto url = parse_url(endpoint.url);
    if (!url) return mistake_at("url", url.error().message);
    const std::string host = url->ipv6 ? '[' + url->host + ']' : url->host;
    auto rules = HostRules::parse({host + ':' + std::to_string(url->port)});
    if (!rules) return mistake_at("url", rules.error().message);
    endpoint.allow_address = [url = *url, rules = *std::move(rules)](std::string_view address) {
      return rules.allows_address(url, address);
    };
    const std::string variable = json_string(table_, "token_env");
    if (variable.empty()) return endpoint;
    const char* token = std::getenv(variable.c_str());
    if (token == nullptr || *token == '\0')
      return mistake_at("token_env",
                        "the environment variable \"" + variable + "\", which holds the token, is not set");
    endpoint.token = token;
    return endpoint;
  }

  const TomlDocument& document_;
  const std::string name_;
  const std::string place_;
  const Json& table_;
  const fs::path folder_;
  const AgentFileOptions& options_;
};

}  // namespace

Result<std::vector<McpServer>> mcp_servers_of(const TomlDocument& document, const fs::path& folder,
                                              const FileBounds& bounds, const AgentFileOptions& options,
                                              const CheckGranted& check_granted) {
  std::vector<McpServer> servers;
  const auto* tables = document.at("tools.mcp").if_object();
  if (tables == nullptr) return servers;
  for (const auto& [name, table] : *tables) {
    auto server = McpTable(document, std::string(name), folder, options).read(bounds, check_granted);
    if (!server) return fail(std::move(server.error()));
    if (options.on_mcp_server) options.on_mcp_server(*server);
    servers.push_back(*std::move(server));
  }
  return servers;
}

}  // namespace praxis::app
