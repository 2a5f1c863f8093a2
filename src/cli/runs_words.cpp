#include "cli/runs_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "app/hints.hpp"

namespace praxis::cli {
namespace {

std::unexpected<Error> wrong_words(std::string message) {
  return fail(app::usage_error(std::move(message), "praxis runs --help"));
}

constexpr std::array<std::string_view, 4> kLabelVerbs{"name", "unname", "tag", "untag"};

/// `name ID NAME`, `unname ID`, `tag ID TAG...` and `untag ID TAG...`.
Result<Invocation> label_command(const RunsOptions& runs, std::span<const std::string> words) {
  const std::string& verb = words[0];
  if (words.size() < 2) return wrong_words(fmt::format("{} needs a run: give its id", verb));
  RunsLabelOptions options{runs.place, words[1], {}, runs.json};
  const auto rest = words.subspan(2);
  if (verb == "unname" ? !rest.empty() : rest.empty() || (verb == "name" && rest.size() > 1)) {
    return wrong_words(fmt::format("{} needs {} after the run", verb,
                                   verb == "unname" ? "nothing"
                                   : verb == "name" ? "one NAME"
                                                    : "at least one TAG"));
  }
  if (verb == "name") options.change.name = rest[0];
  if (verb == "unname") options.change.name = "";
  if (verb == "tag") options.change.add_tags.assign(rest.begin(), rest.end());
  if (verb == "untag") options.change.remove_tags.assign(rest.begin(), rest.end());
  return options;
}

Result<Invocation> remove_command(const RunsOptions& runs, const RunsWords& words) {
  RunsRemoveOptions options{.place = runs.place,
                            .ids = {words.words.begin() + 1, words.words.end()},
                            .filter = runs.filter,
                            .named = words.named,
                            .yes = words.yes,
                            .dry_run = words.dry_run,
                            .json = runs.json};
  const bool by_filter = words.words[0] == "prune";
  if (by_filter && !options.ids.empty())
    return wrong_words(fmt::format("prune takes filters, not \"{}\"; praxis runs rm removes single runs",
                                   options.ids.front()));
  if (by_filter && options.filter.is_empty())
    return wrong_words("prune needs a filter, such as --older 30d, so that it does not remove all runs");
  if (!by_filter && options.ids.empty()) return wrong_words("rm needs at least one run: give its id");
  if (!by_filter && !options.filter.is_empty())
    return wrong_words("rm takes ids and no filter; praxis runs prune removes by filters");
  if (!by_filter && options.named) return wrong_words("rm removes runs with names anyway, without --named");
  return options;
}

}  // namespace

Result<Invocation> runs_command(RunsOptions runs, const RunsWords& words) {
  const std::string first = words.words.empty() ? "" : words.words.front();
  if (first == "rm" || first == "prune") return remove_command(runs, words);
  if (words.yes || words.dry_run || words.named)
    return wrong_words("--yes, --dry-run and --named belong to praxis runs rm and prune");
  if (std::ranges::count(kLabelVerbs, first) > 0) {
    if (!runs.filter.is_empty()) return wrong_words(fmt::format("{} takes a run and no filter", first));
    return label_command(runs, words.words);
  }
  if (!words.words.empty()) runs.filter.text = fmt::format("{}", fmt::join(words.words, " "));
  return runs;
}

}  // namespace praxis::cli
