#include "praxis/tools/kv_tool.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "praxis/core/session_memory.hpp"
#include "praxis/tools/typed_tool.hpp"

namespace praxis {

namespace {

/// The name of the store in `MemoryChange`.
constexpr const char* kStore = "kv";
constexpr std::string_view kSessionNotes =
    "Notes by key, kept for the whole conversation, also when the program is restarted. ";
constexpr std::string_view kSharedNotes =
    "Notes by key, kept while the program runs and shared with other agents. ";
constexpr std::string_view kOperations =
    "`put` stores `value` under `key` and replaces what was there, `get` reads it, `delete` removes it, "
    "`list` "
    "names the keys, of those that start with `prefix` if given.";

enum class KvOp { kPut, kGet, kDelete, kList };
PRAXIS_ENUM(KvOp, kPut, kGet, kDelete, kList)

struct KvRequest {
  KvOp op;
  arg<std::optional<std::string>, "For put, get and delete"> key;
  arg<std::optional<std::string>, "For put: any text"> value;
  arg<std::optional<std::string>, "For list"> prefix;
};
PRAXIS_FIELDS(KvRequest, op, key, value, prefix)

std::string key_in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

ToolOutput changed(std::string text, std::string_view operation, const std::string& key) {
  return {std::move(text), {{"key", key}}, {}, {{kStore, key, std::string(operation)}}};
}

ToolOutput found(const std::string& key, std::optional<std::string> value) {
  if (!value) return {"there is no " + key_in_quotes(key), {{"key", key}, {"found", false}}, {}, {}};
  Json json{{"key", key}, {"found", true}, {"value", *value}};
  return {*std::move(value), std::move(json), {}, {}};
}

ToolOutput erased(const std::string& key, bool existed) {
  return existed ? changed("deleted " + key_in_quotes(key), "delete", key) : found(key, std::nullopt);
}

/// The keys of an ordered map that start with `prefix`.
template <class Map>
ToolOutput listed(const Map& entries, const std::string& prefix) {
  std::string text;
  JsonArray keys;
  for (auto it = entries.lower_bound(prefix); it != entries.end() && it->first.starts_with(prefix); ++it) {
    text += it->first + "\n";
    keys.emplace_back(it->first);
  }
  if (keys.empty()) text = "there are no keys";
  return {std::move(text), {{"keys", std::move(keys)}}, {}, {}};
}

struct Size {
  std::size_t entries = 0;
  std::size_t bytes = 0;  ///< keys and values together
};

Status check_room(const KvLimits& limits, const Size& now, const Size& after) {
  if (after.bytes <= limits.max_bytes && after.entries <= std::max(limits.max_entries, now.entries))
    return {};
  return fail(ErrorCode::kLimit, "the store is full (" + std::to_string(now.entries) + " entries, " +
                                     std::to_string(now.bytes) + " bytes); delete what is no longer needed");
}

Status check_members(const KvRequest& request) {
  if (request.op == KvOp::kList) return {};
  if (!request.key) return fail(ErrorCode::kInput, "/key is missing: put, get and delete need it");
  if (request.op == KvOp::kPut && !request.value)
    return fail(ErrorCode::kInput, "/value is missing: put needs it");
  return {};
}

/// One store in memory. Thread-safe.
class SharedNotes {
 public:
  explicit SharedNotes(KvLimits limits) : limits_(limits) {}

  Result<ToolOutput> run(KvRequest request) {
    if (auto ok = check_members(request); !ok) return fail(std::move(ok.error()));
    std::lock_guard lock(mutex_);
    switch (request.op) {
      case KvOp::kPut:
        return put(*request.key, *std::move(request.value));
      case KvOp::kGet: {
        const auto entry = entries_.find(*request.key);
        return found(*request.key, entry == entries_.end() ? std::nullopt : std::optional(entry->second));
      }
      case KvOp::kDelete:
        return erased(*request.key, erase(*request.key));
      case KvOp::kList:
        return listed(entries_, request.prefix.value_or(""));
    }
    std::unreachable();
  }

 private:
  Result<ToolOutput> put(const std::string& key, std::string value) {
    const auto old = entries_.find(key);
    const bool is_new = old == entries_.end();
    const std::size_t freed = is_new ? 0 : key.size() + old->second.size();
    const Size after{entries_.size() + (is_new ? 1 : 0), bytes_ - freed + key.size() + value.size()};
    if (auto ok = check_room(limits_, {entries_.size(), bytes_}, after); !ok)
      return fail(std::move(ok.error()));
    entries_.insert_or_assign(key, std::move(value));
    bytes_ = after.bytes;
    return changed("stored " + key_in_quotes(key), "put", key);
  }

