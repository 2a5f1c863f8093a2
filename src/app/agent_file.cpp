#include "praxis/app/agent_file.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "app/a2a_table.hpp"
#include "app/acp_table.hpp"
#include "app/agent_instructions.hpp"
#include "app/agent_keys.hpp"
#include "app/agent_plan.hpp"
#include "app/agent_team.hpp"
#include "app/bounds.hpp"
#include "app/file_chain.hpp"
#include "app/hidden_secrets.hpp"
#include "app/http_table.hpp"
#include "app/mcp_table.hpp"
#include "app/memory_table.hpp"
#include "app/model_files.hpp"
#include "app/named_by_agents.hpp"
#include "app/policy_table.hpp"
#include "app/sandboxed_tools.hpp"
#include "app/server_tools.hpp"
#include "app/skills_table.hpp"
#include "app/source_file.hpp"
#include "app/sql_table.hpp"
#include "praxis/base/suggest.hpp"
#include "praxis/planners/make_planner.hpp"
#include "praxis/policy/policy.hpp"
#include "praxis/tools/ask_user_tool.hpp"
#include "praxis/tools/code_tools.hpp"
#include "praxis/tools/file_tool.hpp"
#include "praxis/tools/fork_tool.hpp"
#include "praxis/tools/kv_tool.hpp"
#include "praxis/tools/send_message_tool.hpp"
#include "praxis/tools/text_tool.hpp"

namespace praxis {
namespace {

namespace fs = std::filesystem;

/// Ends what stands for the tools of an MCP server, whose names are not known before it is started.
constexpr std::string_view kServerEnd = "__";

using app::absolute_path, app::FileChain, app::read_source;

Result<Agent> load(const std::string& path, const AgentFileOptions& options, FileChain& chain);

fs::path start_of(const AgentFileOptions& options) {
  return fs::absolute(options.folder.empty() ? "." : options.folder);
}

/// Builds an agent from a document whose keys have been checked.
class AgentReader {
 public:
  /// `home`: the folder of the file.
  AgentReader(const TomlDocument& document, const AgentFileOptions& options, fs::path home, FileChain& chain)
      : document_(document), options_(options), home_(std::move(home)), chain_(chain) {}

  Result<Agent> read() {
    for (auto step : {&AgentReader::read_model, &AgentReader::read_instructions, &AgentReader::read_policy,
                      &AgentReader::read_tools, &AgentReader::read_agents, &AgentReader::read_rules,
                      &AgentReader::check_tool_choice, &AgentReader::read_plan, &AgentReader::read_team}) {
      if (auto done = (this->*step)(); !done) return fail(std::move(done.error()));
    }
    read_values();
    if (spec_.model.empty() && needs_model(spec_)) spec_.model = options_.default_model;
    Agent agent(std::move(spec_));
    for (Tool& tool : tools_) agent.use(app::hiding_secrets(std::move(tool), options_.secrets));
    app::add_automatic_recall(agent, document_, options_);
    for (McpServer& server : servers_) {
      agent.prompts_from(app::hiding_secrets(mcp_prompts(server), options_.secrets));
      std::string prefix = mcp_prefix(server.options.server);
      agent.tools_from(app::ServerTools{std::move(prefix),
                                        app::hiding_secrets(mcp_tools(std::move(server)), options_.secrets)});
    }
    if (const std::int64_t beyond = json_int(at("tools.search_tools"), "beyond", -1); beyond >= 0)
      agent.search_tools_beyond({static_cast<std::size_t>(beyond), std::numeric_limits<std::size_t>::max()});
    if (options_.on_agent) options_.on_agent(agent, chain_.is_root());
    if (const Status& status = agent.description()->status; !status) return fail(status.error());
    return agent;
  }

 private:
  const Json& at(std::string_view path) const { return document_.at(path); }
  std::string text(std::string_view path) const { return json_string(document_.json(), path); }

  void read_values() {
    spec_.id = own_id();
    spec_.name = text("name");
    spec_.description = text("description");
    spec_.options = model_options_from_json(at("options"));
    spec_.limits = limits_from_table(at("limits"));
    if (text("tool_failure") == "fail") spec_.tool_failure = ToolFailureMode::kFail;
    if (text("in_doubt") == "tell") spec_.in_doubt = InDoubt::kTell;
  }

  /// Sub-agents keep the general name: it is part of the key under which a resumed call finds them again.
  std::string own_id() const {
    const std::string stem = fs::path(document_.name()).stem().string();
    return json_string(document_.json(), "id",
                       chain_.files.size() > 1 || stem.empty() ? AgentSpec().id : stem);
  }

