// What the answers of the server's own API hold: the part of its description from which clients make types.
#pragma once

#include <string_view>

#include "praxis/json/json.hpp"

namespace praxis::server {

/// The JSON Schemas of answers and their parts, by name: `components.schemas` of the OpenAPI document. An
/// answer may have members that its schema does not name.
JsonObject answer_schemas();
/// The name of the schema of the answer to a request, such as `GET /api/v1/runs`; empty: an object.
std::string_view answer_schema_of(std::string_view method, std::string_view path);

}  // namespace praxis::server