  bool erase(const std::string& key) {
    const auto old = entries_.find(key);
    if (old == entries_.end()) return false;
    bytes_ -= key.size() + old->second.size();
    entries_.erase(old);
    return true;
  }

  const KvLimits limits_;
  std::mutex mutex_;
  std::map<std::string, std::string> entries_;
  std::size_t bytes_ = 0;
};

/// The value that a call of this tool has put.
std::string value_in(const std::string& arguments) {
  return json_string(parse_json(arguments).value_or(nullptr), "value");
}

/// The notes of the calling session. Changes nothing: once a call has settled, its arguments are the note.
class SessionNotes {
 public:
  SessionNotes(const CallScope& scope, const KvLimits& limits) : scope_(scope), limits_(limits) {}

  Result<ToolOutput> run(const KvRequest& request) const {
    if (auto ok = check_members(request); !ok) return fail(std::move(ok.error()));
    if (request.op == KvOp::kPut) return put(*request.key, *request.value);
    ToolOutput output;
    std::shared_ptr<const std::string> entry;
    auto read = scope_.read_memory(kStore, [&](const MemoryStore& store) {
      if (request.op == KvOp::kList) {
        output = listed(store.entries, request.prefix.value_or(""));
      } else if (const auto old = store.entries.find(*request.key); old != store.entries.end()) {
        entry = old->second;
      }
    });
    if (!read) return fail(std::move(read.error()));
    if (request.op == KvOp::kList) return output;
    if (request.op == KvOp::kDelete) return erased(*request.key, entry != nullptr);
    return found(*request.key, entry ? std::optional(value_in(*entry)) : std::nullopt);
  }

 private:
  using Entries = std::vector<std::pair<std::string, std::shared_ptr<const std::string>>>;

  Result<ToolOutput> put(const std::string& key, const std::string& value) const {
    const std::size_t added = key.size() + value.size();
    bool fits = false;
    Entries entries;
    auto read = scope_.read_memory(kStore, [&](const MemoryStore& store) {
      // The arguments of a call are longer than key and value, so that the exact size matters near the limit
      // only.
      fits = store.entries.size() < limits_.max_entries && store.bytes + added <= limits_.max_bytes;
      if (!fits) entries.assign(store.entries.begin(), store.entries.end());
    });
    if (read && !fits) read = check_exactly(entries, key, added);
    if (!read) return fail(std::move(read.error()));
    return changed("stored " + key_in_quotes(key), "put", key);
  }

  Status check_exactly(const Entries& entries, const std::string& key, std::size_t added) const {
    Size now{entries.size(), 0}, after{entries.size() + 1, added};
    for (const auto& [name, arguments] : entries) {
      const std::size_t bytes = name.size() + value_in(*arguments).size();
      now.bytes += bytes;
      if (name == key) {
        --after.entries;
      } else {
        after.bytes += bytes;
      }
    }
    return check_room(limits_, now, after);
  }

  const CallScope& scope_;
  const KvLimits& limits_;
};

/// `run` takes the context of the call and the request.
Tool notes_tool(std::string_view what, std::function<Result<ToolOutput>(ToolContext&, KvRequest)> run) {
  Tool tool = make_tool("kv", std::string(what).append(kOperations),
                        [run = std::move(run)](ToolContext& context, KvRequest request) {
                          return run(context, std::move(request));
                        });
  tool.definition.idempotent = true;
  tool.definition.safe_by_default = true;
  return tool;
}

}  // namespace

Tool kv_tool(KvLimits limits) {
  return notes_tool(
      kSessionNotes, [limits](ToolContext& context, const KvRequest& request) -> Result<ToolOutput> {
        if (context.scope) return SessionNotes(*context.scope, limits).run(request);
        return fail(ErrorCode::kInput, "this call is not part of a session, so it has no notes");
      });
}

Tool shared_kv_tool(KvLimits limits) {
  return notes_tool(kSharedNotes,
                    [notes = std::make_shared<SharedNotes>(limits)](ToolContext&, KvRequest request) {
                      return notes->run(std::move(request));
                    });
}

}  // namespace praxis
