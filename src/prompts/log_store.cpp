// A prompt store as the fold of its changes.
#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "prompts/prompt_log.hpp"

namespace praxis {
namespace {

/// One prompt: version n is at index n - 1.
struct PromptHistory {
  std::vector<PromptTemplate> versions;
  std::map<std::string, std::string> labels;
};

bool is_label(std::string_view label) {
  constexpr std::size_t kMaxLabel = 64;
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !label.empty() && label.size() <= kMaxLabel && !(label[0] >= '0' && label[0] <= '9') &&
         std::ranges::all_of(label, is_good);
}

class LogStore final : public PromptStore {
 public:
  LogStore(std::unique_ptr<PromptLog> log, PromptStoreOptions options)
      : PromptStore(std::move(options.engines)),
        log_(std::move(log)),
        environment_(options.environment ? options.environment : system_environment()),
        on_change_(std::move(options.on_change)) {}

  Result<std::optional<PromptTemplate>> get(const std::string& id, const std::string& version) override {
    return look<std::optional<PromptTemplate>>([&]() -> std::optional<PromptTemplate> {
      const PromptTemplate* found = find(id, version);
      return found == nullptr ? std::nullopt : std::optional(*found);
    });
  }

  Result<PromptTemplate> put(PromptTemplate draft, const std::string& author) override {
    if (auto checked = check_prompt(draft, engines_.get()); !checked) return fail(std::move(checked.error()));
    draft.hash = hash_of_prompt(draft);
    return change<PromptTemplate>([&](PromptTemplate& result) -> std::optional<Json> {
      const PromptTemplate* latest = find(draft.id, "");
      if (latest != nullptr && latest->hash == draft.hash) {
        result = *latest;
        return std::nullopt;
      }
      result = draft;
      result.parent = latest == nullptr ? "" : latest->version;
      result.version = std::to_string(latest == nullptr ? 1 : prompts_[draft.id].versions.size() + 1);
      result.created_by = author;
      result.created_at = environment_->now();
      Json json = to_json(result);
      json.get_object()["created_ms"] = result.created_at.value;
      return Json{{"put", std::move(json)}};
    });
  }

  Result<std::vector<PromptTemplate>> list(const PromptQuery& query) override {
    return look<std::vector<PromptTemplate>>([&] {
      std::vector<PromptTemplate> found;
      for (const auto& [id, history] : prompts_) {
        if (history.versions.empty()) continue;
        const PromptTemplate& latest = history.versions.back();
        const bool has_tag =
            query.tag.empty() || std::ranges::find(latest.tags, query.tag) != latest.tags.end();
        if (has_tag && (query.name.empty() || query.name == latest.name)) found.push_back(latest);
      }
      return found;
    });
  }

  Result<std::vector<PromptTemplate>> versions(const std::string& id) override {
    return look<std::vector<PromptTemplate>>([&] {
      const auto found = prompts_.find(id);
      return found == prompts_.end() ? std::vector<PromptTemplate>{} : found->second.versions;
    });
  }

  Status label(const std::string& id, const std::string& label, const std::string& version,
               const std::string& author) override {
    if (!is_label(label)) {
      return fail(ErrorCode::kInput,
                  "a label has letters, digits, _ and -, and does not begin with a digit, which versions do");
    }
    Error missing = make_error(ErrorCode::kInput, ErrorKind::kNotFound,
                               "the prompt \"" + id + "\" has no version \"" + version + '"');
    auto done = change<bool>([&](bool& found) -> std::optional<Json> {
      const PromptTemplate* target = version.empty() ? nullptr : find(id, version);
      found = target != nullptr;
      if (!found || is_labelled(id, label, target->version)) return std::nullopt;
      return Json{{"label",
                   {{"id", id},
                    {"label", label},
                    {"version", target->version},
                    {"author", author},
                    {"time_ms", environment_->now().value}}}};
    });
    if (!done) return fail(std::move(done.error()));
    return *done ? Status{} : fail(std::move(missing));
  }

  Result<std::vector<std::pair<std::string, std::string>>> labels(const std::string& id) override {
    return look<std::vector<std::pair<std::string, std::string>>>([&] {
      std::vector<std::pair<std::string, std::string>> found;
      if (const auto history = prompts_.find(id); history != prompts_.end())
        found.assign(history->second.labels.begin(), history->second.labels.end());
      return found;
    });
  }

