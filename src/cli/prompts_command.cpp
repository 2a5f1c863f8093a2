// `prompts`: lists, shows, compares, renders and changes versioned prompts.
#include <fmt/format.h>

#include <sstream>
#include <utility>
#include <vector>

#include "app/hints.hpp"
#include "app/line_changes.hpp"
#include "app/plain_text.hpp"
#include "app/prompt_reference.hpp"
#include "app/workspace.hpp"
#include "cli/author.hpp"
#include "cli/commands.hpp"
#include "cli/place.hpp"
#include "praxis/prompts/prompt_store.hpp"
#include "praxis/prompts/template_engines.hpp"

namespace praxis::cli {
namespace {

using PromptVerb = PromptsOptions::Verb;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  return lines;
}

/// One use of the command on an open store.
class PromptsWork {
 public:
  PromptsWork(const PromptsOptions& options, std::shared_ptr<PromptStore> store, Console& console)
      : options_(options), store_(std::move(store)), console_(console) {}

  Result<ExitStatus> run() {
    switch (options_.verb) {
      case PromptVerb::kList:
        return list();
      case PromptVerb::kShow:
        return show();
      case PromptVerb::kDiff:
        return diff();
      case PromptVerb::kRender:
        return render();
      case PromptVerb::kPut:
        return put();
      case PromptVerb::kLabel:
        return label();
      case PromptVerb::kCheck:
        break;
    }
    std::unreachable();
  }

 private:
  Result<ExitStatus> list() {
    const auto all = store_->list({options_.tags.empty() ? "" : options_.tags.front(), options_.name});
    if (!all) return fail(all.error());
    for (const PromptTemplate& prompt : *all) {
      const auto labels = store_->labels(prompt.id);
      if (!labels) return fail(labels.error());
      JsonObject versions;
      std::string text;
      for (const auto& [label, version] : *labels) {
        versions[label] = version;
        text += fmt::format(" {}={}", label, version);
      }
      if (options_.json) {
        JsonObject item = to_json(prompt).get_object();
        item["labels"] = std::move(versions);
        console_.item("prompt", item);
      } else {
        console_.out.line(fmt::format("{:<24} {:<6}{} {}", prompt.id, prompt.version, text,
                                      app::one_line(prompt.text, 60)));
      }
    }
    if (all->empty() && !options_.json) console_.err.line("there are no prompts");
    return ExitStatus::kFinished;
  }

  Result<PromptTemplate> prompt_at(const std::string& id, const std::string& version) const {
    auto prompt = store_->get(id, version);
    if (!prompt) return fail(std::move(prompt.error()));
    if (*prompt) return **std::move(prompt);
    const std::string at = version.empty() ? "" : " with the version or label " + app::in_quotes(version);
    return fail(app::usage_error("no prompt " + app::in_quotes(id) + at, "praxis prompts list shows them"));
  }

  Result<ExitStatus> show() {
    const auto [id, version] = app::split_prompt_reference(options_.first);
    const auto prompt = prompt_at(id, version);
    if (!prompt) return fail(prompt.error());
    console_.result({{"prompt", to_json(*prompt)}});
    if (options_.json) return ExitStatus::kFinished;
    console_.out.line(visible_text(prompt->text));
    console_.err.line(
        visible_text(fmt::format("{} version {}{}, by {}, {}, hash {}", prompt->id, prompt->version,
                                 prompt->parent.empty() ? "" : ", after " + prompt->parent,
                                 prompt->created_by.empty() ? "unknown" : prompt->created_by,
                                 to_iso8601(prompt->created_at), prompt->hash)));
    return ExitStatus::kFinished;
  }

  Result<ExitStatus> diff() {
    const auto from = prompt_at(options_.first, options_.second),
               to = prompt_at(options_.first, options_.third);
    if (!from) return fail(from.error());
    if (!to) return fail(to.error());
    const bool same = from->hash == to->hash;
    console_.result({{"from", from->version}, {"to", to->version}, {"identical", same}});
    if (options_.json) return ExitStatus::kFinished;
    for (const std::string& line : app::marked_changes(lines_of(from->text), lines_of(to->text)))
      console_.out.line(visible_text(line));
    return ExitStatus::kFinished;
  }

