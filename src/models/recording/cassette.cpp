#include "models/recording/cassette.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "base/regular_file.hpp"
#include "models/recording/recorder.hpp"
#include "models/vendor_error.hpp"
#include "praxis/models/catalog.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMaxCassetteBytes = 1024UL * 1024 * 1024;

// ---- reading -------------------------------------------------------------------------------------------

struct Exchange {
  ProviderFacts provider;
  std::string model;
  Json request;
  HttpResponseHead head;
  std::string response;
};

std::string path_of(const std::string& url) { return url.substr(0, url.find_first_of("?#")); }

/// The protocol, from the request's path or else from its shape.
std::string api_of(const std::string& path, const Json& body) {
  if (path.ends_with("/api/chat")) return "ollama";
  if (path.ends_with("/chat/completions")) return "chat";
  if (path.ends_with("/responses")) return "responses";
  if (path.ends_with("enerateContent") || !json_at(body, "contents").is_null()) return "gemini";
  const bool vertex = !json_at(body, "anthropic_version").is_null();
  if (path.ends_with("/messages") || path.ends_with("awPredict") || vertex) return "messages";
  return json_at(body, "input").is_null() ? "chat" : "responses";
}

std::string model_of(const std::string& path, const Json& body) {
  constexpr std::string_view kModels = "/models/";
  if (!json_text(body, "model").empty()) return json_string(body, "model");
  const std::size_t at = path.rfind(kModels);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + kModels.size();
  return path.substr(begin, path.find(':', begin) - begin);
}

/// The provider whose base URL is the longest match; without a match, a provider that has only a protocol.
ProviderFacts provider_of(const std::string& path, const std::string& api, const Catalog& catalog) {
  const ProviderFacts* best = nullptr;
  for (const std::string& id : catalog.providers()) {
    const ProviderFacts* facts = catalog.provider(id);
    if (facts == nullptr || facts->api != api || facts->base_url.empty()) continue;
    const bool longer = best == nullptr || facts->base_url.size() > best->base_url.size();
    if (longer && path.starts_with(facts->base_url)) best = facts;
  }
  return best != nullptr ? *best : ProviderFacts{.id = "cassette", .api = api};
}

std::optional<Exchange> exchange_from(const Json& line, const Catalog& catalog) {
  const Json& request = json_at(line, "request");
  const Json& response = json_at(line, "response");
  if (!response.is_object()) return std::nullopt;
  Exchange exchange;
  exchange.request = json_at(request, "body");
  const std::string path = path_of(json_string(request, "url"));
  exchange.provider = provider_of(path, api_of(path, exchange.request), catalog);
  exchange.model = model_of(path, exchange.request);
  exchange.head.status = static_cast<int>(json_int(response, "status"));
  if (const JsonObject* headers = json_at(response, "headers").if_object()) {
    for (const auto& [name, value] : *headers) {
      if (const auto* text = value.if_string()) exchange.head.headers.emplace_back(name, *text);
    }
  }
  exchange.response = json_string(response, "body");
  return exchange;
}

Result<std::vector<Exchange>> read_cassette(const std::string& folder, const ReadFile& read,
                                            const Catalog& catalog) {
  const std::string file = (std::filesystem::path(folder) / kExchangesFile).string();
  auto text = read(file, kMaxCassetteBytes);
  if (!text) return fail(unreadable_file("cassette", file, text.error()));
  std::istringstream in(*std::move(text));
  std::vector<Exchange> exchanges;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    const auto json = parse_json(line);
    auto exchange = json ? exchange_from(*json, catalog) : std::nullopt;
    if (!exchange) {
      return fail(ErrorCode::kInput, file + ':' + std::to_string(number) + ": is not a recorded exchange");
    }
    exchanges.push_back(*std::move(exchange));
  }
  if (exchanges.empty()) return fail(ErrorCode::kInput, "the cassette \"" + file + "\" is empty");
  return exchanges;
}

/// A cassette in memory.
struct Tape {
  std::string folder;
  std::vector<Exchange> exchanges;

