// Describes the JSON form of a value once and writes it either as a tree or directly as text. Records and
// message digests write text, which costs a fraction of building the tree first.
#pragma once

#include <charconv>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"

namespace praxis {

/// Whether a JSON string cannot hold `text` unchanged: quotes, back-slashes, control characters, or not
/// ASCII.
bool needs_escape(std::string_view text);

/// Receives the fields of one object, in order; each key once. Keys hold no characters that JSON must escape.
class JsonFields {
 public:
  using Write = std::function<void(JsonFields&)>;

  virtual ~JsonFields() = default;
  virtual void text(std::string_view key, std::string_view value) = 0;
  virtual void number(std::string_view key, std::int64_t value) = 0;
  virtual void value(std::string_view key, const Json& value) = 0;
  /// Writes a value that is JSON text already.
  virtual void json(std::string_view key, std::string_view text) = 0;
  virtual void object(std::string_view key, const Write& write) = 0;
  /// Writes an array of `count` objects.
  virtual void objects(std::string_view key, std::size_t count,
                       const std::function<void(std::size_t index, JsonFields&)>& write) = 0;

  void flag(std::string_view key, bool set) { value(key, Json(set)); }
  void text_if_any(std::string_view key, std::string_view value) {
    if (!value.empty()) text(key, value);
  }
};

class TextFields final : public JsonFields {
 public:
  explicit TextFields(std::string& out) : out_(out) {}

  void text(std::string_view key, std::string_view value) override {
    if (needs_escape(value)) return append_json_string(named(key), value);
    grow(key, value.size() + 2, [value](char* at) {
      *at++ = '"';
      at += value.copy(at, value.size());
      *at = '"';
    });
  }
  void number(std::string_view key, std::int64_t value) override {
    char digits[24];
    const char* const end = std::to_chars(digits, std::end(digits), value).ptr;
    json(key, {digits, end});
  }
  void value(std::string_view key, const Json& value) override { append_json(named(key), value); }
  void json(std::string_view key, std::string_view text) override {
    grow(key, text.size(), [text](char* at) { text.copy(at, text.size()); });
  }
  void object(std::string_view key, const Write& write) override {
    named(key);
    whole(write);
  }
  void objects(std::string_view key, std::size_t count,
               const std::function<void(std::size_t, JsonFields&)>& write) override {
    named(key) += '[';
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) out_ += ',';
      whole([&](JsonFields& fields) { write(i, fields); });
    }
    out_ += ']';
  }

  /// Writes braces around the output of `write`.
  template <class F>
  void whole(F&& write) {
    const bool outer = std::exchange(empty_, true);
    out_ += '{';
    write(*this);
    out_ += '}';
    empty_ = outer;
  }

 private:
  std::string& named(std::string_view key) {
    grow(key, 0, [](char*) {});
    return out_;
  }

  /// Appends the key, and `room` bytes that `fill` writes.
  template <class F>
  void grow(std::string_view key, std::size_t room, F&& fill) {
    const bool first = std::exchange(empty_, false);
    const std::size_t before = out_.size(), after = before + key.size() + (first ? 3 : 4) + room;
    out_.resize_and_overwrite(
        after, [&](char* all, std::size_t) {  // libstdc++ 12 passes the capacity here, not the requested size
          char* at = all + before;
          if (!first) *at++ = ',';
          *at++ = '"';
          at += key.copy(at, key.size());
          *at++ = '"';
          *at++ = ':';
          fill(at);
          return after;
        });
  }

  std::string& out_;
  bool empty_ = true;
};

class TreeFields final : public JsonFields {
 public:
  void text(std::string_view key, std::string_view value) override { out_[key] = value; }
  void number(std::string_view key, std::int64_t value) override { out_[key] = value; }
  void value(std::string_view key, const Json& value) override { out_[key] = value; }
  void json(std::string_view key, std::string_view text) override {
    out_[key] = parse_json(text).value_or(nullptr);
  }
  void object(std::string_view key, const Write& write) override {
    TreeFields inner;
    write(inner);
    out_[key] = std::move(inner).release();
  }
  void objects(std::string_view key, std::size_t count,
               const std::function<void(std::size_t, JsonFields&)>& write) override {
    JsonArray list;
    for (std::size_t i = 0; i < count; ++i) {
      TreeFields inner;
      write(i, inner);
      list.push_back(std::move(inner).release());
    }
    out_[key] = std::move(list);
  }
  JsonObject release() && { return std::move(out_); }

 private:
  JsonObject out_;
};

template <class F>
void append_object(std::string& out, F&& write) {
  TextFields(out).whole(write);
}

template <class F>
JsonObject object_of(F&& write) {
  TreeFields fields;
  write(fields);
  return std::move(fields).release();
}

void write(JsonFields& out, const Error& error);

}  // namespace praxis
