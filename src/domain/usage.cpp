#include "praxis/domain/usage.hpp"

#include <cmath>

#include "domain/json_forms.hpp"

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

void write(JsonFields& out, const Usage& usage) {
  out.number("total", usage.total());
  write_counts(out, usage);
}

void write_counts(JsonFields& out, const Usage& usage) {
  const auto put = [&](std::string_view key, std::int64_t count) {
    if (count != 0) out.number(key, count);
  };
  out.number("input", usage.input);
  out.number("output", usage.output);
  put("cache_read", usage.cache_read);
  put("cache_write", usage.cache_write);
  put("cache_write_long", usage.cache_write_long);
  put("reasoning", usage.reasoning);
  if (usage.cost.value != 0) out.value("cost_usd", usage.cost.usd());
  if (usage.estimated) out.flag("estimated", true);
}

Json to_json(const Usage& usage) {
  return object_of([&](JsonFields& out) { write(out, usage); });
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