  Result<const Exchange*> find(std::uint64_t ordinal) const {
    if (ordinal < exchanges.size()) return &exchanges[static_cast<std::size_t>(ordinal)];
    return fail(model_error(ErrorKind::kProtocol, "protocol: the cassette \"" + folder + "\" holds " +
                                                      std::to_string(exchanges.size()) +
                                                      " calls, and this is call " +
                                                      std::to_string(ordinal + 1)));
  }
};

// ---- playing -------------------------------------------------------------------------------------------

/// Answers every request with the same exchange.
class TapeClient final : public HttpClient {
 public:
  TapeClient(std::shared_ptr<const Tape> tape, const Exchange& exchange, CassetteCheck check,
             std::shared_ptr<Executor> executor)
      : tape_(std::move(tape)), exchange_(exchange), check_(check), executor_(std::move(executor)) {}

  void send(HttpRequest request, std::shared_ptr<HttpSink> sink, std::stop_token stop) override {
    executor_->post([tape = tape_, &exchange = exchange_, status = check(request), sink = std::move(sink),
                     stop = std::move(stop)]() mutable {
      if (stop.stop_requested()) status = fail(ErrorCode::kCancelled, "the model call was cancelled");
      if (status && exchange.head.status == 0) status = fail(nothing_came());
      if (status) {
        sink->on_head(exchange.head);
        sink->on_body(exchange.response);
      }
      sink->on_done(std::move(status));
    });
  }

 private:
  static Error nothing_came() {
    return make_error(ErrorCode::kModel, ErrorKind::kClosed, "no answer was recorded", true);
  }

  Status check(const HttpRequest& request) const {
    if (check_ == CassetteCheck::kNone) return {};
    const auto sent = parse_json(request.body ? *request.body : "null");
    const std::string difference = first_difference(sent ? *sent : Json(nullptr), exchange_.request);
    if (difference.empty()) return {};
    return fail(
        model_error(ErrorKind::kProtocol, "the request differs from the recorded one: " + difference));
  }

  const std::shared_ptr<const Tape> tape_;  ///< owns the exchange
  const Exchange& exchange_;
  const CassetteCheck check_;
  const std::shared_ptr<Executor> executor_;
};

/// State shared by a cassette model and its sessions.
struct Player {
  std::shared_ptr<const Tape> tape;
  CassetteCheck check;
  std::shared_ptr<Executor> executor;
  ModelOver model_over;

  Result<std::shared_ptr<Model>> model_for(const Exchange& exchange) const {
    return model_over(exchange.provider, exchange.model,
                      std::make_shared<TapeClient>(tape, exchange, check, executor));
  }
};

class CassetteSession final : public ModelSession {
 public:
  explicit CassetteSession(std::shared_ptr<const Player> player) : player_(std::move(player)) {}

  void start(const ModelRequest& request, std::shared_ptr<ModelSink> sink, std::stop_token stop) override {
    const auto exchange = player_->tape->find(request.ordinal);
    Result<std::shared_ptr<Model>> model = fail(exchange ? Error() : exchange.error());
    if (exchange) model = player_->model_for(**exchange);
    if (!model) {
      player_->executor->post([sink = std::move(sink), error = std::move(model.error())]() mutable {
        sink->on_done(fail(std::move(error)));
      });
      return;
    }
    session_ = (*model)->open_session();
    session_->start(request, std::move(sink), std::move(stop));
  }

 private:
  const std::shared_ptr<const Player> player_;
  std::unique_ptr<ModelSession> session_;  ///< of the last call
};

class CassetteModel final : public Model {
 public:
  CassetteModel(std::shared_ptr<const Player> player, std::shared_ptr<Model> first)
      : name_("cassette:" + player->tape->folder), player_(std::move(player)), first_(std::move(first)) {}

  const std::string& name() const override { return name_; }
  ModelCapabilities capabilities() const override {
    ModelCapabilities capabilities = first_->capabilities();
    capabilities.images = capabilities.files = true;  // the recorded model accepted what was recorded
    return capabilities;
  }
  std::unique_ptr<ModelSession> open_session() override { return std::make_unique<CassetteSession>(player_); }
  MicroUsd price(const Usage& usage) const override { return first_->price(usage); }

