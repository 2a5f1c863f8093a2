// Determines the protocol of a recorded exchange and its provider.
#pragma once

#include <string>

#include "models/codec.hpp"
#include "wire/recording.hpp"

namespace praxis::wire {

struct RecordedEndpoint {
  std::string api;  ///< as in `ProviderFacts::api`
  CodecTarget target;
  CodecPtr codec;
};

/// Determines the protocol by the URL's path, else by the shape of the bodies; the provider by its base URL,
/// else by the name of the case's parent folder, else the protocol's defaults; the model as requested. Errors
/// as `make_codec`.
Result<RecordedEndpoint> recognise(const Exchange& exchange, const std::string& folder,
                                   const Catalog& catalog);

}  // namespace praxis::wire