  Status read_rules() {
    std::ranges::move(tool_names(), std::back_inserter(chain_.tools));
    for (const char* list : {"policy.allow", "policy.deny", "policy.ask"}) {
      for (const std::string& name : texts_of(at(list))) warn_of_rule(list, name);
    }
    for (const auto& [place, name] : app::named_tools(policy_)) warn_of_rule(place, name);
    policy_.allow.insert(policy_.allow.begin(), granted_.begin(), granted_.end());
    std::vector<PolicyRules> layers = chain_.is_root() ? options_.layers : std::vector<PolicyRules>();
    if (options_.remembered) {
      auto remembered = options_.remembered->of(absolute_path(document_.name()));
      if (!remembered) return fail(remembered.error());
      add_remembered(policy_, *remembered);
      for (PolicyRules& layer : layers) add_remembered(layer, *remembered);
    }
    const Json redact = app::redact_table(at("policy.redact"), options_.redact);
    if (policy_ != PolicyRules{} || !redact.is_null()) spec_.policy = to_json(policy_);
    if (!redact.is_null()) spec_.policy.as_object()["redact"] = redact;
    spec_.bounds = app::bounds_of(layers);
    return {};
  }

  Status read_policy() {
    auto policy = app::policy_of(document_);
    if (!policy) return fail(std::move(policy.error()));
    policy_ = *std::move(policy);
    return {};
  }

  void warn(const std::string& place, const std::string& text) const {
    if (options_.warn) options_.warn(document_.mistake(place, text).error().message);
  }

  /// Rules hold for the tools of sub-agents too.
  void warn_of_rule(const std::string& place, const std::string& rule) const {
    const auto named = [&](const std::string& tool) {
      return rule_names(rule, tool) || (tool.ends_with(kServerEnd) && rule.starts_with(tool));
    };
    if (rule == "*" || std::ranges::any_of(chain_.tools, named)) return;
    const auto meant = closest(rule, chain_.tools);
    warn(place, "no tool of this agent or those below it is called \"" + rule + '"' +
                    (meant ? "; did you mean \"" + *meant + "\"?" : ""));
  }

  void warn_of_folders(const std::string& place, const std::vector<std::string>& folders) const {
    for (const std::string& folder : folders) {
      std::error_code ignored;
      if (!fs::exists(start_folder() / folder, ignored))
        warn(place, "the folder \"" + folder + "\" does not exist");
    }
  }

  /// A script or cassette of a bounded agent is in its folder.
  Status read_model() {
    const std::string given = text("model");
    spec_.route = given.empty() ? options_.default_route : Route{};
    if (const Json& route = at("route"); !route.is_null()) {
      if (auto read = read_route(route, spec_.route); !read)
        return document_.mistake("route", read.error().message);
    }
    spec_.model = options_.model.value_or(given);
    if (options_.within.empty() || options_.model) return {};
    const auto inside = [&](const std::string& path) { return (fs::path(options_.within) / path).string(); };
    spec_.model = app::with_model_paths(given, inside);
    for (const std::string& file : app::model_files(spec_.model)) {
      if (auto checked = check_within("model", file); !checked) return checked;
    }
    return {};
  }

  /// Error if the agent is bounded to a folder, and `path` (absolute) leads out of it.
  Status check_within(const std::string& place, const std::string& path) const {
    const std::string why = app::why_outside(options_.within, path);
    return why.empty() ? Status{} : document_.mistake(place, why);
  }

  Status check_all_within(const std::string& place, const std::vector<std::string>& paths) const {
    for (const std::string& path : paths) {
      if (auto checked = check_within(place, (start_folder() / path).string()); !checked) return checked;
    }
    return {};
  }

  /// Checks the folders that a tool gets, and reports them.
  Status check_granted(const std::string& place, const std::vector<std::string>& paths) const {
    if (auto checked = check_all_within(place, paths); !checked) return checked;
    for (const std::string& path : paths) {
      if (options_.on_folder) options_.on_folder((start_folder() / path).lexically_normal().string());
    }
    return {};
  }

  Status read_instructions() {
    const auto check = std::bind_front(&AgentReader::check_within, this);
    auto read = app::instructions_of(document_, options_, home_, check);
    if (!read) return fail(std::move(read.error()));
    spec_.instructions = std::move(read->text);
    spec_.metadata = std::move(read->metadata);
    instruction_files_ = std::move(read->files);
    return {};
  }

