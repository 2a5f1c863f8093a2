// Answers from a cassette (docs/cassettes.md): recorded exchanges, read as the wire would be, without a
// network.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "praxis/models/model.hpp"

namespace praxis {

/// Whether a request must be the recorded one in meaning, or is not looked at.
enum class CassetteCheck : std::uint8_t { kNone, kRequests };

/// Makes the model that speaks a protocol over the given client.
using ModelOver = std::function<Result<std::shared_ptr<Model>>(
    const ProviderFacts& provider, const std::string& model, std::shared_ptr<HttpClient> http)>;

/// A model whose answer to call number `ModelRequest::ordinal` is the response of that exchange. Protocol and
/// model are those that the recorded requests name, and where a provider of `catalog` has the recorded base
/// URL, its flags hold. A request that differs from the recorded one when that is checked, and one that was
/// not recorded, end in model errors of kind `protocol`. Error `kInput`: the cassette cannot be read or is
/// empty.
Result<std::shared_ptr<Model>> cassette_model(const std::string& folder, CassetteCheck check,
                                              const Catalog& catalog, std::shared_ptr<Executor> executor,
                                              ModelOver model_over);

/// The first place where two requests differ in meaning, as `at /messages/1/content: X instead of Y`; empty
/// when they say the same. The order of an object's keys, nulls, the spelling of numbers, and whether the
/// answer is to be streamed say nothing.
std::string first_difference(const Json& sent, const Json& recorded);

}  // namespace praxis
