// Prompts as plain files, which people edit and a repository keeps.
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "base/regular_file.hpp"
#include "prompts/prompt_log.hpp"

namespace praxis {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kMaxPromptFile = std::size_t{1024} * 1024, kMaxPromptFiles = 10'000,
                      kVersionDigits = 12;

constexpr std::array<std::pair<std::string_view, PromptEngine>, 5> kPromptEndings{
    {{".txt", PromptEngine::kFString},
     {".md", PromptEngine::kFString},
     {".mustache", PromptEngine::kMustache},
     {".hbs", PromptEngine::kHandlebars},
     {".liquid", PromptEngine::kLiquid}}};

bool is_prompt_ending(std::string_view ending) {
  return std::ranges::any_of(kPromptEndings, [&](const auto& each) { return each.first == ending; });
}

std::unexpected<Error> read_only_prompts(const std::string& folder) {
  return fail(ErrorCode::kInput, "the prompts in " + folder + " are plain files; edit them there");
}

class FilePrompts final : public PromptStore {
 public:
  FilePrompts(std::string folder, std::shared_ptr<TemplateEngines> engines)
      : PromptStore(std::move(engines)), folder_(std::move(folder)) {}

  Result<std::optional<PromptTemplate>> get(const std::string& id, const std::string& version) override {
    if (!check_prompt_id(id)) return std::nullopt;
    for (const auto& [ending, engine] : kPromptEndings) {
      const std::string path = (fs::path(folder_) / (id + std::string(ending))).string();
      std::error_code ignored;
      if (!fs::exists(path, ignored)) continue;
      auto prompt = read(id, path, engine);
      if (!prompt) return fail(std::move(prompt.error()));
      if (version.empty() || version == prompt->version || version == prompt->hash) return *std::move(prompt);
      return std::nullopt;
    }
    return std::nullopt;
  }

  Result<PromptTemplate> put(PromptTemplate, const std::string&) override {
    return read_only_prompts(folder_);
  }
  Status label(const std::string&, const std::string&, const std::string&, const std::string&) override {
    return read_only_prompts(folder_);
  }

  Result<std::vector<PromptTemplate>> list(const PromptQuery& query) override {
    std::vector<PromptTemplate> found;
    if (!query.tag.empty() || !query.name.empty()) return found;  // plain files have neither
    std::vector<std::string> ids;
    std::error_code failed;
    for (fs::recursive_directory_iterator entry(folder_, failed), end; !failed && entry != end;
         entry.increment(failed)) {
      const fs::path path = entry->path();
      if (!entry->is_regular_file() || !is_prompt_ending(path.extension().string())) continue;
      if (ids.size() == kMaxPromptFiles)
        return fail(ErrorCode::kInput, folder_ + " has more than 10,000 prompts");
      ids.push_back(fs::path(path).replace_extension().lexically_relative(folder_).string());
    }
    std::ranges::sort(ids);
    ids.erase(std::ranges::unique(ids).begin(), ids.end());
    for (const std::string& id : ids) {
      auto prompt = get(id, "");
      if (!prompt) return fail(std::move(prompt.error()));
      if (*prompt) found.push_back(**std::move(prompt));
    }
    return found;
  }

  Result<std::vector<PromptTemplate>> versions(const std::string& id) override {
    auto present = get(id, "");
    if (!present) return fail(std::move(present.error()));
    return *present ? std::vector{**std::move(present)} : std::vector<PromptTemplate>{};
  }
  Result<std::vector<std::pair<std::string, std::string>>> labels(const std::string&) override {
    return std::vector<std::pair<std::string, std::string>>{};
  }
  Result<std::vector<PromptChange>> changes(const std::string&) override {
    return std::vector<PromptChange>{};
  }

 private:
  static Result<PromptTemplate> read(const std::string& id, const std::string& path, PromptEngine engine) {
    auto text = read_regular_file(path, kMaxPromptFile);
    if (!text) return fail(std::move(text.error()));
    PromptTemplate prompt;
    prompt.id = id;
    prompt.text = *std::move(text);
    prompt.engine = engine;
    // The other engines say what is wrong when they render.
    if (const PromptCheck check = validate(prompt.text); engine == PromptEngine::kFString && !check.ok)
      return fail(ErrorCode::kInput, path + " is no template: " + check.errors.front());
    prompt.hash = hash_of_prompt(prompt);
    prompt.version = prompt.hash.substr(0, kVersionDigits);
    struct stat about = {};
    if (stat(path.c_str(), &about) == 0)
      prompt.created_at = {about.st_mtim.tv_sec * 1000 + about.st_mtim.tv_nsec / 1'000'000};
    return prompt;
  }

  const std::string folder_;
};

}  // namespace

std::shared_ptr<PromptStore> file_prompts(std::string folder, std::shared_ptr<TemplateEngines> engines) {
  return std::make_shared<FilePrompts>(std::move(folder), std::move(engines));
}

}  // namespace praxis
