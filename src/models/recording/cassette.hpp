// Replays a cassette (docs/cassettes.md): reads recorded exchanges as if they came over the wire, without a
// network.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "models/file_models.hpp"
#include "praxis/models/catalog.hpp"
#include "praxis/models/model.hpp"

namespace praxis {

/// Whether a request must be equivalent to the recorded one, or is not checked.
enum class CassetteCheck : std::uint8_t { kNone, kRequests };

/// Makes the model that speaks a provider's protocol over the given client.
using ModelOver = std::function<Result<std::shared_ptr<Model>>(
    const ProviderFacts& provider, const std::string& model, std::shared_ptr<HttpClient> http)>;

/// A model that answers call number `ModelRequest::ordinal` with the recorded response of that number.
/// Protocol and model come from the recorded requests; if the recorded base URL belongs to a provider of
/// `catalog`, that provider's flags apply. A request beyond the recording, or one that differs from the
/// recorded request when checked, fails with a model error of kind `protocol`. Error `kInput`: the cassette
/// is unreadable (`read`) or empty.
Result<std::shared_ptr<Model>> cassette_model(const std::string& folder, const ReadFile& read,
                                              CassetteCheck check, const Catalog& catalog,
                                              std::shared_ptr<Executor> executor, ModelOver model_over);

/// The first place where two requests differ in meaning, as `at /messages/1/content: X instead of Y`; empty
/// if they are equivalent. Ignores the order of object keys, nulls, the spelling of numbers, and whether the
/// answer is streamed.
std::string first_difference(const Json& sent, const Json& recorded);

}  // namespace praxis
