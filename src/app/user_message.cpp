#include "app/user_message.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "base/open_beneath.hpp"
#include "base/regular_file.hpp"
#include "praxis/base/utf8.hpp"
#include "praxis/json/json.hpp"
#include "praxis/tools/media.hpp"
#include "process/protected_names.hpp"

namespace praxis::app {
namespace {

constexpr std::size_t kMostSignature = 64;  ///< bytes that tell an image
constexpr std::string_view kBlanks = " \t\n\r";
constexpr std::string_view kFileBegin = "\n\n<file path=", kBytes = " bytes=", kCut = " cut_from=",
                           kHeadEnd = ">\n", kFileEnd = "\n</file>";
constexpr std::string_view kCommandBegin = "\n\n<command line=", kHow = " end=", kCommandEnd = "\n</command>";

std::string path_on_disk(const std::string& path) {
  if (!path.starts_with("~/")) return path;
  const char* home = std::getenv("HOME");
  return home == nullptr ? path : home + path.substr(1);
}

bool is_file(const std::string& path) {
  struct stat about{};
  return !path.empty() && stat(path_on_disk(path).c_str(), &about) == 0 && S_ISREG(about.st_mode);
}

/// The file that a word after `@` names; empty: none. Punctuation after a path belongs to the sentence.
std::string file_of_word(std::string word) {
  while (!word.empty() && !is_file(word)) {
    if (std::string_view(".,;:!?)]}'\"").find(word.back()) == std::string_view::npos) return "";
    word.pop_back();
  }
  return word;
}

/// The files that a text names, each once.
std::vector<std::string> mentioned_files(std::string_view text) {
  std::vector<std::string> files;
  for (std::size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@', at + 1)) {
    if (!may_begin_mention(text, at)) continue;
    const std::string_view rest = text.substr(at + 1);
    std::string file;
    if (rest.starts_with('"')) {
      const auto end = rest.find('"', 1);
      if (end != std::string_view::npos && rest.substr(0, end).find('\n') == std::string_view::npos)
        file = rest.substr(1, end - 1);
      if (!is_file(file)) file.clear();
    } else {
      file = file_of_word(std::string(rest.substr(0, rest.find_first_of(kBlanks))));
    }
    if (!file.empty() && std::ranges::find(files, file) == files.end()) files.push_back(std::move(file));
  }
  return files;
}

std::string first_bytes(const RegularFile& file, std::size_t most) {
  std::string bytes(most, '\0');
  std::size_t size = 0;
  while (size < most) {
    const auto got = read(file.descriptor.get(), bytes.data() + size, most - size);
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  bytes.resize(size);
  return bytes;
}

/// Opens a file below the current folder, through no link that leads out of it; an image from anywhere. A
/// text that was pasted must not make the message carry a key from the home folder.
Result<RegularFile> open_mentioned(const std::string& path) {
  const std::string on_disk = path_on_disk(path);
  std::error_code failed;
  const std::string folder = std::filesystem::current_path(failed).string() + '/';
  const std::string below = on_disk.starts_with(folder) ? on_disk.substr(folder.size()) : on_disk;
  const FileDescriptor here(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  auto beneath = open_beneath(here.get(), below, O_RDONLY | O_NONBLOCK);
  if (beneath) return regular_file_of(*std::move(beneath), path);
  auto elsewhere = open_regular_file(on_disk);
  if (!elsewhere) return elsewhere;
  if (!media_type(first_bytes(*elsewhere, kMostSignature)).starts_with("image/"))
    return fail(usage_error(in_quotes(path) + " is outside of the current folder",
                            "only images are sent from elsewhere; copy the file, or its text"));
  return open_regular_file(on_disk);
}

std::string size_of(std::size_t bytes) {
  constexpr std::size_t kKilo = 1000;
  return bytes < kKilo ? std::to_string(bytes) + " bytes"
                       : std::to_string((bytes + kKilo / 2) / kKilo) + " kB";
}

std::string block_of(const std::string& path, std::string bytes, std::size_t whole) {
  const bool is_cut = bytes.size() < whole;
  if (is_cut) {
    const auto end = bytes.rfind('\n');
    bytes = std::string(end == std::string::npos ? utf8_head(bytes, bytes.size() - 1)
                                                 : std::string_view(bytes).substr(0, end + 1));
  }
  const std::string text = repair_utf8(bytes);
  std::string block(kFileBegin);
  block += to_json_text(Json(repair_utf8(path)));
  block.append(kBytes).append(std::to_string(text.size()));
  if (is_cut) block.append(kCut).append(std::to_string(whole));
  return block.append(kHeadEnd).append(text).append(kFileEnd);
}

/// Adds one file to the parts of a message.
Status add_file(const std::string& path, std::vector<Part>& images, std::vector<Part>& blocks,
                std::size_t& total) {
  const std::string on_disk = path_on_disk(path);
  if (is_secret_name(std::filesystem::path(on_disk).filename().string()))
    return fail(usage_error(in_quotes(path) + " may hold secrets and is not sent"));
  const auto file = open_mentioned(path);
  if (!file) return fail(file.error());
  std::string bytes = first_bytes(*file, kMostMentionedBytes);
  if (media_type(bytes).starts_with("image/")) {
    auto image = image_file(on_disk);
    if (!image) return fail(image.error());
    images.emplace_back(*std::move(image));
    return {};
  }
  if (bytes.find('\0') != std::string::npos)
    return fail(usage_error(in_quotes(path) + " is neither text nor an image"));
  total += bytes.size();
  if (total > kMostMentionedTotal)
    return fail(
        usage_error("the files of a message have more than " + size_of(kMostMentionedTotal) + " together"));
  const auto size = std::max<std::size_t>(static_cast<std::size_t>(file->about.st_size), bytes.size());
  blocks.emplace_back(TextPart{block_of(path, std::move(bytes), size)});
  return {};
}

/// One block at the front of a text.
struct Block {
  std::string about;
  bool is_command = false;
  std::size_t length = 0;
};

std::optional<std::size_t> number_at(std::string_view& text, std::string_view label) {
  if (!text.starts_with(label)) return std::nullopt;
  text.remove_prefix(label.size());
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// Takes a JSON string from the front of a text.
std::optional<std::string> string_at(std::string_view& text) {
  std::size_t end = 1;
  while (end < text.size() && text[end] != '"' && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
  const auto value = end < text.size() ? parse_json(text.substr(0, end + 1)) : fail(ErrorCode::kInput, "");
  if (!value || !value->is_string()) return std::nullopt;
  text.remove_prefix(end + 1);
  return std::string(value->get_string());
}

std::optional<Block> block_at(std::string_view text) {
  const std::size_t all = text.size();
  const bool is_command = text.starts_with(kCommandBegin);
  if (!is_command && !text.starts_with(kFileBegin)) return std::nullopt;
  text.remove_prefix(is_command ? kCommandBegin.size() : kFileBegin.size());
  const auto name = string_at(text);
  std::optional<std::string> how;
  if (is_command && text.starts_with(kHow)) {
    text.remove_prefix(kHow.size());
    how = string_at(text);
  }
  const auto bytes = number_at(text, kBytes);
  const auto whole = is_command ? std::nullopt : number_at(text, kCut);
  if (!name || !bytes || how.has_value() != is_command || !text.starts_with(kHeadEnd)) return std::nullopt;
  text.remove_prefix(kHeadEnd.size());
  const std::string_view end = is_command ? kCommandEnd : kFileEnd;
  if (text.size() < *bytes || !text.substr(*bytes).starts_with(end)) return std::nullopt;
  Block block{(is_command ? "! " : "") + *name + " (" + (is_command ? *how + ", " : "") + size_of(*bytes),
              is_command, 0};
  if (whole) block.about += " of " + size_of(*whole);
  block.about += ')';
  block.length = all - text.size() + *bytes + end.size();
  return block;
}

/// Where the next block may begin.
std::size_t next_block(std::string_view text, std::size_t from) {
  return std::min(text.find(kFileBegin, from), text.find(kCommandBegin, from));
}

}  // namespace

bool may_begin_mention(std::string_view text, std::size_t at) {
  return at == 0 || kBlanks.find(text[at - 1]) != std::string_view::npos || text[at - 1] == '(' ||
         text[at - 1] == '[' || text[at - 1] == '\'';
}

std::string mention_of(std::string_view path) {
  const bool quotes = path.find_first_of(kBlanks) != std::string_view::npos;
  return quotes ? "@\"" + std::string(path) + '"' : '@' + std::string(path);
}

std::string command_block(std::string_view command, std::string_view how, std::string_view output) {
  std::string block(kCommandBegin);
  block.append(to_json_text(Json(repair_utf8(command)))).append(kHow).append(to_json_text(Json(how)));
  block.append(kBytes).append(std::to_string(output.size())).append(kHeadEnd).append(output);
  return block.append(kCommandEnd);
}

Result<Message> message_with_files(std::string text) {
  const std::vector<std::string> files = mentioned_files(text);
  if (files.size() > kMostMentionedFiles)
    return fail(usage_error("a message takes at most " + std::to_string(kMostMentionedFiles) + " files"));
  std::vector<Part> images, blocks;
  std::size_t total = 0;
  for (const std::string& file : files) {
    if (auto added = add_file(file, images, blocks, total); !added) return fail(added.error());
  }
  Message message;
  message.role = Role::kUser;
  message.parts = std::move(images);
  message.parts.emplace_back(TextPart{std::move(text)});
  std::ranges::move(blocks, std::back_inserter(message.parts));
  return message;
}

ReadableMessage readable_message(std::string_view text) {
  constexpr int kMostTries = 100;
  std::size_t begin = next_block(text, 0);
  for (int i = 0; begin != std::string_view::npos && i < kMostTries; ++i) {
    ReadableMessage readable{std::string(text.substr(0, begin)), {}, {}};
    std::size_t at = begin;
    for (auto block = block_at(text.substr(at)); block; block = block_at(text.substr(at))) {
      if (block->is_command) readable.commands.emplace_back(text.substr(at, block->length));
      readable.attached.push_back(std::move(block->about));
      at += block->length;
    }
    if (at == text.size()) return readable;
    begin = next_block(text, begin + 1);
  }
  return {std::string(text), {}, {}};
}

}  // namespace praxis::app
