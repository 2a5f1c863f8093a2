// For tests: asks an SQL connector, and shows what it answers as text.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "praxis/json/json.hpp"
#include "praxis/tools/sql_tool.hpp"

namespace praxis {

class SqlAsking {
 public:
  virtual ~SqlAsking() = default;

 protected:
  virtual std::shared_ptr<SqlClient> client(SqlOptions options) const = 0;

  Result<SqlRows> query(const std::string& text, Json parameters = {}, SqlOptions options = {}) const {
    return client(std::move(options))->query({text, std::move(parameters)});
  }
  /// The rows one after the other, or the message of the error.
  std::string rows(const std::string& text, Json parameters = {}) const {
    const auto result = query(text, std::move(parameters));
    if (!result) return result.error().message;
    std::string all;
    for (const JsonArray& row : result->rows) all += to_json_text(row);
    return all;
  }
  Error error(const std::string& text, Json parameters = {}, SqlOptions options = {}) const {
    auto result = query(text, std::move(parameters), std::move(options));
    return result ? make_error(ErrorCode::kInternal, "it ran") : result.error();
  }
};

}  // namespace praxis
