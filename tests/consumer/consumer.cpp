// The smallest program that uses an installed Praxis: it must compile, link and run.
#include <iostream>

#include "praxis/json/json.hpp"

int main() {
  auto json = praxis::parse_json(R"({"answer": 42})");
  if (!json) return 1;
  std::cout << json->at("answer").as_int64() << '\n';
}
