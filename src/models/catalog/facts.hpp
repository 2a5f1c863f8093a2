// Converts facts from and to JSON: the format of the compiled tables and of a user's corrections.
#pragma once

#include <string>

#include "praxis/models/catalog.hpp"

namespace praxis {

/// Applies the fields of `table` to `facts`; `path` names the table in errors. Error `kInput` names the
/// field.
Status correct(ModelFacts& facts, const Json& table, const std::string& path);
Status correct(ProviderFacts& facts, const Json& table, const std::string& path);

/// Parses one line of the model table: the fields that `correct` reads for a model, plus `provider`, `id` and
/// one dialect per protocol, of which the one for `api` is used. The line comes from the compiled table and
/// is assumed to be well-formed.
ModelFacts facts_of_line(std::string_view line, std::string_view api);

/// The dialect flags of a provider, overridden by those of one of its models; null if there are no flags.
Json dialect_of(const ProviderFacts& provider, const ModelFacts& model);

}  // namespace praxis
