#include "snapshots/kept_tool.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "base/exhausted.hpp"
#include "praxis/base/environment.hpp"

namespace praxis {
namespace {

constexpr std::size_t kBatchBytes = std::size_t{8} << 20;
/// A call that is stopped must return within the time that it is given for that.
constexpr std::chrono::milliseconds kAfterStop{40};

/// Gathers contents, so that one transaction stores many.
class ContentBatch {
 public:
  explicit ContentBatch(FileHistory& history) : history_(history) {}

  Status add(const Digest& digest, std::string bytes) {
    bytes_ += bytes.size();
    contents_.push_back({digest, std::move(bytes)});
    return bytes_ < kBatchBytes ? Status{} : flush();
  }
  Status flush() {
    auto kept = history_.keep(contents_);
    contents_.clear();
    bytes_ = 0;
    return kept;
  }

 private:
  FileHistory& history_;
  std::vector<KeptContent> contents_;
  std::size_t bytes_ = 0;
};

Error cannot_keep(const Error& cause) {
  Error error =
      make_error(ErrorCode::kTool,
                 "nothing was changed, because what the files hold now could not be kept: " + cause.message +
                     " (files.keep = false in the configuration keeps nothing)");
  if (is_exhausted(cause)) return cause;
  error.set("kind", to_string(ErrorKind::kMachine));
  return error;
}

/// The same places by paths without links, which those of the files are.
ChangePlaces real_places(ChangePlaces places) {
  const auto real = [](std::string& path) {
    std::error_code failed;
    auto found = std::filesystem::weakly_canonical(path, failed);
    if (!failed) path = found.string();
    if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  };
  std::ranges::for_each(places.folders, real);
  if (places.file.starts_with('/')) real(places.file);
  return places;
}

/// Keeps a call's operation open while its handler runs.
class KeptCall {
 public:
  KeptCall(FileHistory& history, ChangePlaces places) : history_(history), places_(std::move(places)) {}

  Status begin(const ToolContext& context, const std::string& tool) {
    if (auto ended = end_left_calls(history_, context.session); !ended) return ended;
    auto before = look_and_keep(history_, places_);
    // Where the tool itself cannot look, it says so itself.
    if (!before) return before.error().code == ErrorCode::kJournal ? fail(before.error()) : Status{};
    FileOperation operation;
    operation.session = context.session;
    operation.effect = context.idempotency_key.substr(context.session.str().size() + 1);
    operation.tool = tool;
    operation.time = (context.environment != nullptr ? *context.environment : *system_environment()).now();
    operation.places = real_places(places_);
    auto id = history_.begin(operation, *before);
    if (!id) return fail(std::move(id.error()));
    operation_ = *id;
    return {};
  }

  /// A look that fails leaves the operation open; the next look ends it.
  void end(const std::stop_token& stop) {
    if (!operation_) return;
    const auto deadline = stop.stop_requested() ? std::chrono::steady_clock::now() + kAfterStop
                                                : std::chrono::steady_clock::time_point::max();
    const auto after = look_and_keep(history_, places_, deadline);
    if (after) std::ignore = history_.end(*operation_, *after);
  }

 private:
  FileHistory& history_;
  const ChangePlaces places_;
  std::optional<std::int64_t> operation_;
};

}  // namespace

Result<FileStates> look_and_keep(FileHistory& history, const ChangePlaces& places,
                                 std::chrono::steady_clock::time_point deadline) {
  ContentBatch batch(history);
  ScanOptions options;
  options.seen = &history.seen();
  options.keep = [&](const Digest& digest, std::string bytes) { return batch.add(digest, std::move(bytes)); };
  options.deadline = deadline;
  auto states = look_at(places, options);
  if (!states) return states;
  if (auto kept = batch.flush(); !kept) return fail(std::move(kept.error()));
  return states;
}

Status end_left_calls(FileHistory& history, const SessionId& session) {
  const auto operations = history.open_operations(session);
  if (!operations) return fail(operations.error());
  for (const FileOperation& operation : *operations) {
    if (operation.is_restore() || history.is_own(operation)) continue;
    const auto after = look_and_keep(history, operation.places);
    if (!after && after.error().code == ErrorCode::kJournal) return fail(after.error());
    if (!after) continue;
    if (auto ended = history.end(operation.id, *after); !ended) return ended;
  }
  return {};
}

Tool kept_tool(Tool tool, OpenHistory open, ChangePlaces places, std::string argument) {
  tool.handler = [run = std::move(tool.handler), open = std::move(open), places = std::move(places),
                  argument = std::move(argument), name = tool.definition.name](
                     ToolContext& context, const Json& arguments) -> Result<ToolOutput> {
    const std::string prefix = context.session.str() + '/';
    if (context.session.empty() || !context.idempotency_key.starts_with(prefix))
      return run(context, arguments);
    ChangePlaces here = places;
    if (!argument.empty()) here.file = json_string(arguments, argument);
    const auto history = open();
    if (!history) return fail(cannot_keep(history.error()));
    KeptCall call(**history, std::move(here));
    if (auto begun = call.begin(context, name); !begun) return fail(cannot_keep(begun.error()));
    auto output = run(context, arguments);
    call.end(context.stop);
    return output;
  };
  return tool;
}

}  // namespace praxis
