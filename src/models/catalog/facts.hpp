// Facts as JSON: the form of the compiled tables and of a user's corrections alike.
#pragma once

#include <string>

#include "praxis/models/catalog.hpp"

namespace praxis {

/// Lays the fields of `table` over `facts`; `path` names the table in errors. Error `kInput` naming the
/// field.
Status correct(ModelFacts& facts, const Json& table, const std::string& path);
Status correct(ProviderFacts& facts, const Json& table, const std::string& path);

/// Reads what `correct` of a model reads, and `provider`, `id` and a dialect for each protocol, of which that
/// of `api` is taken. The line is the table's own: it is taken to be well-formed.
ModelFacts facts_of_line(std::string_view line, std::string_view api);

/// The flags of a provider, overlaid with those of one of its models; null when there are none.
Json dialect_of(const ProviderFacts& provider, const ModelFacts& model);

}  // namespace praxis
