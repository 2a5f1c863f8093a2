// `memory`: shows, searches and changes what agents remember.
#include <fmt/format.h>

#include <sstream>
#include <utility>
#include <vector>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "app/pretty_json.hpp"
#include "app/workspace.hpp"
#include "cli/commands.hpp"
#include "cli/memory_documents.hpp"
#include "cli/place.hpp"
#include "praxis/base/environment.hpp"

namespace praxis::cli {
namespace {

using MemoryVerb = MemoryCommandOptions::Verb;
constexpr const char* kUsualCollection = "notes";
constexpr std::size_t kMaxNoteColumns = 100;  ///< columns of a note in a list

/// One use of the command on an open memory.
class MemoryWork {
 public:
  MemoryWork(const MemoryCommandOptions& options, std::shared_ptr<DatabaseClient> memory, Console& console)
      : options_(options), memory_(std::move(memory)), console_(console) {}

  Result<ExitStatus> run() {
    const bool takes_many = options_.verb == MemoryVerb::kAdd && options_.files;
    if (options_.files && !takes_many) return fail(app::usage_error("only add takes --files"));
    if (options_.words.size() > 1 && !takes_many) {
      return fail(app::usage_error("there is a word too many: " + app::in_quotes(options_.words[1]),
                                   "a text of several words needs quotes; files need --files"));
    }
    switch (options_.verb) {
      case MemoryVerb::kList:
        return options_.collection.empty() ? list_collections() : list_notes();
      case MemoryVerb::kSearch:
        return search();
      case MemoryVerb::kShow:
        return show();
      case MemoryVerb::kAdd:
        return options_.files ? add_documents(options_, *memory_, console_) : add();
      case MemoryVerb::kForget:
        return forget();
      case MemoryVerb::kSweep:
        return sweep_notes(options_, *memory_, console_);
      case MemoryVerb::kExport:
        return write_all();
      case MemoryVerb::kImport:
        return read_all();
    }
    std::unreachable();
  }

 private:
  /// The only word.
  std::string word() const { return options_.words.empty() ? std::string() : options_.words[0]; }
  std::string collection() const {
    return options_.collection.empty() ? kUsualCollection : options_.collection;
  }

  /// The condition of `--filter` and `--tag`.
  Result<Filter> filter() const {
    JsonArray all;
    if (!options_.filter.empty()) {
      auto given = parse_json(options_.filter);
      if (!given) return fail(app::usage_error("--filter is not JSON: " + given.error().message));
      if (auto checked = Filter::parse(*given); !checked) return fail(std::move(checked.error()));
      if (*given != Json(JsonObject{})) all.push_back(*std::move(given));
    }
    for (const std::string& tag : options_.tags) all.push_back(Json{{"exists", {"tags", tag}}});
    return Filter::parse(Json{{"and", std::move(all)}});
  }

  static std::string text_of(const Json& value) {
    const std::string text = json_string(value, "text");
    return text.empty() ? to_plain_text(value) : text;
  }

  void line_of(const Note& note, const std::string& mark = {}) {
    constexpr std::size_t kMaxKeyColumns = 300;  // a file and lines
    console_.out.line(fmt::format("{}{:<24} {}", mark, app::one_line(note.key, kMaxKeyColumns),
                                  app::one_line(text_of(note.value), kMaxNoteColumns)));
  }

  Result<ExitStatus> list_collections() {
    const auto all = memory_->collections();
    if (!all) return fail(all.error());
    for (const CollectionInfo& each : *all) {
      if (options_.json) {
        console_.item("collection", {{"collection", each.name},
                                     {"notes", each.notes},
                                     {"bytes", each.bytes},
                                     {"written", to_iso8601(each.written)}});
      } else {
        console_.out.line(fmt::format("{:<24} {} {}, {} bytes", app::one_line(each.name, 60), each.notes,
                                      each.notes == 1 ? "note" : "notes", each.bytes));
      }
    }
    if (all->empty() && !options_.json) console_.err.line("the memory is empty");
    return ExitStatus::kFinished;
  }

  Result<ExitStatus> list_notes() {
    const auto condition = filter();
    if (!condition) return fail(condition.error());
    const auto notes = memory_->query(collection(), *condition, {options_.limit, "", false});
    if (!notes) return fail(notes.error());
    for (const Note& note : *notes) {
      if (options_.json) {
        console_.item("note", to_json(note).get_object());
      } else {
        line_of(note);
      }
    }
    if (notes->empty() && !options_.json) console_.err.line("nothing found");
    return ExitStatus::kFinished;
  }

  Result<ExitStatus> search() {
    const auto condition = filter();
    if (!condition) return fail(condition.error());
    const auto text = given_text();
    if (!text) return fail(text.error());
    const auto hits = memory_->search(*text, {options_.limit, options_.collection, *condition});
    if (!hits) return fail(hits.error());
    for (const Hit& hit : *hits) {
      if (options_.json) {
        console_.item("note", to_json(hit).get_object());
        continue;
      }
      line_of(hit.note);
      console_.out.line(fmt::format("  matches {}; words {}, parts {}, age {}",
                                    visible_text(fmt::format("{}", fmt::join(hit.terms, ", "))),
                                    rank(hit.words_rank), rank(hit.pieces_rank), rank(hit.recency_rank)));
    }
    if (hits->empty() && !options_.json) console_.err.line("nothing found");
    return ExitStatus::kFinished;
  }

