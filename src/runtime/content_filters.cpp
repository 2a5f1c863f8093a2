#include "runtime/content_filters.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "praxis/base/reach.hpp"

namespace praxis {
namespace {

using filters::Scan;

void scan_error(Scan& scan, Error& error) {
  scan.content(error.message);
  if (error.facts) {
    Json facts = *error.facts;
    if (scan.json(facts)) error.facts = std::make_shared<const Json>(std::move(facts));
  }
  if (!error.cause) return;
  Error cause = *error.cause;
  scan_error(scan, cause);
  error.cause = std::make_shared<const Error>(std::move(cause));
}

bool is_text(std::string_view mime) { return mime.starts_with("text/") || mime == "application/json"; }

/// Whether an image or file may stay. What matches in a file of text is redacted there.
bool scan_media(Scan& scan, MediaSource& source) {
  if (!scan.keeps(source.mime, source.data.size())) return false;
  if (is_text(source.mime)) scan.content(source.data);
  return true;
}

/// Removes the images or files that may not stay, and says so in `text`.
template <class Media>
bool scan_all(Scan& scan, std::vector<Media>& all, std::string& text) {
  bool changed = false;
  std::vector<Media> kept;
  for (Media& media : all) {
    const std::string before = media.source.data;
    const bool stays = scan_media(scan, media.source);
    changed = changed || !stays || media.source.data != before;
    if (stays) kept.push_back(std::move(media));
  }
  if (kept.size() < all.size())
    text += "\n[" + std::to_string(all.size() - kept.size()) +
            " of the images or files were removed by a filter]";
  all = std::move(kept);
  return changed;
}

/// Applies filters to one part of a message. Returns true if it changed.
struct ScanPart {
  Scan& scan;

