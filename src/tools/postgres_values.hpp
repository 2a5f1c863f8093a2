// Parameters and values of PostgreSQL as JSON: null, booleans, numbers, strings, `{"base64": "..."}` for
// bytes.
#pragma once

#include <string_view>
#include <vector>

#include "praxis/json/json.hpp"
#include "tools/postgres_link.hpp"

namespace praxis {

/// The parameters of a statement that `PostgresLink::describe` has described. Error `kInput` names the
/// parameter that does not fit.
Result<std::vector<PostgresParameter>> postgres_parameters(const pq::Library& library,
                                                           const PostgresAnswer& described,
                                                           const Json& values);

/// What the server gave as text for a value of the type with this number. A number that JSON's would round
/// remains text, as does a value of any type without a form of its own in JSON.
Json postgres_value(unsigned type, std::string_view text);

/// The value of a row; null if it is.
Json postgres_value_at(const pq::Library& library, const PostgresAnswer& answer, int row, int column);

}  // namespace praxis
