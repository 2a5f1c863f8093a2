// The check `sql` compares rows of a database, and reads only.
#include "evals/sql_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>

namespace praxis::evals {
namespace {

using ::testing::HasSubstr;

class SqlCheckTest : public ::testing::Test {
 protected:
  SqlCheckTest() {
    std::string name = (std::filesystem::temp_directory_path() / "praxis_sql_check_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    place_.folder = name;
    sqlite3* database = nullptr;
    sqlite3_open((name + "/orders.db").c_str(), &database);
    sqlite3_exec(database, "CREATE TABLE o (id, state); INSERT INTO o VALUES (1, 'paid'), (2.0, 'open')",
                 nullptr, nullptr, nullptr);
    sqlite3_close(database);
  }
  ~SqlCheckTest() override { std::filesystem::remove_all(place_.folder); }

  /// The problem, "" for none, or the error.
  std::string judge(const std::string& statement, const char* rows, const char* database = "orders.db") {
    const Json table =
        JsonObject{{"sql", statement}, {"database", database}, {"rows", parse_json(rows).value()}};
    const auto check = read_check(table, nullptr);
    if (!check) return check.error().message;
    const auto found = problem_by_sql(std::get<checks::Sql>(*check), place_);
    return found ? found->value_or("") : "error: " + found.error().message;
  }

  ProgramPlace place_;
};

TEST_F(SqlCheckTest, Rows_AreComparedInOrder) {
  const std::string all = "SELECT id, state FROM o ORDER BY id";
  EXPECT_EQ(judge(all, R"([[1, "paid"], [2, "open"]])"), "") << "2 and 2.0 are the same";
  EXPECT_EQ(judge("SELECT 1 WHERE 0", "[]"), "");
  for (const char* wrong : {R"([[2, "open"], [1, "paid"]])", R"([[1, "paid"]])", "[]", R"([[1], [2]])",
                            R"([[1, "paid"], [2, "open"], [3, "open"]])", R"([["1", "paid"], [2, "open"]])"})
    EXPECT_THAT(judge(all, wrong), HasSubstr("expected " + to_json_text(*parse_json(wrong)))) << wrong;
}

TEST_F(SqlCheckTest, StatementThatCannotRun_IsAnError) {
  EXPECT_THAT(judge("SELECT nothing FROM o", "[]"), HasSubstr("error: "));
  EXPECT_THAT(judge("DELETE FROM o", "[]"), HasSubstr("error: "));
  EXPECT_THAT(judge("SELECT 1", "[[1]]", "missing.db"), HasSubstr("error: "));
  place_.hide = {place_.folder + "/orders.db"};
  EXPECT_THAT(judge("SELECT 1 FROM o", "[]"), HasSubstr("error: "));
}

TEST_F(SqlCheckTest, WrongTable_IsRefused) {
  EXPECT_THAT(judge("", "[]"), HasSubstr("\"sql\" must be a statement"));
  EXPECT_THAT(judge("SELECT 1", "[1]"), HasSubstr("each an array"));
}

}  // namespace
}  // namespace praxis::evals