  Status read_tools() {
    const Json& tools = at("tools");
    if (!json_at(tools, "ask_user").is_null()) tools_.push_back(ask_user_tool());
    if (!json_at(tools, "fork").is_null()) tools_.push_back(fork_tool());
    if (!json_at(tools, "kv").is_null()) tools_.push_back(kv_tool());
    if (!json_at(tools, "text").is_null()) tools_.push_back(text_tool());
    if (const Json& table = json_at(tools, "send_message"); !table.is_null()) {
      const auto bound = [&](const char* key, std::uint32_t fallback) {
        return static_cast<std::uint32_t>(json_int(table, key, fallback));
      };
      tools_.push_back(send_message_tool({bound("max_per_turn", 10), bound("max_hops", 4)}));
    }
    if (auto read = grant_all(app::tools_of_memory(document_, options_)); !read) return read;
    if (auto read = read_sql_tools(); !read) return read;
    if (auto read = read_skills(); !read) return read;
    if (auto read = read_file_tools(json_at(tools, "file")); !read) return read;
    if (auto read = grant_all(app::tools_of_http(document_, options_)); !read) return read;
    if (auto read = take(app::tools_of_a2a(document_, options_)); !read) return read;
    if (auto read = read_sandboxed_tool("shell", shell_tool_of); !read) return read;
    if (auto read = read_sandboxed_tool("python", python_tool_of); !read) return read;
    const app::McpPlaces places{start_folder(), fs::absolute(home_ / "."),
                                std::bind_front(&AgentReader::check_within, this)};
    const app::CheckGranted granted = std::bind_front(&AgentReader::check_granted, this);
    auto servers = app::mcp_servers_of(document_, places, file_bounds(), options_, granted);
    if (!servers) return fail(std::move(servers.error()));
    servers_ = *std::move(servers);
    return take(app::tools_of_acp(document_, {start_folder(), file_bounds(), granted}, options_));
  }

  /// The places count as files of the agent: no tool writes there.
  Status read_skills() {
    if (at("tools.skills").is_null()) return {};
    skill_places_ = app::skill_places(document_, options_, start_folder());
    if (auto checked = check_granted("tools.skills.folders", skill_places_); !checked) return checked;
    std::vector<Skill> skills = app::skills_in(skill_places_, document_, options_);
    for (const Skill& skill : skills) skill_folders_.push_back(skill.folder);
    if (!skills.empty()) tools_.push_back(skill_tool(std::move(skills), file_bounds()));
    return {};
  }

  /// A tool that can run any program requires an explicit rule, so that it is never enabled by accident.
  Status read_sandboxed_tool(const std::string& name,
                             Result<Tool> (*make)(const TomlDocument& document,
                                                  const AgentFileOptions& options, const fs::path& folder,
                                                  const FileBounds& bounds,
                                                  const std::vector<std::string>& readable)) {
    const std::string table = "tools." + name;
    if (at(table).is_null()) return {};
    if (!may_allow(policy_, name))
      return document_.mistake(
          table, '[' + table + "] needs a rule: name \"" + name + "\" in policy.ask, or in policy.allow");
    const std::string protect = table + ".protect";
    if (auto checked = check_all_within(protect, texts_of(at(protect))); !checked) return checked;
    const std::string work = json_string(at(table), "folder", name == "shell" ? "." : "");
    if (auto checked = work.empty() ? Status{} : check_granted(table, {work}); !checked) return checked;
    for (const char* list : {"read", "write"}) {
      const std::string place = table + '.' + list;
      if (auto checked = check_granted(place, texts_of(at(place))); !checked) return checked;
      warn_of_folders(place, texts_of(at(place)));
    }
    warn_of_folders(table + ".folder", {json_string(at(table), "folder", ".")});
    auto tool = make(document_, options_, start_folder(), file_bounds(), skill_folders_);
    if (!tool) return fail(tool.error());
    std::vector<std::string> writable = roots(at(table + ".write"));
    if (name == "shell") writable.push_back((start_folder() / work).lexically_normal());
    tools_.push_back(writing(*std::move(tool), writable));
    return {};
  }