  Result<std::vector<PromptChange>> changes(const std::string& id) override {
    return look<std::vector<PromptChange>>([&] {
      std::vector<PromptChange> found;
      for (const PromptChange& change : changes_) {
        if (id.empty() || change.id == id) found.push_back(change);
      }
      return found;
    });
  }

 private:
  /// The version of this name or label; the latest for an empty name; null if it is missing.
  const PromptTemplate* find(const std::string& id, const std::string& version) const {
    const auto history = prompts_.find(id);
    if (history == prompts_.end() || history->second.versions.empty()) return nullptr;
    const auto& [all, labels] = history->second;
    if (version.empty()) return &all.back();
    const auto label = labels.find(version);
    const std::string& name = label == labels.end() ? version : label->second;
    const auto found = std::ranges::find(all, name, &PromptTemplate::version);
    return found == all.end() ? nullptr : &*found;
  }

  bool is_labelled(const std::string& id, const std::string& label, const std::string& version) const {
    const auto& labels = prompts_.at(id).labels;
    const auto found = labels.find(label);
    return found != labels.end() && found->second == version;
  }

  static PromptChange change_in(const Json& json) {
    if (const Json& label = json_at(json, "label"); label.is_object()) {
      return {PromptChange::Kind::kLabelled, json_string(label, "id"),     json_string(label, "version"),
              json_string(label, "label"),   json_string(label, "author"), {json_int(label, "time_ms")}};
    }
    const Json& put = json_at(json, "put");
    return {PromptChange::Kind::kPut,       json_string(put, "id"),       json_string(put, "version"), {},
            json_string(put, "created_by"), {json_int(put, "created_ms")}};
  }

  Status take(std::string_view text) {
    const auto json = parse_json(text);
    if (!json)
      return fail(make_error(ErrorCode::kJournal, ErrorKind::kCorrupt, "a change of a prompt is damaged"));
    PromptChange change = change_in(*json);
    PromptHistory& history = prompts_[change.id];
    if (change.kind == PromptChange::Kind::kLabelled) {
      history.labels[change.label] = change.version;
    } else {
      const Json& put = json_at(*json, "put");
      auto prompt = prompt_from_json(put);
      if (!prompt) return fail(std::move(prompt.error()));
      prompt->version = change.version;
      prompt->created_by = change.author;
      prompt->created_at = change.time;
      prompt->hash = json_string(put, "hash");
      prompt->parent = json_string(put, "parent");
      history.versions.push_back(*std::move(prompt));
    }
    changes_.push_back(std::move(change));
    return {};
  }

  template <class T, class Look>
  Result<T> look(Look what) {
    const std::lock_guard lock(mutex_);
    auto fresh = log_->refresh([this](std::string_view text) { return take(text); });
    if (!fresh) return fail(std::move(fresh.error()));
    return what();
  }

  /// `decide` fills the result and returns the change, if there is one.
  template <class T, class Decide>
  Result<T> change(Decide decide) {
    T result{};
    std::optional<PromptChange> made;
    {
      const std::lock_guard lock(mutex_);
      auto done = log_->append([this](std::string_view text) { return take(text); },
                               [&]() -> Result<std::optional<std::string>> {
                                 const std::optional<Json> change = decide(result);
                                 if (!change) return std::nullopt;
                                 made = change_in(*change);
                                 return to_json_text(*change);
                               });
      if (!done) return fail(std::move(done.error()));
    }
    if (made && on_change_) on_change_(*made);
    return result;
  }

  std::mutex mutex_;
  const std::unique_ptr<PromptLog> log_;
  const std::shared_ptr<Environment> environment_;
  const std::function<void(const PromptChange&)> on_change_;
  std::map<std::string, PromptHistory> prompts_;
  std::vector<PromptChange> changes_;
};

/// Changes that only this process has.
class ProcessLog final : public PromptLog {
 public:
  Status refresh(const Take&) override { return {}; }
  Status append(const Take& take, const Decide& decide) override {
    const auto change = decide();
    if (!change) return fail(change.error());
    return *change ? take(**change) : Status{};
  }
};

}  // namespace

std::shared_ptr<PromptStore> store_of(std::unique_ptr<PromptLog> log, PromptStoreOptions options) {
  return std::make_shared<LogStore>(std::move(log), std::move(options));
}

std::shared_ptr<PromptStore> memory_prompts(PromptStoreOptions options) {
  return store_of(std::make_unique<ProcessLog>(), std::move(options));
}

}  // namespace praxis
