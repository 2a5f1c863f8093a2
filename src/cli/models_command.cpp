// `models`: lists the configured providers and their models.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "app/provider_probe.hpp"
#include "app/provider_status.hpp"
#include "app/values.hpp"
#include "app/workspace.hpp"
#include "cli/commands.hpp"
#include "cli/place.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis::cli {
namespace {

/// `128k`, `1M`; empty if unknown.
std::string show_tokens(std::int64_t tokens) {
  if (tokens <= 0) return "-";
  if (tokens < 10'000) return std::to_string(tokens);
  if (tokens < 1'000'000) return fmt::format("{}k", tokens / 1000);
  return fmt::format("{:.3g}M", static_cast<double>(tokens) / 1e6);
}

/// Two digits after the point, and more only if the price has them, so that prices compare at a glance.
std::string show_price(MicroUsd price) {
  std::string text = fmt::format("${:.6f}", price.usd());
  const std::size_t shortest = text.find('.') + 3;
  while (text.size() > shortest && text.ends_with('0')) text.pop_back();
  return text;
}

std::string show_prices(const Prices& prices) {
  return fmt::format("{}/{}", show_price(prices.input), show_price(prices.output));
}

/// The model's capabilities as text.
std::string abilities(const ModelFacts& facts) {
  std::string text;
  const auto add = [&](bool can, std::string_view word) {
    if (can) text += fmt::format("{}{}", text.empty() ? "" : " ", word);
  };
  add(facts.tools, "tools");
  add(facts.images, "images");
  add(facts.files, "files");
  add(facts.reasoning, "reasoning");
  add(facts.structured_output, "schema");
  return text;
}

constexpr std::string_view kRow = "{:{}}  {:>6}  {:>6}  {:>14}  {}";

std::string row(const ModelFacts& facts, std::size_t width) {
  return fmt::format(kRow, facts.provider + ':' + facts.id, width, show_tokens(facts.context_window),
                     show_tokens(facts.max_output),
                     facts.prices.empty() ? "-" : show_prices(facts.prices.front()), abilities(facts));
}

JsonObject provider_json(const ProviderFacts& provider, const app::ProviderStatus& status) {
  JsonArray key_env(provider.key_env.begin(), provider.key_env.end());
  return JsonObject{{"provider", provider.id},
                    {"name", provider.name},
                    {"api", provider.api},
                    {"base_url", status.base_url},
                    {"ready", status.state == app::ProviderStatus::State::kReady},
                    {"key_found_in", status.key_origin},
                    {"key_env", std::move(key_env)},
                    {"detail", status.detail}};
}

/// Writes models to standard output, and notes on their provider to standard error.
void list(const ProviderFacts& provider, const app::ProviderStatus& status,
          const std::vector<ModelFacts>& models, bool json, Console& console) {
  if (json) {
    console.item("provider", provider_json(provider, status));
    for (const ModelFacts& facts : models) console.item("model", to_json(facts).get_object());
    return;
  }
  std::string heading = fmt::format("{} ({}): {}", provider.id, provider.name, status.detail);
  if (models.empty())
    heading += fmt::format("; use any model of the server as {}:NAME; --online lists them", provider.id);
  console.err.line(visible_text(heading));
  std::size_t width = 0;
  for (const ModelFacts& facts : models) width = std::max(width, facts.provider.size() + 1 + facts.id.size());
  if (console.terminal.out && !models.empty())
    console.out.line(fmt::format(kRow, "MODEL", width, "WINDOW", "OUTPUT", "$/M IN/OUT", "CAN"));
  for (const ModelFacts& facts : models) console.out.line(visible_text(row(facts, width)));
}

/// The models that the server has, with what is known about them. Error `kModel`: it gives no list.
Result<std::vector<ModelFacts>> served_models(const ProviderFacts& provider, const Catalog& catalog) {
  const app::ProbeResult probe = app::probe_provider(provider);
  if (!probe.works) return fail(ErrorCode::kModel, ErrorKind::kNetwork, provider.id + ": " + probe.detail);
  if (probe.models.empty())
    return fail(ErrorCode::kModel, ErrorKind::kProtocol,
                fmt::format("{}: {}, but lists no models", provider.id, probe.detail));
  std::vector<ModelFacts> models;
  for (const std::string& name : probe.models) models.push_back(catalog.model(provider.id, name));
  return models;
}

/// Lists the models of one provider.
Status list_provider(const ProviderFacts& provider, const Catalog& catalog, const app::Workspace& workspace,
                     const ModelsOptions& options, Console& console) {
  const app::ProviderStatus status = app::status_of(provider, workspace);
  auto models = options.online ? served_models(provider, catalog) : catalog.models(provider.id);
  if (!models) return fail(models.error());
  list(provider, status, *models, options.json, console);
  return {};
}

/// Prints one fact per line.
void print(const ModelFacts& facts, Console& console) {
  const auto line = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) console.out.line(visible_text(fmt::format("{:16}  {}", name, value)));
  };
  line("model", facts.provider + ':' + facts.id);
  line("name", facts.known ? facts.name : "not in the catalogue; using defaults");
  line("context window", facts.context_window > 0 ? std::to_string(facts.context_window) : "unknown");
  line("maximum output", facts.max_output > 0 ? std::to_string(facts.max_output) : "unknown");
  for (const Prices& prices : facts.prices) {
    const auto own = [&](MicroUsd price) { return show_price(price.value != 0 ? price : prices.input); };
    line(prices.above == 0 ? "price" : fmt::format("beyond {}", show_tokens(prices.above)),
         fmt::format("{} input, {} output, {} cache read, {} cache write, per million tokens",
                     show_price(prices.input), show_price(prices.output), own(prices.cache_read),
                     own(prices.cache_write)));
  }
  line("can", abilities(facts));
  if (!facts.temperature) line("refuses", "temperature");
  std::string levels;
  for (const auto& [level, wire] : facts.reasoning_levels) {
    if (!wire.empty()) levels += (levels.empty() ? "" : ", ") + (wire == level ? level : level + '=' + wire);
  }
  line("reasoning levels", levels);
  if (!facts.dialect.is_null()) line("dialect", to_json_text(facts.dialect));
}

