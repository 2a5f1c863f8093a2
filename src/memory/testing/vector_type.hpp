// The type `vector` of pgvector for tests: the extension itself where the server has it, else a type with the
// same name, cast and operator, which Debian 12 needs because it has no package of pgvector.
#pragma once

#include <string>

#include "journal/postgres_connection.hpp"

namespace praxis::testing {

/// Makes the type visible in a schema of `PostgresServer::new_schema`; returns the address to use.
inline std::string with_vector_type(const std::string& address) {
  auto connection = PostgresConnection::open(address, false);
  if (!connection) return "";
  if (connection->execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public"))
    return address + "%2Cpublic";
  // Like the extension, the operator refuses vectors of different lengths.
  const bool made = connection
                        ->execute(R"sql(
CREATE TYPE vector AS (numbers real[]);
CREATE FUNCTION to_vector(real[]) RETURNS vector LANGUAGE sql IMMUTABLE AS 'SELECT ROW($1)::vector';
CREATE CAST (real[] AS vector) WITH FUNCTION to_vector(real[]);
CREATE FUNCTION negative_product(vector, vector) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF cardinality(($1).numbers) <> cardinality(($2).numbers) THEN RAISE 'different vector dimensions'; END IF;
  RETURN (SELECT -sum(a * b) FROM unnest(($1).numbers, ($2).numbers) AS t (a, b));
END $$;
CREATE OPERATOR <#> (LEFTARG = vector, RIGHTARG = vector, FUNCTION = negative_product);
)sql")
                        .has_value();
  return made ? address : "";
}

}  // namespace praxis::testing
