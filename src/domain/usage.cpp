#include "praxis/domain/usage.hpp"

#include <cmath>

namespace praxis {

Usage& Usage::operator+=(const Usage& other) {
  input += other.input;
  output += other.output;
  cache_read += other.cache_read;
  cache_write += other.cache_write;
  cache_write_long += other.cache_write_long;
  reasoning += other.reasoning;
  cost.value += other.cost.value;
  estimated = estimated || other.estimated;
  return *this;
}

Usage operator+(Usage a, const Usage& b) { return a += b; }

Json to_json(const Usage& usage) {
  JsonObject out{{"input", usage.input}, {"output", usage.output}, {"total", usage.total()}};
  if (usage.cache_read != 0) out["cache_read"] = usage.cache_read;
  if (usage.cache_write != 0) out["cache_write"] = usage.cache_write;
  if (usage.cache_write_long != 0) out["cache_write_long"] = usage.cache_write_long;
  if (usage.reasoning != 0) out["reasoning"] = usage.reasoning;
  if (usage.cost.value != 0) out["cost_usd"] = usage.cost.usd();
  if (usage.estimated) out["estimated"] = true;
  return out;
}

Usage usage_from_json(const Json& json) {
  Usage usage;
  usage.input = json_int(json, "input");
  usage.output = json_int(json, "output");
  usage.cache_read = json_int(json, "cache_read");
  usage.cache_write = json_int(json, "cache_write");
  usage.cache_write_long = json_int(json, "cache_write_long");
  usage.reasoning = json_int(json, "reasoning");
  usage.cost = {std::llround(json_double(json, "cost_usd") * 1e6)};
  usage.estimated = json_bool(json, "estimated");
  return usage;
}

}  // namespace praxis
