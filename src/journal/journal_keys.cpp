#include "journal/journal_keys.hpp"

#include <utility>

#include "journal/chain.hpp"
#include "journal/journal_file.hpp"

namespace praxis {
namespace {

constexpr std::string_view kStore = "journal";

Error no_key(const std::string& path, const std::string& what) {
  return journal_error(ErrorKind::kKey, "journal " + path + " is sealed" + what);
}

}  // namespace

Status insert_seal(Database& database, const StoredSeal& seal) {
  if (auto inserted = insert_stored_seal(database, kStore, seal); !inserted) return inserted;
  return mark_as_sealed(database);
}

Status update_seal(Database& database, const StoredSeal& seal) {
  return update_stored_seal(database, kStore, seal);
}

Result<std::optional<StoredSeal>> select_seal(Database& database) {
  const auto sealed = is_marked_as_sealed(database);
  if (!sealed) return fail(sealed.error());
  if (!*sealed) return std::nullopt;
  return select_stored_seal(database, kStore);
}

Result<SealKey> unwrap_journal_key(const std::string& path, const StoredSeal& seal,
                                   const SealSecret& secret) {
  auto key = unwrap_key(seal.key, secret);
  if (key) return key;
  return fail(no_key(
      path, ", and the key that encryption.journal_key gives does not open it: " + key.error().message));
}

Result<std::shared_ptr<const Sealer>> JournalKeys::sealer_for(const StoredSeal& seal) {
  const std::lock_guard lock(mutex_);
  if (sealer_ && opened_ == seal.key.bytes) return sealer_;
  if (!ask_)
    return fail(
        no_key(journal_, ", and no key is set: give one with encryption.journal_key in your configuration"));
  const auto secret = ask_();
  if (!secret) return fail(no_key(journal_, ", and its key is not there: " + secret.error().message));
  const auto key = unwrap_journal_key(journal_, seal, **secret);
  if (!key) return fail(key.error());
  sealer_ = std::make_shared<const Sealer>(*key);
  opened_ = seal.key.bytes;
  return sealer_;
}

Status JournalKeys::unlock(Database& database) {
  const auto seal = select_seal(database);
  if (!seal) return fail(seal.error());
  if (!*seal) return {};
  auto sealer = sealer_for(**seal);
  if (!sealer) return fail(std::move(sealer.error()));
  database.set_sealer(*std::move(sealer));
  return {};
}

}  // namespace praxis
