// Prompts as versioned templates: each version is immutable and says who made it, when and from which; labels
// such as `production` move from version to version.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/environment.hpp"
#include "praxis/json/json.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// How a template is written.
enum class PromptEngine : std::uint8_t {
  kFString,  ///< `{name}` and `{object.member}` are replaced; `{{` and `}}` stand for braces
  kMustache,
  kHandlebars,
  kLiquid,
};
/// `fstring`, `mustache`, `handlebars`, `liquid`.
std::string_view to_string(PromptEngine engine);
std::optional<PromptEngine> prompt_engine_named(std::string_view name);

class TemplateEngines;

/// One version of a prompt. To put one, fill `id`, `text` and what else is wanted down to `metadata`.
struct PromptTemplate {
  std::string id;
  std::string text;
  std::string name = {};  ///< shown to users
  PromptEngine engine = PromptEngine::kFString;
  /// Must be given to `render`: `NAME`, or `NAME:TYPE` with string, number, boolean, list or object. With
  /// `kFString` also all that the text names; the other engines render a variable that is missing as nothing.
  std::vector<std::string> required_vars = {};
  std::vector<std::string> tags = {};
  Json metadata = nullptr;  ///< an object of the host, or null

  std::string version = {};  ///< "1", "2", ...; of plain files the start of the hash
  std::string created_by = {};
  UnixMillis created_at = {};
  std::string hash = {};    ///< hexadecimal digest of all that can be put
  std::string parent = {};  ///< the version before; empty for the first
};
Json to_json(const PromptTemplate& prompt);

/// What is wrong with a text as a template.
struct PromptCheck {
  bool ok = true;
  std::vector<std::string> errors;     ///< with line and column
  std::vector<std::string> variables;  ///< that the text names, each once, in their order
};

struct RenderOptions {
  std::string version = {};      ///< a version or a label; empty: the latest
  bool throw_on_missing = true;  ///< false: what is missing is rendered as nothing and listed
};

struct RenderedPrompt {
  std::string text;
  std::string id, version, hash;     ///< of the version that was rendered
  std::vector<std::string> missing;  ///< variables that were not given
  /// The prompts that were included as partials, as `ID@VERSION`, each once.
  std::vector<std::string> partials;
  std::int64_t tokens_estimate = 0;
};

/// A change of a store: the audit event.
struct PromptChange {
  enum class Kind : std::uint8_t { kPut, kLabelled };
  Kind kind = Kind::kPut;
  std::string id;
  std::string version;
  std::string label;  ///< of `kLabelled`
  std::string author;
  UnixMillis time;
};
Json to_json(const PromptChange& change);

struct PromptQuery {
  std::string tag = {};   ///< prompts whose latest version has it; empty: all
  std::string name = {};  ///< of this name; empty: all
};

struct PromptStoreOptions {
  std::shared_ptr<Environment> environment = nullptr;  ///< the clock; null: the system's
  /// Gets each change that this process makes, after it is durable. May be null.
  std::function<void(const PromptChange&)> on_change = nullptr;
  /// Renders and checks templates of other engines than `kFString`; null: they are refused.
  std::shared_ptr<TemplateEngines> engines = nullptr;
};

/// Implementations are thread-safe. Errors: `kInput` for what the caller gave, `kJournal` for a failure of
/// the storage.
class PromptStore {
 public:
  virtual ~PromptStore() = default;
  /// A version, by its name or a label; the latest without one. `std::nullopt` if it is missing.
  virtual Result<std::optional<PromptTemplate>> get(const std::string& id,
                                                    const std::string& version = {}) = 0;
  /// Adds a version. If the latest version has the same content, returns that. Error `kInput`: the id or the
  /// text is invalid, or the store is read-only.
  virtual Result<PromptTemplate> put(PromptTemplate draft, const std::string& author = {}) = 0;
  /// The latest version of each prompt, by id.
  virtual Result<std::vector<PromptTemplate>> list(const PromptQuery& query = {}) = 0;
  /// All versions of a prompt, the oldest first.
  virtual Result<std::vector<PromptTemplate>> versions(const std::string& id) = 0;
  /// Moves a label to a version, which is there. A label is a word that does not begin with a digit.
  virtual Status label(const std::string& id, const std::string& label, const std::string& version,
                       const std::string& author = {}) = 0;
  /// The labels of a prompt with their versions, by name.
  virtual Result<std::vector<std::pair<std::string, std::string>>> labels(const std::string& id) = 0;
  /// All changes, the oldest first; of one prompt if an id is given.
  virtual Result<std::vector<PromptChange>> changes(const std::string& id = {}) = 0;

  /// Renders a version with the values of a JSON object. What a value contains is never taken for a part of
  /// the template. A partial is the latest version of the prompt of that name, or `ID@VERSION`, of the same
  /// engine. Error `kInput`: no such prompt or version, or a variable is missing or of another type, and the
  /// message names all of them; or the template is refused by its engine.
  Result<RenderedPrompt> render(const std::string& id, const Json& params = nullptr,
                                const RenderOptions& options = {});
  /// Checks a text of `kFString` without storing it; `TemplateEngines::check` does so for the others.
  static PromptCheck validate(std::string_view text);

 protected:
  explicit PromptStore(std::shared_ptr<TemplateEngines> engines = nullptr) : engines_(std::move(engines)) {}
  /// Null: only `kFString`.
  const std::shared_ptr<TemplateEngines> engines_;
};

/// A store of this process.
std::shared_ptr<PromptStore> memory_prompts(PromptStoreOptions options = {});
/// A store in a SQLite file, created with mode 0600 if it is missing; several processes may use it.
Result<std::shared_ptr<PromptStore>> sqlite_prompts(const std::string& path, PromptStoreOptions options = {});
/// A folder of plain files, read-only: their history is that of the repository. Only the present version
/// exists. The ending says the engine: `ID.txt`, `ID.md`, `ID.mustache`, `ID.hbs`, `ID.liquid`.
std::shared_ptr<PromptStore> file_prompts(std::string folder,
                                          std::shared_ptr<TemplateEngines> engines = nullptr);

}  // namespace praxis
#pragma GCC visibility pop
