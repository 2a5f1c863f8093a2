// `help TOPIC`: shows a page of the documentation.
#include <algorithm>
#include <filesystem>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "base/regular_file.hpp"
#include "cli/commands.hpp"
#include "cli/markdown.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxPage = std::size_t{4} * 1024 * 1024;
constexpr const char* kTopics = "topics";

/// The folder with the pages: of the installation, or of the sources that the program was built from. Empty:
/// neither is there.
fs::path pages_folder() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const char* below : {"../share/doc/praxis/docs", "../../docs"}) {
    const fs::path folder = (program / below).lexically_normal();
    if (fs::exists(folder / "architecture.md", ignored)) return folder;
  }
  return {};
}

std::vector<std::string> topics_in(const fs::path& folder) {
  std::vector<std::string> topics;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".md") topics.push_back(entry.path().stem().string());
  }
  std::ranges::sort(topics);
  return topics;
}

}  // namespace

Result<ExitStatus> execute(const TopicOptions& options, Console& console) {
  const fs::path folder = pages_folder();
  const std::vector<std::string> topics = topics_in(folder);
  if (options.topic == kTopics && topics.empty())
    return fail(
        app::usage_error("the pages of the documentation are not installed",
                         "they belong into ../share/doc/praxis/docs, from the folder of the program"));
  if (options.topic == kTopics) {
    for (const std::string& topic : topics) console.out.line(topic);
    return ExitStatus::kFinished;
  }
  if (std::ranges::find(topics, options.topic) == topics.end()) {
    const auto meant = closest(options.topic, topics);
    const std::string why = topics.empty() ? "; the pages of the documentation are not installed"
                            : meant        ? "; did you mean \"" + *meant + "\"?"
                                           : "";
    return fail(app::usage_error("there is no command or topic " + app::in_quotes(options.topic) + why,
                                 "praxis --help lists the commands, praxis help topics the topics"));
  }
  const auto page = read_regular_file((folder / (options.topic + ".md")).string(), kMaxPage);
  if (!page) return fail(page.error());
  console.out.write(for_screen(console.terminal, *page));
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