 private:
  const std::string name_;
  const std::shared_ptr<const Player> player_;
  const std::shared_ptr<Model> first_;  ///< model of the first exchange
};

// ---- comparing -----------------------------------------------------------------------------------------

std::string excerpt(const Json& json) {
  constexpr std::size_t kLength = 80;
  if (json.is_null()) return "nothing";
  const std::string text = to_json_text(json);
  return text.size() <= kLength ? text : repair_utf8(std::string_view(text).substr(0, kLength)) + "...";
}

std::string differ(const Json& sent, const Json& recorded, const std::string& path);

std::string differ_in_keys(const JsonObject& sent, const JsonObject& recorded, const std::string& path) {
  static const Json none = nullptr;
  const auto value = [](const JsonObject& object, std::string_view key) -> const Json& {
    const Json* found = object.if_contains(key);
    return found != nullptr ? *found : none;
  };
  for (const auto& [key, one] : recorded) {
    const std::string at = path + '/' + std::string(key);
    if (auto difference = differ(value(sent, key), one, at); !difference.empty()) return difference;
  }
  for (const auto& [key, one] : sent) {
    if (recorded.contains(key)) continue;
    const std::string at = path + '/' + std::string(key);
    if (auto difference = differ(one, none, at); !difference.empty()) return difference;
  }
  return {};
}

std::string differ(const Json& sent, const Json& recorded, const std::string& path) {
  if (sent.is_object() && recorded.is_object()) {
    return differ_in_keys(sent.get_object(), recorded.get_object(), path);
  }
  if (sent.is_array() && recorded.is_array()) {
    const JsonArray& ours = sent.get_array();
    const JsonArray& theirs = recorded.get_array();
    for (std::size_t i = 0; i < std::max(ours.size(), theirs.size()); ++i) {
      const Json none = nullptr;
      const Json& one = i < ours.size() ? ours[i] : none;
      const Json& other = i < theirs.size() ? theirs[i] : none;
      if (auto difference = differ(one, other, path + '/' + std::to_string(i)); !difference.empty()) {
        return difference;
      }
    }
    return {};
  }
  const bool numbers = sent.is_number() && recorded.is_number();
  if (numbers ? sent.to_number<double>() == recorded.to_number<double>() : sent == recorded) return {};
  return "at " + path + ": " + excerpt(sent) + " instead of " + excerpt(recorded);
}

}  // namespace

std::string first_difference(const Json& sent, const Json& recorded) {
  Json ours = sent, theirs = recorded;
  for (Json* json : {&ours, &theirs}) {
    JsonObject* object = json->if_object();
    if (object == nullptr) continue;
    object->erase("stream");
    object->erase("stream_options");
  }
  return differ(ours, theirs, {});
}

Error unreadable_file(std::string_view what, const std::string& path, const Error& error) {
  std::string reason = error.message;
  if (const std::string known = "cannot read \"" + path + "\": "; reason.starts_with(known))
    reason.erase(0, known.size());
  return make_error(ErrorCode::kInput,
                    "cannot read the " + std::string(what) + " \"" + path + "\": " + reason);
}

Result<std::shared_ptr<Model>> cassette_model(const std::string& folder, const ReadFile& read,
                                              CassetteCheck check, const Catalog& catalog,
                                              std::shared_ptr<Executor> executor, ModelOver model_over) {
  auto exchanges = read_cassette(folder, read, catalog);
  if (!exchanges) return fail(exchanges.error());
  const auto player =
      std::make_shared<const Player>(Player{std::make_shared<const Tape>(Tape{folder, *std::move(exchanges)}),
                                            check, std::move(executor), std::move(model_over)});
  auto first = player->model_for(player->tape->exchanges.front());
  if (!first) return first;
  return std::make_shared<CassetteModel>(player, *std::move(first));
}

}  // namespace praxis