  /// Adds each sub-agent as a tool of its name.
  Status read_agents() {
    const auto* agents = at("agents").if_object();
    if (agents == nullptr) return {};
    ToolSet known;
    for (const Tool& tool : tools_) {
      if (auto added = known.add(tool); !added) return added;
    }
    for (const auto& [name, table] : *agents) {
      const std::string place = "agents." + std::string(name);
      const std::string file = json_string(table, "file"), description = json_string(table, "description");
      if (file.empty() || description.empty()) {
        return document_.mistake(place, '[' + place + "] needs \"file\" and \"description\"");
      }
      auto agent = read_sub_agent(place + ".file", file);
      if (!agent) return fail(agent.error());
      Tool tool = agent->as_tool(std::string(name), description);
      if (auto added = known.add(tool); !added) return document_.mistake(place, added.error().message);
      tools_.push_back(std::move(tool));
    }
    return {};
  }

  Result<Agent> read_sub_agent(const std::string& place, const std::string& file) {
    const std::string path = (home_ / file).lexically_normal();
    if (auto checked = check_within(place, absolute_path(path)); !checked) return fail(checked.error());
    if (const std::string why = chain_.why_not(path); !why.empty()) return document_.mistake(place, why);
    AgentFileOptions below = options_;
    below.model.reset();
    if (!spec_.model.empty()) {
      below.default_model = spec_.model;
      below.default_route = spec_.route;
    }
    return load(path, below, chain_);
  }

  /// A member has a session of its own, so the rules of this agent do not hold for it.
  Status read_team() {
    if (at("team").is_null()) return {};
    if (chain_.files.size() > 1)
      return document_.mistake("team", "a sub-agent or a member of a team cannot be a team itself");
    if (!options_.on_team)
      return document_.mistake("team",
                               "a file with [team] describes several agents, and one agent is needed here: "
                               "only praxis run, resume, approve and chat run teams (in C++ load_team_file)");
    const auto read_member = [this](const std::string& place, const std::string& file) {
      chain_.root = chain_.files.size() + 1;
      chain_.tools.clear();
      return read_sub_agent(place, file);
    };
    auto team = app::team_of(document_, own_id(), read_member);
    chain_.root = chain_.files.size();
    if (!team) return fail(std::move(team.error()));
    options_.on_team(*std::move(team));
    return {};
  }

  Status read_file_tools(const Json& file) {
    if (file.is_null()) return {};
    for (const char* list : {"read", "write"}) {
      const std::string place = std::string("tools.file.") + list;
      if (auto checked = check_granted(place, texts_of(json_at(file, list))); !checked) return checked;
      warn_of_folders(place, texts_of(json_at(file, list)));
    }
    const auto readable = roots(json_at(file, "read")), writable = roots(json_at(file, "write"));
    if (readable.empty() && writable.empty()) {
      return document_.mistake("tools.file",
                               "[tools.file] needs folders in \"read\", in \"write\" or in both");
    }
    const FileBounds bounds = file_bounds();
    if (!readable.empty()) tools_.push_back(file_read_tool(readable, bounds));
    if (!writable.empty()) grant(writing(file_write_tool(writable, bounds), writable));
    if (!json_bool(file, "code")) return {};
    if (!readable.empty()) tools_.push_back(glob_tool(readable, bounds));
    if (!readable.empty()) tools_.push_back(grep_tool(readable, bounds));
    if (!writable.empty()) grant(writing(edit_tool(writable, bounds), writable));
    return {};
  }

  Status read_sql_tools() {
    const std::string database = app::database_of(document_, start_folder());
    auto checked = database.empty() ? Status{} : check_granted("tools.sql.database", {database});
    return checked ? grant_all(app::tools_of_sql(document_, options_, start_folder())) : checked;
  }

  /// Naming folders, hosts or a database, or saying `write = true`, also permits the tool to use them; "ask"
  /// and "deny" take precedence.
  void grant(Tool tool) {
    granted_.push_back(tool.definition.name);
    tools_.push_back(std::move(tool));
  }

  Tool writing(Tool tool, const std::vector<std::string>& writable) const {
    if (!options_.on_writing_tool || writable.empty()) return tool;
    return options_.on_writing_tool(std::move(tool), writable, file_bounds());
  }

  Status take(Result<std::vector<Tool>> tools) {
    if (!tools) return fail(std::move(tools.error()));
    std::ranges::move(*tools, std::back_inserter(tools_));
    return {};
  }
  Status grant_all(Result<std::vector<Tool>> tools) {
    if (tools) std::ranges::for_each(*tools, [&](const Tool& t) { granted_.push_back(t.definition.name); });
    return take(std::move(tools));
  }

