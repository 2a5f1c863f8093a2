// How blobs that no entry names are found and removed, in any database.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "journal/blob_names.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis {

/// Some blobs, in the order of their digests, and whether an entry seen so far names them.
class SweptBlobs {
 public:
  bool empty() const { return blobs_.empty(); }
  std::size_t size() const { return blobs_.size(); }
  const Digest& last() const { return blobs_.back().digest; }
  const Digest& digest(std::size_t at) const { return blobs_[at].digest; }
  bool is_named(std::size_t at) const { return blobs_[at].is_named; }

  /// `digest` comes after all others.
  void add(const Digest& digest) { blobs_.push_back({digest, false}); }
  /// Marks all blobs that the body of an entry names; `name_of` gives the name under which a blob is stored.
  template <class NameOf = std::identity>
  void mark_named_in(std::string_view body, NameOf name_of = {}) {
    for_each_digest(body, [&](const Digest& digest) {
      const Digest name = name_of(digest);
      const auto place = std::ranges::lower_bound(blobs_, name, {}, &Each::digest);
      if (place != blobs_.end() && place->digest == name) place->is_named = true;
    });
  }
  void forget_named() {
    std::erase_if(blobs_, [](const Each& blob) { return blob.is_named; });
  }

 private:
  struct Each {
    Digest digest;
    bool is_named;
  };
  std::vector<Each> blobs_;
};

/// Removes unnamed blobs, some at a time. `Store` says how a database does it, with static functions:
/// - `next_blobs(connection, after, limit)`: the blobs after a digest, or from the first one; `SweptBlobs`;
/// - `mark_page(connection, blobs, seen)`: marks what some entries after the position `seen` name; returns
/// the
///   position of the last of them, or `seen` if there are no more;
/// - `block_appends(connection)`: until the transaction ends no entry is added;
/// - `remove_blob(connection, digest, swept)`: removes it and counts it.
template <class Store>
class BlobSweep {
 public:
  using Connection = Store::Connection;
  using Use = std::function<Status(Connection&)>;
  /// Uses a connection: to read, or within a durable transaction. May call its argument more than once.
  using With = std::function<Status(const Use&)>;

  BlobSweep(const With& reading, const With& writing) : reading_(reading), writing_(writing) {}

  Result<Swept> run() {
    std::optional<Digest> last;
    while (load(last) && !blobs_.empty()) {
      last = blobs_.last();
      if (!judge() || !remove()) break;
    }
    if (!status_) return fail(status_.error());
    return swept_;
  }

 private:
  static constexpr std::int64_t kBlobsPerPass = 65536;
  static constexpr std::size_t kBlobsPerRemoval = 200;  // so that no other writer waits for long

  bool keep(Status status) {
    status_ = std::move(status);
    return status_.has_value();
  }

  bool load(const std::optional<Digest>& after) {
    return keep(reading_([&](Connection& connection) -> Status {
      auto next = Store::next_blobs(connection, after, kBlobsPerPass);
      if (!next) return fail(std::move(next.error()));
      blobs_ = *std::move(next);
      return {};
    }));
  }

  /// Marks what the entries name that are there now. A page is read at a time, so that no reader keeps an
  /// old state of the journal for long.
  bool judge() {
    seen_ = 0;
    for (std::uint64_t before = 1; before != seen_;) {
      before = seen_;
      const bool read = keep(reading_([&](Connection& connection) -> Status {
        const auto page = Store::mark_page(connection, blobs_, before);
        if (!page) return fail(page.error());
        seen_ = *page;
        return {};
      }));
      if (!read) return false;
    }
    return true;
  }

  bool remove() {
    blobs_.forget_named();
    for (std::size_t first = 0; first < blobs_.size();) {
      std::size_t next = first;
      Swept swept;
      const bool written = keep(writing_([&](Connection& connection) -> Status {
        swept = {};
        const auto end = remove_some(connection, first, swept);
        if (!end) return fail(end.error());
        next = *end;
        return {};
      }));
      if (!written) return false;
      first = next;
      swept_.blobs += swept.blobs;
      swept_.bytes += swept.bytes;
    }
    return true;
  }

  /// Looks at the entries of the meantime first: until the commit, no append can add one.
  Result<std::size_t> remove_some(Connection& connection, std::size_t first, Swept& swept) {
    if (auto blocked = Store::block_appends(connection); !blocked) return fail(std::move(blocked.error()));
    std::uint64_t seen = seen_;
    for (bool more = true; more;) {
      const auto page = Store::mark_page(connection, blobs_, seen);
      if (!page) return fail(page.error());
      more = std::exchange(seen, *page) != *page;
    }
    std::size_t tried = 0;
    for (; first < blobs_.size() && tried < kBlobsPerRemoval; ++first) {
      if (blobs_.is_named(first)) continue;
      if (auto gone = Store::remove_blob(connection, blobs_.digest(first), swept); !gone)
        return fail(std::move(gone.error()));
      ++tried;
    }
    return first;
  }

  const With& reading_;
  const With& writing_;
  SweptBlobs blobs_;
  std::uint64_t seen_ = 0;  // position of the last entry that was looked at
  Swept swept_;
  Status status_;
};

}  // namespace praxis
