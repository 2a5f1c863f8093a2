#include "praxis/tools/kv_tool.hpp"

#include <map>
#include <mutex>

#include "praxis/tools/typed_tool.hpp"

namespace praxis {

namespace {

constexpr const char* kKvDescription =
    "Notes by key, kept while the program runs. `put` stores `value` under `key` and replaces what was "
    "there, `get` "
    "reads it, `delete` removes it, `list` names the keys, of those that start with `prefix` if given.";

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
  return {std::move(text), {{"key", key}}, {}, {{"kv", key, std::string(operation)}}};
}

/// Thread-safe.
class Notes {
 public:
  explicit Notes(KvLimits limits) : limits_(limits) {}

  Result<ToolOutput> run(KvRequest request) {
    std::lock_guard lock(mutex_);
    if (request.op == KvOp::kList) return list(request.prefix.value_or(""));
    if (!request.key) return fail(ErrorCode::kInput, "/key is missing: put, get and delete need it");
    switch (request.op) {
      case KvOp::kPut:
        if (!request.value) return fail(ErrorCode::kInput, "/value is missing: put needs it");
        return put(*request.key, std::move(*request.value));
      case KvOp::kGet:
        return get(*request.key);
      default:
        return erase(*request.key);
    }
  }

 private:
  Result<ToolOutput> put(const std::string& key, std::string value) {
    const auto old = entries_.find(key);
    const bool is_new = old == entries_.end();
    const std::size_t freed = is_new ? 0 : key.size() + old->second.size();
    const std::size_t bytes = bytes_ - freed + key.size() + value.size();
    if (bytes > limits_.max_bytes || (is_new && entries_.size() >= limits_.max_entries)) {
      return fail(ErrorCode::kLimit, "the store is full (" + std::to_string(entries_.size()) + " entries, " +
                                         std::to_string(bytes_) + " bytes); delete what is no longer needed");
    }
    entries_.insert_or_assign(key, std::move(value));
    bytes_ = bytes;
    return changed("stored " + key_in_quotes(key), "put", key);
  }

  ToolOutput get(const std::string& key) const {
    const auto found = entries_.find(key);
    if (found == entries_.end())
      return {"there is no " + key_in_quotes(key), {{"key", key}, {"found", false}}, {}, {}};
    return {found->second, {{"key", key}, {"found", true}, {"value", found->second}}, {}, {}};
  }

  ToolOutput erase(const std::string& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end())
      return {"there is no " + key_in_quotes(key), {{"key", key}, {"found", false}}, {}, {}};
    bytes_ -= key.size() + found->second.size();
    entries_.erase(found);
    return changed("deleted " + key_in_quotes(key), "delete", key);
  }

  ToolOutput list(const std::string& prefix) const {
    std::string text;
    JsonArray keys;
    for (auto it = entries_.lower_bound(prefix); it != entries_.end() && it->first.starts_with(prefix);
         ++it) {
      text += it->first + "\n";
      keys.emplace_back(it->first);
    }
    if (keys.empty()) text = "there are no keys";
    return {std::move(text), {{"keys", std::move(keys)}}, {}, {}};
  }

  const KvLimits limits_;
  std::mutex mutex_;
  std::map<std::string, std::string> entries_;
  std::size_t bytes_ = 0;
};

}  // namespace

Tool kv_tool(KvLimits limits) {
  auto notes = std::make_shared<Notes>(limits);
  Tool tool =
      make_tool("kv", kKvDescription, [notes](KvRequest request) { return notes->run(std::move(request)); });
  tool.definition.idempotent = true;
  tool.definition.safe_by_default = true;
  return tool;
}

}  // namespace praxis
