#include "journal/labels.hpp"

#include <algorithm>

#include "journal/chain.hpp"

namespace praxis {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_label(std::string_view text) {
  const auto allowed = [](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  return !text.empty() && text.size() <= kMaxLabelBytes && is_letter(text.front()) &&
         std::ranges::all_of(text, allowed);
}

std::unexpected<Error> not_a_label(std::string_view what, std::string_view text) {
  return fail(ErrorCode::kInput, "\"" + std::string(text) + "\" is not a " + std::string(what) +
                                     ": it needs 1 to " + std::to_string(kMaxLabelBytes) +
                                     " letters, digits, '-', '_' and '.', the first a letter");
}

}  // namespace

Result<Labels> changed(Labels labels, const LabelChange& change) {
  if (change.name && !change.name->empty()) {
    if (!is_label(*change.name)) return not_a_label("name", *change.name);
    if (*change.name == "last")
      return fail(ErrorCode::kInput, "\"last\" means the newest session; choose another name");
  }
  if (change.name) labels.name = *change.name;
  for (const std::string& tag : change.add_tags) {
    if (!is_label(tag)) return not_a_label("tag", tag);
    const auto place = std::ranges::lower_bound(labels.tags, tag);
    if (place == labels.tags.end() || *place != tag) labels.tags.insert(place, tag);
  }
  for (const std::string& tag : change.remove_tags) std::erase(labels.tags, tag);
  if (labels.tags.size() > kMaxTags)
    return fail(ErrorCode::kInput, "a session can have at most " + std::to_string(kMaxTags) + " tags");
  return labels;
}

Error name_taken(std::string_view name, const SessionId& by) {
  return journal_error(ErrorKind::kExists,
                       "session " + by.str() + " is called \"" + std::string(name) + "\" already");
}

std::string tags_text(const std::vector<std::string>& tags) {
  std::string text;
  for (const std::string& tag : tags) text.append(text.empty() ? "" : " ").append(tag);
  return text;
}

std::vector<std::string> tags_of(std::string_view text) {
  std::vector<std::string> tags;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    tags.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return tags;
}

Status Journal::label(const SessionId&, const LabelChange&) {
  return fail(journal_error(ErrorKind::kReadOnly, "this journal keeps no names and tags"));
}

Result<std::size_t> Journal::remove(const SessionId&) {
  return fail(journal_error(ErrorKind::kReadOnly, "this journal cannot remove sessions"));
}

Result<Swept> Journal::sweep() {
  return fail(journal_error(ErrorKind::kReadOnly, "this journal cannot remove blobs"));
}

}  // namespace praxis
