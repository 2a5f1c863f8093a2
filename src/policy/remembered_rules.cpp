#include "praxis/policy/remembered_rules.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file_descriptor.hpp"
#include "base/regular_file.hpp"

namespace praxis {
namespace {

std::unexpected<Error> wrong(const std::string& path, const std::string& what) {
  return fail(ErrorCode::kInput, "remembered rules " + path + ": " + what);
}

std::unexpected<Error> failed(const std::string& path, const char* doing) {
  return wrong(path, std::string("cannot ") + doing + ": " + std::strerror(errno));
}

/// Why a file is unsafe because others could have written it; empty if it is safe.
std::string why_unsafe(const struct stat& file) {
  if (!S_ISREG(file.st_mode)) return "is not a regular file";
  if (file.st_uid != geteuid()) return "belongs to another user";
  if ((file.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "can be written by others; chmod 600 it";
  return {};
}

/// Reads an open file after checking that it is safe.
Result<std::string> contents(const FileDescriptor& file, const std::string& path) {
  struct stat about = {};
  if (fstat(file.get(), &about) != 0) return failed(path, "be read");
  if (const std::string unsafe = why_unsafe(about); !unsafe.empty()) return wrong(path, unsafe);
  if (about.st_size > static_cast<off_t>(RememberedRules::kMaxFileBytes))
    return wrong(path, "is too long; remove rules that are no longer needed");
  std::string bytes(static_cast<std::size_t>(about.st_size), '\0');
  const ssize_t count = pread(file.get(), bytes.data(), bytes.size(), 0);  // a regular file is read at once
  if (count < 0) return failed(path, "be read");
  bytes.resize(static_cast<std::size_t>(count));
  return bytes;
}

/// The rules of `agent`. Ignores an incomplete last line, which a crash left behind.
Result<std::vector<CallRule>> rules_in(std::string_view bytes, std::string_view agent,
                                       const std::string& path) {
  std::vector<CallRule> rules;
  std::size_t line = 1;
  for (std::size_t end = 0; (end = bytes.find('\n')) != std::string_view::npos; ++line) {
    const std::string_view text = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    auto json = parse_json(text);
    std::string whose;
    if (json && json->is_object()) {
      whose = json_string(*json, "agent");
      json->get_object().erase("agent");
    }
    auto rule = json ? call_rule_from_json(*json) : Result<CallRule>(fail(json.error()));
    if (!rule) return wrong(path, "line " + std::to_string(line) + ": " + rule.error().message);
    if (whose == agent) rules.push_back(*std::move(rule));
  }
  return rules;
}

/// Writes `bytes` at offset `where`. A failure leaves at most an incomplete line behind.
Status write_at(const FileDescriptor& file, off_t where, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = pwrite(file.get(), bytes.data(), bytes.size(), where);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failed(path, "be written");
    bytes.remove_prefix(static_cast<std::size_t>(count));
    where += count;
  }
  if (fsync(file.get()) != 0) return failed(path, "be written");
  return {};
}

}  // namespace

Result<std::vector<CallRule>> RememberedRules::of(std::string_view agent) const {
  const FileDescriptor file(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.get() < 0 && errno == ENOENT) return std::vector<CallRule>{};
  if (file.get() < 0) return failed(path_, "be opened");
  auto bytes = contents(file, path_);
  if (!bytes) return fail(bytes.error());
  return rules_in(*bytes, agent, path_);
}

Status RememberedRules::add(std::string_view agent, const CallRule& rule) const {
  Json line = to_json(rule);
  line.get_object()["agent"] = agent;
  const std::string text = to_json_text(line) + '\n';
  if (text.size() > kMaxRuleBytes) return wrong(path_, "the call is too long to be remembered");
  const FileDescriptor file(
      open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, S_IRUSR | S_IWUSR));
  if (file.get() < 0) return failed(path_, "be opened");
  keep_own_rights(file.get());
  if (flock(file.get(), LOCK_EX) != 0) return failed(path_, "be locked");
  const auto bytes = contents(file, path_);
  if (!bytes) return fail(bytes.error());
  const auto known = rules_in(*bytes, agent, path_);
  if (!known) return fail(known.error());
  if (std::ranges::find(*known, rule) != known->end()) return {};
  // Overwrites an incomplete last line.
  const std::size_t end = bytes->rfind('\n') == std::string::npos ? 0 : bytes->rfind('\n') + 1;
  if (end + text.size() > kMaxFileBytes)
    return wrong(path_, "is full; remove rules that are no longer needed");
  if (ftruncate(file.get(), static_cast<off_t>(end)) != 0) return failed(path_, "be written");
  return write_at(file, static_cast<off_t>(end), text, path_);
}

Result<CallRule> narrow_rule_for(const ParkedStep& step) {
  if (step.kind != ParkKind::kApproval) {
    return fail(ErrorCode::kInput, step.id.str() +
                                       " is not a call that awaits approval, so there is nothing to "
                                       "allow always");
  }
  auto arguments = step.arguments.empty() ? Result<Json>(JsonObject{}) : parse_json(step.arguments);
  if (!arguments || !arguments->is_object()) {
    return fail(ErrorCode::kInput, "the arguments of " + step.id.str() + " are not a JSON object");
  }
  return CallRule{step.tool, *std::move(arguments)};
}

void add_remembered(PolicyRules& rules, const std::vector<CallRule>& remembered) {
  for (const CallRule& rule : remembered) {
    if (asks_about(rules, rule.tool)) rules.calls.push_back(rule);
  }
}

}  // namespace praxis
