// expects: a member function needs its object
#include <praxis/tools/typed_tool.hpp>

struct Store {
  std::string get(const std::string& key) const { return key; }
};
auto tool = praxis::tool<&Store::get>("Gets a value", {"key"});
