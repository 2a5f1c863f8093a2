#include "capi/handles.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "praxis/json/json.hpp"

namespace praxis::capi {
namespace {

constexpr std::uint64_t kKindBits = 3;  // the lowest bits name the kind, for messages about closed handles
constexpr std::uint64_t kKinds = (1U << kKindBits) - 1;
constexpr const char* kBadHandle = "bad_handle";

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kRuntime:
      return "a runtime";
    case Kind::kAgent:
      return "an agent";
    case Kind::kSession:
      return "a session";
    case Kind::kRun:
      return "a run";
    case Kind::kCall:
      return "a call";
  }
  return "an object";
}

std::unexpected<Error> bad_handle(std::string message) {
  return fail(make_error(ErrorCode::kInput, std::move(message)).set("kind", kBadHandle));
}

}  // namespace

bool is_bad_handle(const Error& error) { return json_text(error.detail(), "kind") == kBadHandle; }

Handles& Handles::all() {
  static auto* const kTable = new Handles;
  return *kTable;
}

std::uint64_t Handles::add(Kind kind, std::shared_ptr<Object> object, std::uint64_t owner) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t handle = (next_++ << kKindBits) | static_cast<std::uint64_t>(kind);
  entries_.emplace(handle, Entry{kind, std::move(object), owner});
  return handle;
}

Result<Kind> Handles::kind_of(std::uint64_t handle) const {
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(handle);
  if (entry != entries_.end()) return entry->second.kind;
  const std::uint64_t number = handle >> kKindBits, kind = handle & kKinds;
  const bool was_given = number > 0 && number < next_ && kind >= 1 && kind <= 5;
  if (!was_given) return bad_handle(std::to_string(handle) + " was never a handle");
  return bad_handle("the handle of " + std::string(name_of(static_cast<Kind>(kind))) + " is closed already");
}

Result<std::shared_ptr<Object>> Handles::find(Kind kind, std::uint64_t handle) const {
  {
    const std::lock_guard lock(mutex_);
    const auto entry = entries_.find(handle);
    if (entry != entries_.end() && entry->second.kind == kind) return entry->second.object;
  }
  const auto given = kind_of(handle);
  if (!given) return fail(given.error());
  return bad_handle("the handle is that of " + std::string(name_of(*given)) + ", not of " + name_of(kind));
}

std::vector<std::shared_ptr<Object>> Handles::remove(std::uint64_t handle) {
  std::vector<std::shared_ptr<Object>> removed;
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(handle);
  if (entry == entries_.end()) return removed;
  removed.push_back(std::move(entry->second.object));
  const bool owns = entry->second.kind == Kind::kRuntime;
  entries_.erase(entry);
  if (!owns) return removed;
  for (auto it = entries_.begin(); it != entries_.end();) {
    if (it->second.owner != handle) {
      ++it;
      continue;
    }
    removed.push_back(std::move(it->second.object));
    it = entries_.erase(it);
  }
  return removed;
}

std::size_t Handles::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace praxis::capi
