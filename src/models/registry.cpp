// Which providers there are, and how a model's name becomes a model.
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "models/chat_model.hpp"
#include "praxis/base/suggest.hpp"
#include "praxis/models/model.hpp"

namespace praxis {
namespace {

using Made = Result<std::shared_ptr<Model>>;

Made make_script(const std::string& file, const ModelServices& services) {
  std::ifstream in(file, std::ios::binary);
  std::error_code ignored;
  if (!in || std::filesystem::is_directory(file, ignored)) {
    return fail(ErrorCode::kInput, "cannot read the script \"" + file + '"');
  }
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return script_model(text, file, services.executor);
}

Made make_openai(const std::string& model, const ModelServices& services) {
  constexpr std::string_view kBase = "https://api.openai.com/v1";
  chat::Endpoint endpoint{
      .model = model, .base_url = services.env("OPENAI_BASE_URL"), .key = services.env("OPENAI_API_KEY")};
  if (endpoint.base_url.empty()) {
    if (endpoint.key.empty()) {
      return fail(ErrorCode::kInput, "model \"openai:" + model +
                                         "\" needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL "
                                         "for a server that asks for none");
    }
    endpoint.base_url = kBase;
  }
  endpoint.dialect = endpoint.base_url.starts_with(kBase) ? chat::kOpenAi : chat::kCompatible;
  if (const auto url = parse_url(endpoint.base_url); !url) {
    return fail(ErrorCode::kInput, "OPENAI_BASE_URL: " + url.error().message);
  }
  return chat::make_model(std::move(endpoint), services.http);
}

struct Provider {
  std::string name;
  Made (*make)(const std::string& model, const ModelServices& services);
};

const std::array kProviders{Provider{"script", make_script}, Provider{"openai", make_openai}};

}  // namespace

Result<std::shared_ptr<Model>> make_model(const std::string& name, const ModelServices& services) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos || colon + 1 == name.size()) {
    return fail(ErrorCode::kInput,
                "model \"" + name + "\" must be PROVIDER:MODEL, such as openai:gpt-5 or script:FILE");
  }
  const std::string provider = name.substr(0, colon);
  std::vector<std::string> known;
  for (const Provider& candidate : kProviders) {
    if (candidate.name == provider) return candidate.make(name.substr(colon + 1), services);
    known.push_back(candidate.name);
  }
  const auto nearest = closest(provider, known);
  return fail(ErrorCode::kInput,
              "model \"" + name + "\": there is no provider \"" + provider + '"' +
                  (nearest ? "; did you mean \"" + *nearest + "\"?" : "; known are script and openai"));
}

}  // namespace praxis