  Result<Json> variables() const {
    Json values = JsonObject{};
    if (!options_.variables_file.empty()) {
      const auto text = read_input(options_.variables_file);
      if (!text) return fail(text.error());
      auto given = parse_json(*text);
      if (!given || !given->is_object())
        return fail(app::usage_error(app::in_quotes(options_.variables_file) + " is not a JSON object"));
      values = *std::move(given);
    }
    for (const std::string& each : options_.variables) {
      const std::size_t at = each.find('=');
      if (at == std::string::npos || at == 0)
        return fail(app::usage_error("--var takes NAME=VALUE, not " + app::in_quotes(each)));
      values.get_object()[each.substr(0, at)] = each.substr(at + 1);
    }
    return values;
  }

  Result<ExitStatus> render() {
    const auto [id, version] = app::split_prompt_reference(options_.first);
    const auto values = variables();
    if (!values) return fail(values.error());
    const auto rendered = store_->render(id, *values, {version, true});
    if (!rendered) return fail(rendered.error());
    console_.result({{"text", rendered->text},
                     {"id", rendered->id},
                     {"version", rendered->version},
                     {"hash", rendered->hash},
                     {"tokens_estimate", rendered->tokens_estimate}});
    if (!options_.json) console_.out.line(visible_text(rendered->text));
    return ExitStatus::kFinished;
  }

  std::string author() const { return options_.author.empty() ? cli_author().principal : options_.author; }

  Result<ExitStatus> put() {
    if (options_.second.empty()) return fail(app::usage_error("put needs a file, or '-'"));
    auto text = read_input(options_.second);
    if (!text) return fail(text.error());
    PromptTemplate draft;
    draft.id = options_.first;
    draft.text = *std::move(text);
    draft.name = options_.name;
    draft.tags = options_.tags;
    draft.required_vars = options_.required;
    draft.engine = prompt_engine_named(options_.engine).value();
    const auto put = store_->put(std::move(draft), author());
    if (!put) return fail(put.error());
    console_.result({{"prompt", to_json(*put)}});
    if (!options_.json) console_.out.line(put->id + '@' + put->version);
    return ExitStatus::kFinished;
  }

  Result<ExitStatus> label() {
    if (options_.third.empty())
      return fail(app::usage_error("label needs a prompt, a label and a version",
                                   "praxis prompts label review production 2"));
    auto done = store_->label(options_.first, options_.second, options_.third, author());
    if (!done) return fail(done.error());
    console_.result({{"id", options_.first}, {"label", options_.second}, {"version", options_.third}});
    return ExitStatus::kFinished;
  }

  const PromptsOptions& options_;
  const std::shared_ptr<PromptStore> store_;
  Console& console_;
};

/// Checks a file as a template.
Result<ExitStatus> check_template(const PromptsOptions& options, Console& console) {
  if (options.first.empty()) return fail(app::usage_error("check needs a file, or '-'"));
  const auto text = read_input(options.first);
  if (!text) return fail(text.error());
  const PromptEngine engine = prompt_engine_named(options.engine).value();
  const auto check = engine == PromptEngine::kFString ? Result<PromptCheck>(PromptStore::validate(*text))
                                                      : javascript_templates()->check(engine, *text);
  if (!check) return fail(check.error());
  console.result({{"ok", check->ok},
                  {"problems", JsonArray(check->errors.begin(), check->errors.end())},
                  {"variables", JsonArray(check->variables.begin(), check->variables.end())}});
  if (!check->ok) return fail(app::usage_error(app::in_quotes(options.first) + ": " + check->errors.front()));
  if (!options.json) {
    for (const std::string& name : check->variables) console.out.line(name);
  }
  return ExitStatus::kFinished;
}

}  // namespace

Result<ExitStatus> execute(const PromptsOptions& options, Console& console) {
  std::map<std::string, std::string> flags;
  if (!options.store.empty()) flags["prompts"] = options.store;
  auto workspace = open_place(options.place, console, std::move(flags));
  if (!workspace) return fail(workspace.error());
  if (options.verb == PromptVerb::kCheck) return check_template(options, console);
  if (options.first.empty() && options.verb != PromptVerb::kList)
    return fail(app::usage_error("the id of a prompt is missing", "praxis prompts --help"));
  auto store = app::open_prompts(*workspace);
  if (!store) return fail(store.error());
  return PromptsWork(options, *std::move(store), console).run();
}

}  // namespace praxis::cli