  std::vector<std::string> roots(const Json& list) const {
    std::vector<std::string> folders;
    for (const std::string& folder : texts_of(list)) {
      folders.push_back((start_folder() / folder).lexically_normal());
    }
    return folders;
  }

  /// A tool that could write what the agent was read from would give the next run other rights.
  FileBounds file_bounds() const {
    FileBounds bounds{linkless_folders(document_, start_folder()), options_.protect, options_.hide,
                      options_.editor};
    for (const std::string& file : chain_.files) bounds.protect.push_back(absolute_path(file));
    std::ranges::copy(skill_places_, std::back_inserter(bounds.protect));
    std::ranges::copy(instruction_files_, std::back_inserter(bounds.protect));
    std::ranges::copy(chain_.named, std::back_inserter(bounds.protect));
    return bounds;
  }

  fs::path start_folder() const { return start_of(options_); }

  std::vector<std::string> tool_names() const {
    std::vector<std::string> names;
    for (const Tool& tool : tools_) names.push_back(tool.definition.name);
    for (const McpServer& server : servers_) names.push_back(mcp_prefix(server.options.server));
    if (!servers_.empty()) names.emplace_back("search_tools");
    return names;
  }

  /// Error if the agent has no such tool.
  Status check_tool(const std::string& place, const std::string& tool) const {
    const std::vector<std::string> names = tool_names();
    const auto has_it = [&](const std::string& name) {
      return name == tool || (name.ends_with(kServerEnd) && tool.starts_with(name));
    };
    if (std::ranges::any_of(names, has_it)) return {};
    const auto meant = closest(tool, names);
    return document_.mistake(
        place, "this agent has no tool \"" + tool + '"' +
                   (meant ? "; did you mean \"" + *meant + "\"?" : "; [tools] lists its tools"));
  }

  Status check_tool_choice() {
    const std::string choice = json_string(at("options"), "tool_choice", "auto");
    if (choice == "auto" || choice == "none" || choice == "required") return {};
    return check_tool("options.tool_choice", choice);
  }

  Status read_plan() {
    const auto check = [this](const std::string& place, const std::string& tool) {
      return check_tool(place, tool);
    };
    auto plan = app::plan_of(document_, spec_, check);
    if (!plan) return fail(std::move(plan.error()));
    const bool model_drives = options_.model && !at("plan").is_null();
    if (!plan->is_null() && !model_drives) spec_.plan = *std::move(plan);
    return {};
  }

  const TomlDocument& document_;
  const AgentFileOptions& options_;
  const fs::path home_;
  FileChain& chain_;
  AgentSpec spec_;
  PolicyRules policy_;                ///< of the file
  std::vector<std::string> granted_;  ///< tools that run without a rule, because their folders are stated
  std::vector<Tool> tools_;
  std::vector<McpServer> servers_;
  std::vector<std::string> instruction_files_;  ///< of the working folder
  std::vector<std::string> skill_places_;       ///< the folders that hold skills
  std::vector<std::string> skill_folders_;      ///< of each skill, which programs may read
};

Result<Agent> read_agent(const Result<TomlDocument>& document, const AgentFileOptions& options, fs::path home,
                         FileChain& chain) {
  if (!document) return fail(document.error());
  if (auto checked = check_agent_keys(*document); !checked) return fail(std::move(checked.error()));
  if (chain.files.empty())
    chain.named = app::named_by_agents(document->json(), options, start_of(options), home);
  chain.files.push_back(document->name());
  auto agent = AgentReader(*document, options, std::move(home), chain).read();
  chain.files.pop_back();
  return agent;
}

Result<Agent> load(const std::string& path, const AgentFileOptions& options, FileChain& chain) {
  ++chain.read;
  const auto text = read_source(options, path, kMaxTomlBytes);
  if (!text) return fail(text.error());
  auto agent = read_agent(TomlDocument::parse(*text, path), options, fs::path(path).parent_path(), chain);
  if (!agent) return agent;
  JsonObject metadata;
  if (const auto* given = agent->spec().metadata.if_object()) metadata = *given;
  metadata["agent_file"] = absolute_path(path);
  agent->metadata(std::move(metadata));
  return agent;
}

}  // namespace

Result<Agent> load_agent_file(const std::string& path, const AgentFileOptions& options) {
  FileChain chain;
  return load(path, options, chain);
}

Result<Agent> parse_agent_file(std::string_view text, const std::string& name,
                               const AgentFileOptions& options) {
  FileChain chain;
  return read_agent(TomlDocument::parse(text, name), options, {}, chain);
}

}  // namespace praxis
