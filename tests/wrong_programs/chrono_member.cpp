// expects: the member since must be praxis::Millis
#include <praxis/tools/typed_tool.hpp>

struct Query {
  std::string text;
  std::chrono::seconds since;
};
PRAXIS_FIELDS(Query, text, since)