/// The providers that have a model of this name: `azure, openai`.
std::string providers_of(const Catalog& catalog, const std::string& model) {
  std::string names;
  for (const std::string& id : catalog.providers()) {
    const auto models = catalog.models(id);
    if (std::ranges::find(models, model, &ModelFacts::id) != models.end())
      names += (names.empty() ? "" : ", ") + id;
  }
  return names;
}

Result<const ProviderFacts*> find_provider(const Catalog& catalog, const std::string& id) {
  if (const ProviderFacts* provider = catalog.provider(id)) return provider;
  if (const std::string providers = providers_of(catalog, id); !providers.empty()) {
    return fail(
        app::usage_error(fmt::format("\"{}\" is no provider, but a model of {}", id, providers),
                         fmt::format("praxis models {}:{}", providers.substr(0, providers.find(',')), id)));
  }
  const auto nearest = closest(id, catalog.providers());
  return fail(app::usage_error(fmt::format("unknown provider \"{}\"{}", id,
                                           nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : ""),
                               "praxis models --all lists them"));
}

/// The models of a provider, or the facts about one model.
Result<ExitStatus> show_named(const ModelsOptions& options, const Catalog& catalog,
                              const app::Workspace& workspace, Console& console) {
  const std::size_t colon = options.name.find(':');
  const auto provider = find_provider(catalog, options.name.substr(0, colon));
  if (!provider) return fail(provider.error());
  if (colon == std::string::npos) {
    if (auto listed = list_provider(**provider, catalog, workspace, options, console); !listed)
      return fail(listed.error());
    return ExitStatus::kFinished;
  }
  if (options.online)
    return fail(app::usage_error("--online lists the models of a server; name a provider, not a model"));
  const ModelFacts facts = catalog.model((*provider)->id, options.name.substr(colon + 1));
  if (options.json) {
    console.item("model", to_json(facts).get_object());
  } else {
    print(facts, console);
  }
  return ExitStatus::kFinished;
}

}  // namespace

Result<ExitStatus> execute(const ModelsOptions& options, Console& console) {
  const auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  const auto catalog = app::open_catalog(*workspace);
  if (!catalog) return fail(catalog.error());
  if (!options.name.empty()) return show_named(options, **catalog, *workspace, console);
  bool any = false;
  ExitStatus ended = ExitStatus::kFinished;
  for (const std::string& id : (*catalog)->providers()) {
    const ProviderFacts& provider = *(*catalog)->provider(id);
    if (!options.all && !app::status_of(provider, *workspace).configured) continue;
    any = true;
    const Status listed = list_provider(provider, **catalog, *workspace, options, console);
    if (!listed) ended = console.report(listed.error());
  }
  if (!any) {
    console.err.line(
        "no provider is configured: set a key, such as OPENAI_API_KEY; --all lists every provider");
  }
  return ended;
}

}  // namespace praxis::cli
