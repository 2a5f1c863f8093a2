// Which protocol an exchange speaks, and with whom.
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

/// The protocol by the URL's path, else by the shape of the bodies; the provider by its base URL, else by the
/// name of the folder above the case, else the protocol's defaults; the model as it was asked for. Error:
/// `make_codec`'s.
Result<RecordedEndpoint> recognise(const Exchange& exchange, const std::string& folder,
                                   const Catalog& catalog);

}  // namespace praxis::wire
