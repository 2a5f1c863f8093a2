// Removes secrets from a model's answer before anyone reads or records it: a server can return the key that
// it was sent.
#pragma once

#include <memory>

#include "praxis/models/model.hpp"
#include "redact/known_secrets.hpp"

namespace praxis {

/// Returns a sink that passes on to `sink` what it receives, without the secrets of `redactor`. The end of a
/// piece of text that may be the beginning of a secret waits for the next piece. Vendor states are redacted
/// too. Like every sink, it serves one call.
std::shared_ptr<ModelSink> redacting_sink(std::shared_ptr<const Redactor> redactor,
                                          std::shared_ptr<ModelSink> sink);

}  // namespace praxis
