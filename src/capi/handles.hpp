// The table behind the handles of the C interface. A handle is a number that is never used again, so a closed
// one cannot name a newer object, and a wrong one is found without reading the memory that it claims to name.
// Magic numbers in the objects would have to read freed memory for that.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "praxis/base/result.hpp"

namespace praxis::capi {

enum class Kind : std::uint8_t { kRuntime = 1, kAgent, kSession, kRun, kCall };

/// What every object of the table derives from; `T::kKind` names its kind.
struct Object {
  virtual ~Object() = default;
};

/// Thread-safe.
class Handles {
 public:
  /// The table of this process. It is never destroyed: threads of a runtime may outlive static objects.
  static Handles& all();

  template <class T>
  std::uint64_t add(std::shared_ptr<T> object, std::uint64_t owner = 0) {
    return add(T::kKind, std::move(object), owner);
  }
  /// The object, kept alive for as long as the caller has it. Error: `is_bad_handle`.
  template <class T>
  Result<std::shared_ptr<T>> find(std::uint64_t handle) const {
    auto object = find(T::kKind, handle);
    if (!object) return fail(std::move(object.error()));
    return std::static_pointer_cast<T>(*std::move(object));
  }
  /// The kind that the table has for the handle. Error: `is_bad_handle`.
  Result<Kind> kind_of(std::uint64_t handle) const;
  /// Takes the handle out of the table, with every handle that it owns; the caller destroys the objects.
  /// Empty if another thread was faster.
  std::vector<std::shared_ptr<Object>> remove(std::uint64_t handle);
  std::size_t size() const;

 private:
  struct Entry {
    Kind kind;
    std::shared_ptr<Object> object;
    std::uint64_t owner;
  };
  std::uint64_t add(Kind kind, std::shared_ptr<Object> object, std::uint64_t owner);
  Result<std::shared_ptr<Object>> find(Kind kind, std::uint64_t handle) const;

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Entry> entries_;
  std::uint64_t next_ = 1;
};

/// Whether the error says that a handle is closed, was never valid, or is of another kind.
bool is_bad_handle(const Error& error);

}  // namespace praxis::capi
