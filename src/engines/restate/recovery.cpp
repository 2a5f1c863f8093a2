#include "engines/restate/recovery.hpp"

#include <future>
#include <string>
#include <utility>
#include <vector>

#include "engines/restate/batch.hpp"

namespace praxis::restate {
namespace {

std::unexpected<Error> differs(const Append& append, std::uint64_t seq, const std::string& how) {
  return fail(ErrorCode::kJournal, ErrorKind::kCorrupt,
              "session " + append.lease.session.str() + ": the journal " + how + " record " +
                  std::to_string(seq) +
                  " of the engine; use the journal with which the run began, or cancel the invocation at the "
                  "engine");
}

bool is_same(const Entry& stored, const NewEntry& entry) {
  return stored.kind == entry.kind && stored.time == entry.time && stored.body == entry.body;
}

/// The number of entries of an append that the journal has already.
Result<std::size_t> stored_of(Journal& journal, const Append& append) {
  const auto row = journal.session(append.lease.session);
  if (!row && row.error().kind() != ErrorKind::kNotFound) return fail(row.error());
  const std::uint64_t head = row ? row->entries : 0;
  if (head < append.expected_seq) return differs(append, head + 1, "lacks what was before");
  const std::size_t known =
      std::min<std::size_t>(append.entries.size(), static_cast<std::size_t>(head - append.expected_seq));
  if (known == 0) return 0;
  const auto entries = journal.read(append.lease.session, append.expected_seq + 1, known);
  if (!entries) return fail(entries.error());
  for (std::size_t i = 0; i < entries->size(); ++i) {
    if (!is_same((*entries)[i], append.entries[i])) return differs(append, (*entries)[i].seq, "differs from");
  }
  return known;
}

Result<std::uint64_t> append_now(Journal& journal, Append append) {
  std::promise<Result<std::uint64_t>> promise;
  auto last = promise.get_future();
  journal.append(std::move(append),
                 [&promise](Result<std::uint64_t> stored) { promise.set_value(std::move(stored)); });
  return last.get();
}

Result<Lease> take_lease(Journal& journal, const Append& append) {
  if (append.expected_seq == 0) {
    auto lease = journal.create(append.lease.session, append.entries.front().time);
    if (lease || lease.error().kind() != ErrorKind::kExists) return lease;
  }
  return journal.acquire(append.lease.session, true);
}

/// Appends under a lease of its own. Messages that another process answered meanwhile stay answered.
Status store_rest(Journal& journal, Append append) {
  const auto lease = take_lease(journal, append);
  if (!lease) return fail(lease.error());
  append.lease = *lease;
  Append without = append;
  without.answers.clear();
  const bool has_answers = !append.answers.empty();
  auto last = append_now(journal, std::move(append));
  if (!last && has_answers) last = append_now(journal, std::move(without));
  journal.release(*lease);
  return last ? Status() : fail(last.error());
}

}  // namespace

Result<bool> recover_batch(Journal& journal, std::string_view batch) {
  auto appends = decode_batch(batch);
  if (!appends) return fail(appends.error());
  bool changed = false;
  for (Append& append : *appends) {
    if (append.entries.empty()) continue;
    const auto known = stored_of(journal, append);
    if (!known) return fail(known.error());
    if (*known == append.entries.size()) continue;
    append.entries.erase(append.entries.begin(),
                         append.entries.begin() + static_cast<std::ptrdiff_t>(*known));
    append.expected_seq += *known;
    if (auto stored = store_rest(journal, std::move(append)); !stored) return fail(stored.error());
    changed = true;
  }
  return changed;
}

}  // namespace praxis::restate
