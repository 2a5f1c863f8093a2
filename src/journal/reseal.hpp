// Seals a journal, and changes its keys. For one caller at a time, while no process has the journal open. A
// kill at any instruction leaves the journal in its old or its new state, never between.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "journal/journal_keys.hpp"
#include "praxis/seal/secret.hpp"

namespace praxis {

/// Called before each step with its name. What it throws or does not return from is, for the journal, a kill.
using OnSealStep = std::function<void(std::string_view step)>;

/// How the journal at `path` is sealed; nothing: it is plain. Errors as of opening it for reading.
Result<std::optional<StoredSeal>> seal_of_journal(const std::string& path);

/// Seals a plain journal; of a sealed one removes what a kill has left of its plain values. Errors
/// `lease_held` while a process has the journal open, `corrupt` for a journal with damage, `key`, `full`,
/// `io`.
Status seal_journal(const std::string& path, const SealSecret& secret, UnixMillis now,
                    const OnSealStep& on_step = {});
/// Wraps the data key of a sealed journal with another secret. Errors as above.
Status rekey_journal(const std::string& path, const SealSecret& old_secret, const SealSecret& new_secret,
                     const OnSealStep& on_step = {});
/// Makes a new data key and seals every value of a sealed journal with it. Errors as above.
Status renew_journal_key(const std::string& path, const SealSecret& secret, UnixMillis now,
                         const OnSealStep& on_step = {});

}  // namespace praxis
