#include "capi/boundary.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "capi/handles.hpp"
#include "praxis/base/utf8.hpp"

namespace praxis::capi {
namespace {

constexpr const char* kNoMemory = R"({"code":"internal","message":"out of memory","retriable":false})";
constexpr std::chrono::milliseconds kLongest = std::chrono::hours(1);

/// The last error of a thread.
struct LastError {
  bool is_set = false;
  std::optional<std::string> text;  ///< nothing: there was no memory for it
};
thread_local LastError last;

}  // namespace

praxis_status failed(const Error& error) noexcept {
  const bool bad_handle = is_bad_handle(error);
  last.is_set = true;
  last.text.reset();
  try {
    Json json = to_json(error);
    if (bad_handle) json.as_object()["code"] = "bad_handle";
    last.text = to_json_text(json);
  } catch (...) {
    last.text.reset();
  }
  return bad_handle ? PRAXIS_BAD_HANDLE : static_cast<praxis_status>(static_cast<int>(error.code) + 1);
}

praxis_status failed_by(const char* what) noexcept {
  try {
    return failed(make_error(ErrorCode::kInternal, std::string("unexpected: ") + what));
  } catch (...) {
    last.is_set = true;
    last.text.reset();
    return PRAXIS_INTERNAL;
  }
}

void forget_error() noexcept { last.is_set = false; }

const char* last_error() noexcept {
  if (!last.is_set) return nullptr;
  return last.text ? last.text->c_str() : kNoMemory;
}

Result<std::string> text_of(const char* text, const char* name) {
  if (text == nullptr) return fail(ErrorCode::kInput, std::string(name) + " is NULL");
  std::string copy(text);
  if (repair_utf8(copy) != copy) return fail(ErrorCode::kInput, std::string(name) + " is not valid UTF-8");
  return copy;
}

Result<Json> json_of(const char* text, const char* name) {
  if (text == nullptr) return Json(nullptr);
  auto copy = text_of(text, name);
  if (!copy) return fail(std::move(copy.error()));
  auto json = parse_json(*copy);
  if (!json) return fail(ErrorCode::kInput, std::string(name) + ": " + json.error().message);
  return json;
}

Status give(char** out, std::string_view text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));  // NOLINT: the caller of C releases it
  if (copy == nullptr) return fail(ErrorCode::kInternal, "out of memory");
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  *out = copy;
  return {};
}

Deadline::Deadline(std::int64_t milliseconds)
    : never_(milliseconds < 0),
      at_(std::chrono::steady_clock::now() +
          std::chrono::milliseconds(std::clamp<std::int64_t>(milliseconds, 0, std::int64_t{1} << 40))) {}

std::chrono::milliseconds Deadline::left() const {
  if (never_) return kLongest;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(at_ - std::chrono::steady_clock::now());
  return std::clamp(left, std::chrono::milliseconds(0), kLongest);
}

}  // namespace praxis::capi
