#include "logs/blob_references.hpp"

#include <vector>

#include "journal/blob_names.hpp"

namespace praxis {
namespace {

constexpr std::size_t kEntriesAtOnce = 1000;

}  // namespace

Result<bool> BlobReferences::names(const SessionId& session, const Digest& digest) {
  const std::lock_guard lock(mutex_);
  if (kept_ > kMostKept) {
    known_.clear();
    kept_ = 0;
  }
  Known& known = known_[session];
  while (!known.digests.contains(digest)) {
    const auto entries = journal_->read(session, known.seq + 1, kEntriesAtOnce);
    if (!entries) return fail(entries.error());
    for (const Entry& entry : *entries) {
      for_each_digest(entry.body,
                      [&](const Digest& found) { kept_ += known.digests.insert(found).second ? 1 : 0; });
      known.seq = entry.seq;
    }
    if (entries->size() < kEntriesAtOnce) break;
  }
  return known.digests.contains(digest);
}

}  // namespace praxis