  static std::string rank(const std::optional<std::size_t>& place) {
    return place ? '#' + std::to_string(*place) : "-";
  }

  Result<ExitStatus> show() {
    const auto note = memory_->read(collection(), word());
    if (!note) return fail(note.error());
    if (!*note) return missing();
    console_.result({{"note", to_json(**note)}});
    if (options_.json) return ExitStatus::kFinished;
    console_.out.line(visible_text(text_of((*note)->value)));
    console_.err.line(fmt::format("{} in {}, written {}", app::in_quotes((*note)->key),
                                  app::in_quotes((*note)->collection), to_iso8601((*note)->written)));
    return ExitStatus::kFinished;
  }

  std::unexpected<Error> missing() const {
    return fail(app::usage_error(
        "no note " + app::in_quotes(word()) + " in the collection " + app::in_quotes(collection()),
        "praxis memory list -c NAME lists the notes of a collection"));
  }

  Result<std::string> given_text() const {
    if (word() == "-") return read_input("-");
    if (!word().empty()) return word();
    return fail(app::usage_error("the text is missing", "praxis memory --help"));
  }

  Result<ExitStatus> add() {
    const auto text = given_text();
    if (!text) return fail(text.error());
    const std::string key = options_.key.empty() ? system_environment()->new_id() : options_.key;
    JsonObject value{{"text", *text}}, tags;
    for (const std::string& tag : options_.tags) tags[tag] = true;
    if (!tags.empty()) value["tags"] = std::move(tags);
    if (auto written = memory_->write(collection(), key, std::move(value)); !written)
      return fail(written.error());
    console_.result({{"collection", collection()}, {"key", key}});
    if (!options_.json) console_.out.line(key);
    return ExitStatus::kFinished;
  }

  Result<ExitStatus> forget() {
    if (options_.all == !word().empty())
      return fail(app::usage_error("forget takes the key of a note, or --all with a collection"));
    if (options_.all && options_.collection.empty())
      return fail(app::usage_error("--all needs the collection", "praxis memory forget --all -c NAME"));
    const auto key = options_.all ? std::nullopt : std::optional(word());
    const auto removed = memory_->remove(collection(), key);
    if (!removed) return fail(removed.error());
    console_.result({{"collection", collection()}, {"removed", *removed}});
    if (!*removed && key) return missing();
    if (!options_.json) console_.err.line(*removed ? "forgotten" : "there was nothing to forget");
    return ExitStatus::kFinished;
  }

  Result<ExitStatus> write_all() {
    if (options_.json && options_.output.empty())
      return fail(app::usage_error("an export is JSON already; --json needs -o FILE"));
    const auto collections = memory_->collections();
    if (!collections) return fail(collections.error());
    std::string lines;
    std::size_t count = 0;
    for (const CollectionInfo& each : *collections) {
      if (!options_.collection.empty() && each.name != options_.collection) continue;
      QueryOptions page;
      for (;;) {
        const auto notes = memory_->query(each.name, {}, page);
        if (!notes) return fail(notes.error());
        for (const Note& note : *notes) lines += to_json_text(to_json(note)) + '\n';
        count += notes->size();
        if (notes->size() < page.limit) break;
        page.after = notes->back().key;
      }
    }
    console_.result({{"notes", count}});
    if (!options_.output.empty() && options_.output != "-") {
      if (auto written = write_file(options_.output, lines); !written) return fail(written.error());
    } else {
      console_.out.write(lines);
    }
    return ExitStatus::kFinished;
  }

  /// Reads all lines before it writes the first note.
  Result<ExitStatus> read_all() {
    if (word().empty()) return fail(app::usage_error("import needs a file, or '-'"));
    const auto text = read_input(word());
    if (!text) return fail(text.error());
    std::vector<Json> notes;
    std::istringstream lines(*text);
    std::string line;
    for (std::size_t number = 1; std::getline(lines, line); ++number) {
      if (line.empty()) continue;
      auto note = parse_json(line);
      const bool is_note = note && json_at(*note, "collection").is_string() &&
                           json_at(*note, "key").is_string() && !json_at(*note, "value").is_null();
      if (!is_note) {
        return fail(app::usage_error(
            fmt::format("{} line {} is not a note: an object with \"collection\", \"key\" and \"value\"",
                        app::in_quotes(word()), number),
            "praxis memory export writes such lines"));
      }
      notes.push_back(*std::move(note));
    }
    for (const Json& note : notes) {
      auto written =
          memory_->write(json_string(note, "collection"), json_string(note, "key"), json_at(note, "value"));
      if (!written) return fail(written.error());
    }
    console_.result({{"notes", notes.size()}});
    if (!options_.json) console_.err.line(fmt::format("{} notes imported", notes.size()));
    return ExitStatus::kFinished;
  }

  const MemoryCommandOptions& options_;
  const std::shared_ptr<DatabaseClient> memory_;
  Console& console_;
};

}  // namespace

Result<ExitStatus> execute(const MemoryCommandOptions& options, Console& console) {
  std::map<std::string, std::string> flags;
  if (!options.memory.empty()) flags["memory"] = options.memory;
  auto workspace = open_place(options.place, console, std::move(flags));
  if (!workspace) return fail(workspace.error());
  auto memory = app::open_memory(*workspace, MemoryUse::kCreate);
  if (!memory) return fail(memory.error());
  return MemoryWork(options, memory->database, console).run();
}

}  // namespace praxis::cli
