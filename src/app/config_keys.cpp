#include "app/config_keys.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "app/redact_keys.hpp"

namespace praxis::app {
namespace {

using Type = SettingKey::Type;

// Settings that a project must not change, because it may come from an untrusted source.
constexpr std::string_view kRedirect = "say where requests go, how, or with which key";
constexpr std::string_view kTraces = "say where traces go, or what they have";
constexpr std::string_view kReprice = "say what a model costs";
constexpr std::string_view kRun = "name a program that runs outside of the sandbox";
constexpr std::string_view kSecrets = "say where secrets come from, or who may have them";

// 0 would mean "no limit", which a configuration layer must not grant.
constexpr std::array kKeys{
    SettingKey{"model", Type::kText, "Model of agents without a model, as PROVIDER:NAME"},
    SettingKey{.path = "journal",
               .type = Type::kText,
               .description = "Journal file, or memory",
               .own = "say where runs are kept"},
    SettingKey{
        .path = "encryption.journal_key",
        .type = Type::kText,
        .description =
            "Key that seals the journal and the stores next to it: file:PATH, env:NAME, command:COMMAND, "
            "keyring:SERVICE/ACCOUNT, passphrase",
        .own = "say with which key the journal is sealed"},
    SettingKey{.path = "memory",
               .type = Type::kText,
               .description = "File with what agents remember, or the address of a database",
               .own = "say where memory is kept"},
    SettingKey{.path = "prompts",
               .type = Type::kText,
               .description = "File with versioned prompts, or a folder of plain files",
               .own = "say where prompts are kept"},
    SettingKey{
        .path = "embedder",
        .type = Type::kText,
        .description = "Model that finds notes by meaning, as PROVIDER:NAME, or hashing; off if absent",
        .own = "say where notes are sent"},
    SettingKey{.path = "profile",
               .type = Type::kText,
               .description = "Profile that is used: profiles/NAME.toml next to the user's file",
               .own = "choose a profile of yours"},
    SettingKey{"suspend", Type::kFlag, "Whether a session leaves memory whenever it waits"},
    SettingKey{.path = "cancel_grace",
               .type = Type::kDuration,
               .description = "How long a stopped call may take to report its outcome, before it is unknown",
               .own = "decide how long a stop takes",
               .built_in = "100ms"},
    SettingKey{.path = "files.keep",
               .type = Type::kFlag,
               .description = "Whether what a run changes in files is kept, for praxis diff and undo",
               .own = "decide whether changed files can be taken back",
               .built_in = "true"},
    SettingKey{.path = "chat.theme",
               .type = Type::kText,
               .description = "Colours of praxis chat",
               .choices = "auto|light|dark|ansi",
               .own = "choose your colours",
               .built_in = "auto"},
    SettingKey{.path = "chat.notify",
               .type = Type::kText,
               .description = "How praxis chat calls when the terminal is not looked at",
               .choices = "bell|osc9|osc777|off",
               .own = "decide how your terminal calls you",
               .built_in = "bell"},
    SettingKey{.path = "chat.notify_command",
               .type = Type::kText,
               .description = "Shell command that praxis chat runs then; $1 says why",
               .own = kRun},
    SettingKey{.path = "chat.status_command",
               .type = Type::kTexts,
               .description = "Program and arguments that draw the status line of praxis chat; it gets JSON",
               .own = kRun},
    SettingKey{"agents.folder", Type::kText, "Where agents are looked up by name"},
    SettingKey{"limits.max_steps", Type::kWhole, "Passes of the loop in one turn", {}, 1, 4'294'967'295},
    SettingKey{"limits.max_usd", Type::kNumber, "Cost of one turn in US dollars", {}, 0.000'001, 1e6},
    SettingKey{"limits.timeout", Type::kDuration, "Active time of one turn"},
    SettingKey{"limits.max_wait", Type::kDuration, "How long a step waits for an approval"},
    SettingKey{
        .path = "network.patience",
        .type = Type::kDuration,
        .description =
            "How long a model call may keep failing while its server cannot be reached, is overloaded, "
            "limits the rate or stalls; 0: limits.max_model_attempts bounds such failures too",
        .built_in = "5m"},
    SettingKey{.path = "network.connect",
               .type = Type::kDuration,
               .description = "How long a connection to a server may take",
               .built_in = "10s"},
    SettingKey{
        .path = "network.first_byte",
        .type = Type::kDuration,
        .description = "How long a server may take to begin its answer; at least 10m without streaming",
        .built_in = "3m"},
    SettingKey{.path = "network.idle",
               .type = Type::kDuration,
               .description = "How long an answer may pause",
               .built_in = "5m"},
    SettingKey{.path = "telemetry.endpoint",
               .type = Type::kText,
               .description = "Collector of OpenTelemetry that gets the traces of runs; off if absent",
               .own = kTraces},
    SettingKey{.path = "telemetry.protocol",
               .type = Type::kText,
               .description = "How traces are sent",
               .choices = "http/protobuf|http/json",
               .own = kTraces,
               .built_in = "http/protobuf"},
    SettingKey{.path = "telemetry.names",
               .type = Type::kText,
               .description = "Names of the attributes of spans",
               .choices = "genai-1.36|genai-1.38|openinference",
               .own = kTraces,
               .built_in = "genai-1.38"},
    SettingKey{.path = "telemetry.content",
               .type = Type::kFlag,
               .description = "Whether traces have messages, arguments and results, redacted",
               .own = kTraces},
};

constexpr double kMostTokens = 1e12;

constexpr SettingKey own_key(std::string_view path, Type type, std::string_view description,
                             std::string_view own, std::string_view choices = {}) {
  return {.path = path, .type = type, .description = description, .choices = choices, .own = own};
}

/// Settings for the catalogue: facts about providers and models.
constexpr std::array kCatalogKeys{
    own_key("providers.*.name", Type::kText, "Name shown to users", kRedirect),
    own_key("providers.*.api", Type::kText, "Protocol", kRedirect, "chat|responses|messages|gemini|ollama"),
    own_key("providers.*.base_url", Type::kText, "Where it is", kRedirect),
    own_key("providers.*.base_url_env", Type::kText, "Variable with another base URL", kRedirect),
    own_key("providers.*.key_env", Type::kText, "Variable with its key", kRedirect),
    own_key("providers.*.key_file", Type::kText, "File with its key", kRedirect),
    own_key("providers.*.needs_key", Type::kFlag, "Whether it can do without a key", kRedirect),
    own_key("providers.*.auth", Type::kText, "Header that carries the key", kRedirect),
    own_key("providers.*.headers", Type::kAnyTable, "Sent with every request", kRedirect),
    own_key("providers.*.dialect", Type::kAnyTable, "How it differs from others of its protocol", kRedirect),
    own_key("providers.*.catalog", Type::kText, "Provider whose models it serves", kReprice),
    SettingKey{"providers.*.models", Type::kTexts, "Models to list"},
    SettingKey{"models.*.name", Type::kText, "Name shown to users"},
    SettingKey{"models.*.context_window", Type::kWhole, "Tokens", {}, 0, kMostTokens},
    SettingKey{"models.*.max_output", Type::kWhole, "Tokens", {}, 0, kMostTokens},
    own_key("models.*.prices", Type::kTables, "US dollars for a million tokens", kReprice),
    SettingKey{"models.*.tools", Type::kFlag, "Calls tools"},
    SettingKey{"models.*.images", Type::kFlag, "Accepts images"},
    SettingKey{"models.*.files", Type::kFlag, "Accepts PDF files"},
    SettingKey{"models.*.reasoning", Type::kFlag, "Thinks before it answers"},
    SettingKey{"models.*.temperature", Type::kFlag, "Accepts the parameter"},
    SettingKey{"models.*.structured_output", Type::kFlag, "Can be held to a schema"},
    SettingKey{"models.*.reasoning_levels", Type::kAnyTable, "Our levels and the provider's"},
    own_key("models.*.dialect", Type::kAnyTable, "How it differs from the provider's others", kRedirect),
};

/// What no agent may do without asking, or not at all. A project may restrict, too.
constexpr std::array kPolicyKeys{
    SettingKey{"policy.ask", Type::kTexts,
               "Tools whose every call waits for an approval, also where the agent's file allows them"},
    SettingKey{"policy.deny", Type::kTexts, "Tools that no agent may use"},
    SettingKey{"policy.rules", Type::kTables,
               "Rules about calls: `id`, `ask` or `deny`, `when`, `during`, `after`, `reason`"},
    SettingKey{"policy.filters", Type::kTables,
               "Filters of content: `id`, `at`, `tools`, one of `matches`, `script`, `finds`, "
               "`longer_than`, `media_type` and `asks`, `model`, `action`, `reason`"},
};

/// Programs of the user's that see what an agent does.
constexpr std::array kHookKeys{
    own_key("hooks.*.event", Type::kText, "When it runs", kRun, "PreToolUse|PostToolUse|Stop|SubagentStop"),
    own_key("hooks.*.tools", Type::kTexts, "The tools that it is about; `*` at the end stands for any ending",
            kRun),
    own_key("hooks.*.command", Type::kTexts, "Program and arguments; runs with your rights", kRun),
    own_key("hooks.*.timeout", Type::kDuration, "How long it may take", kRun),
};

/// Secrets that tools name and that their values are put in for at the last moment.
constexpr std::array kSecretKeys{
    own_key("secrets.*.from", Type::kText,
            "Where it comes from: file:PATH, env:NAME, command:COMMAND, keyring:SERVICE/ACCOUNT", kSecrets),
    own_key("secrets.*.hosts", Type::kTexts, "The only hosts that it is sent to; none if absent", kSecrets),
    own_key("secrets.*.tools", Type::kTexts,
            "The only tools that may use it: http, shell, mcp.NAME; any if absent", kSecrets),
    own_key("secrets.*.agents", Type::kTexts,
            "The only agent files that may use it; all but those of projects if absent", kSecrets),
};

}  // namespace

std::span<const SettingKey> scalar_keys() { return kKeys; }

std::span<const SettingKey> config_keys() {
  static const std::vector<SettingKey> keys = [] {
    std::vector<SettingKey> all(kKeys.begin(), kKeys.end());
    all.insert(all.end(), kCatalogKeys.begin(), kCatalogKeys.end());
    all.insert(all.end(), kPolicyKeys.begin(), kPolicyKeys.end());
    all.insert(all.end(), flow_keys().begin(), flow_keys().end());
    all.insert(all.end(), kRedactKeys.begin(), kRedactKeys.end());
    all.insert(all.end(), kHookKeys.begin(), kHookKeys.end());
    all.insert(all.end(), kSecretKeys.begin(), kSecretKeys.end());
    return all;
  }();
  return keys;
}

Json config_schema() { return schema_of_keys(config_keys(), "urn:praxis:config", "Praxis configuration"); }

std::string_view built_in_value(std::string_view path) {
  const auto key = std::ranges::find(kKeys, path, &SettingKey::path);
  return key == kKeys.end() ? std::string_view() : key->built_in;
}

std::string variable_of(const SettingKey& key) {
  std::string name = "PRAXIS_";
  for (const char c : key.path)
    name += c == '.' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

}  // namespace praxis::app