  bool operator()(TextPart& part) const { return scan.content(part.text); }
  /// What a vendor bound to its model would be refused if it changed.
  bool operator()(ReasoningPart& part) const {
    if (part.vendor) return false;
    const bool changed = scan.content(part.text);
    return scan.content(part.summary) || changed;
  }
  bool operator()(ToolCallPart& part) const { return scan.json_text(part.arguments); }
  bool operator()(ToolResultPart& part) const {
    bool changed = scan.content(part.text);
    changed = scan_all(scan, part.images, part.text) || changed;
    return scan_all(scan, part.files, part.text) || changed;
  }
  bool operator()(ImagePart& /*part*/) const { return false; }
  bool operator()(FilePart& part) const {
    return is_text(part.source.mime) && scan.content(part.source.data);
  }
  bool operator()(RefusalPart& part) const { return scan.content(part.text); }
  bool operator()(CompactionPart& part) const { return !part.vendor && scan.content(part.summary); }
  bool operator()(OpaquePart& /*part*/) const { return false; }
};

/// Whether the part is an image or file that may not stay.
bool is_removed(Scan& scan, const Part& part) {
  const auto* image = std::get_if<ImagePart>(&part);
  const auto* file = std::get_if<FilePart>(&part);
  const MediaSource* const source = image != nullptr  ? &image->source
                                    : file != nullptr ? &file->source
                                                      : nullptr;
  return source != nullptr && !scan.keeps(source->mime, source->data.size());
}

bool scan_message(Scan& scan, Message& message) {
  bool changed = false;
  for (Part& part : message.parts) {
    if (is_removed(scan, part)) {
      part = TextPart{"[an image or file was removed by a filter]"};
      changed = true;
    } else {
      changed = std::visit(ScanPart{scan}, part) || changed;
    }
  }
  return changed;
}

/// Redacts what the schema of a tool says in words; its names and values stay, because calls follow them.
bool scan_descriptions(Scan& scan, Json& schema) {
  bool changed = false;
  if (JsonArray* const items = schema.if_array()) {
    for (Json& item : *items) changed = scan_descriptions(scan, item) || changed;
  }
  JsonObject* const object = schema.if_object();
  if (object == nullptr) return changed;
  for (auto& member : *object) {
    Json& value = member.value();
    const bool is_words = value.is_string() && (member.key() == "description" || member.key() == "title");
    changed = (is_words ? scan.json(value) : scan_descriptions(scan, value)) || changed;
  }
  return changed;
}

bool scan_tools(Scan& scan, std::vector<ToolDefinition>& tools) {
  bool changed = false;
  for (ToolDefinition& tool : tools) {
    changed = scan.content(tool.description) || changed;
    changed = scan_descriptions(scan, tool.parameters) || changed;
  }
  return changed;
}

}  // namespace

std::string filter_output(const filters::FilterSet& set, std::string_view tool, Result<ToolOutput>& output) {
  Scan scan(set, filters::Point::kToolOutput, tool);
  // A question to a person is no result.
  if (!output && output.error().kind() == ErrorKind::kAuthorisation) return "";
  if (output) {
    scan.content(output->text);
    scan.json(output->value);
    scan_all(scan, output->images, output->text);
    scan_all(scan, output->files, output->text);
  } else {
    scan_error(scan, output.error());
  }
  if (!scan.denies()) return scan.by();
  withhold(output, scan.why("withholds", "the result of \"" + std::string(tool) + '"'));
  return scan.by();
}

void withhold(Result<ToolOutput>& output, std::string why) {
  if (output) {
    output = ToolOutput{why + " The call has run.", nullptr, {}, std::move(output->memory)};
    return;
  }
  const Error& before = output.error();
  Error error = make_error(before.code, before.kind(), std::move(why), before.retriable);
  if (const auto reach = reach_of(before)) error = with_reach(std::move(error), *reach);
  output = fail(std::move(error));
}

std::string whole_text_of(const Result<ToolOutput>& output) {
  if (!output) return output.error().message;
  return output->value.is_null() ? output->text : output->text + '\n' + to_json_text(output->value);
}

std::optional<records::Decided> filter_prompt(const filters::FilterSet& set, Message& message) {
  Scan scan(set, filters::Point::kPrompt, "");
  scan_message(scan, message);
  return filters::said(scan);
}

// ---- RequestFilter

/// Reads a piece, unless the same filters have read it before, and adds what they find to `all`. `seen`: what
/// to remember. Returns the piece as it goes to the model.
template <class T, class Read>
std::shared_ptr<const T> RequestFilter::read(Scan& all, const std::shared_ptr<const T>& piece,
                                             const Seen<T>* before, Seen<T>& seen, Read scan) {
  if (before != nullptr && before->piece.lock() == piece && all.add(before->found)) {
    seen = *before;
    return seen.changed ? seen.changed : piece;
  }
  auto copy = std::make_shared<T>(*piece);
  Scan one(*set_, filters::Point::kModel, "");
  const bool changed = scan(one, *copy);
  bytes_read_ += one.found().bytes;
  seen = {piece, one.found(), changed ? copy : nullptr};
  if (!all.add(seen.found)) {
    *copy = *piece;
    scan(all, *copy);  // reads as far as filters read, which denies the request
  }
  return changed ? copy : piece;
}

void RequestFilter::read_instructions(Scan& all, std::string& instructions) {
  if (!instructions_text_ || *instructions_text_ != instructions)
    instructions_text_ = std::make_shared<const std::string>(instructions);
  const Seen<std::string> before = instructions_;
  instructions = *read<std::string>(all, instructions_text_, &before, instructions_,
                                    [](Scan& scan, std::string& text) { return scan.content(text); });
}

void RequestFilter::read_messages(Scan& all, History& history) {
  SeenMessages seen;
  std::vector<Message> messages;
  bool changed = false;
  for (const MessagePtr& message : history.messages()) {
    const auto before = messages_.find(message.get());
    const MessagePtr left = read<Message>(all, message, before == messages_.end() ? nullptr : &before->second,
                                          seen[message.get()], scan_message);
    changed = changed || left != message;
    messages.push_back(*left);
  }
  messages_ = std::move(seen);
  if (changed) history = normalise(messages).history;
}

Status RequestFilter::apply(const filters::FilterSetPtr& set, ModelRequest& request, std::string& by) {
  const std::lock_guard lock(mutex_);
  if (set_ != set) {
    set_ = set;
    instructions_ = {};
    messages_.clear();
    tools_ = {};
  }
  Scan scan(*set, filters::Point::kModel, "");
  read_instructions(scan, request.instructions);
  read_messages(scan, request.history);
  const Seen<Tools> before = tools_;
  if (request.tools) request.tools = read<Tools>(scan, request.tools, &before, tools_, scan_tools);
  by = scan.by();
  if (!scan.denies()) return {};
  return fail(ErrorCode::kPolicy, ErrorKind::kContentPolicy, scan.why("denies", "the request to the model"));
}

std::size_t RequestFilter::bytes_read() const {
  const std::lock_guard lock(mutex_);
  return bytes_read_;
}

}  // namespace praxis
