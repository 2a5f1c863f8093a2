// The text of a statement for PostgreSQL: named parameters, and the functions that statements of agents may
// not name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "praxis/tools/sql_tool.hpp"

namespace praxis {

/// The statement with `$1` for each `:name` if its parameters are an object, which become an array; otherwise
/// as given. Error `kInput` names a parameter that has no value, and a value without a parameter.
Result<SqlStatement> with_numbered_parameters(const SqlStatement& statement);

/// What a statement names of that which acts outside of its transaction, or runs a text as a statement; also
/// in quotes and comments, where an identifier could hide. None: the transaction bounds all that it names.
std::optional<std::string> refused_name_in(std::string_view text);

}  // namespace praxis
