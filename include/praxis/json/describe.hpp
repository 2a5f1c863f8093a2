// Reads and writes plain structs and enums as JSON. `PRAXIS_FIELDS` and `PRAXIS_ENUM` list the members of a
// type once; its JSON Schema, its reader and its writer follow from that list. Used by typed tools
// (typed_tool.hpp), structured answers and settings, which may omit members.
//
//   enum class Unit { kCelsius, kFahrenheit };
//   PRAXIS_ENUM(Unit, kCelsius, kFahrenheit)                 // written "celsius", "fahrenheit"
//   struct City { praxis::arg<std::string, "City, e.g. Paris"> name; std::optional<Unit> unit; };
//   PRAXIS_FIELDS(City, name, unit)
//
// Members may be bool, integers, floating point, std::string, Json, durations (Millis), described structs and
// enums, and std::optional, std::vector and std::map<std::string, ...> of these. Use both macros in the
// namespace of the type.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "praxis/base/time.hpp"
#include "praxis/json/json.hpp"

#pragma GCC visibility push(default)
namespace praxis {

// `arg` takes the place of a member's type, so it is named and converts like that type.
// NOLINTBEGIN(google-explicit-constructor, readability-identifier-naming)

/// A string literal as a template argument.
template <std::size_t N>
struct FixedString {
  char text[N]{};
  constexpr FixedString(const char (&literal)[N]) { std::copy_n(literal, N, text); }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

/// A member with a description for its JSON Schema; otherwise it behaves as a `T`.
template <class T, FixedString Description>
struct arg {
  T value{};
  constexpr arg() = default;
  constexpr arg(T v) : value(v) {}
  constexpr operator T&() { return value; }
  constexpr operator const T&() const { return value; }
};
template <class T, FixedString Description>
  requires std::is_class_v<T>
struct arg<T, Description> : T {
  arg() = default;
  template <class U>
    requires std::convertible_to<U, T>
  arg(U&& v) : T(std::forward<U>(v)) {}
};
// NOLINTEND(google-explicit-constructor, readability-identifier-naming)

/// Makes `Type`, an aggregate, usable as JSON: `PRAXIS_FIELDS(City, name, unit)`.
#define PRAXIS_FIELDS(Type, ...)                                                   \
  [[maybe_unused]] constexpr auto praxis_fields(const Type*) {                     \
    using Described [[maybe_unused]] = Type;                                       \
    __VA_OPT__(PRAXIS_EXPAND(PRAXIS_CHECK_EACH(__VA_ARGS__)))                      \
    return std::tuple{__VA_OPT__(PRAXIS_EXPAND(PRAXIS_FIELDS_EACH(__VA_ARGS__)))}; \
  }
/// Makes an enum usable as JSON, by the names of its enumerators; `kSomeName` is written `some_name`.
#define PRAXIS_ENUM(Type, ...)                                       \
  [[maybe_unused]] constexpr auto praxis_enumerators(const Type*) {  \
    using Described [[maybe_unused]] = Type;                         \
    return std::array{PRAXIS_EXPAND(PRAXIS_ENUM_EACH(__VA_ARGS__))}; \
  }

/// Returns the JSON Schema (2020-12) of `T`. A struct's schema allows no unknown members and requires all
/// members that are not optional; a struct nested within itself becomes a `$ref`.
template <class T>
Json schema_of();
/// Reads a `T`. Error `kInput`, whose message starts with the path (JSON Pointer) of the offending value.
/// Ignores members that `T` does not have; `null` counts as an absent optional.
template <class T>
Result<T> from_json_as(const Json& json);
/// Writes members in the order of `PRAXIS_FIELDS`; omits absent optionals.
template <class T>
Json to_json_value(const T& value);
/// Reads settings: lays the members of `json`, an object or null, over those of `value`. Error `kInput`: a
/// member that does not fit, as in `"NAME.member" must be true or false`, or one that `T` does not have, with
/// the nearest known one. After an error `value` is partly changed.
template <class T>
Status read_settings(const Json& json, const std::string& name, T& value);

// Implementation of the above; do not use the declarations below directly.

#define PRAXIS_PARENS ()
#define PRAXIS_EXPAND(...) PRAXIS_EXPAND_3(PRAXIS_EXPAND_3(PRAXIS_EXPAND_3(PRAXIS_EXPAND_3(__VA_ARGS__))))
#define PRAXIS_EXPAND_3(...) PRAXIS_EXPAND_2(PRAXIS_EXPAND_2(PRAXIS_EXPAND_2(PRAXIS_EXPAND_2(__VA_ARGS__))))
#define PRAXIS_EXPAND_2(...) PRAXIS_EXPAND_1(PRAXIS_EXPAND_1(PRAXIS_EXPAND_1(PRAXIS_EXPAND_1(__VA_ARGS__))))
#define PRAXIS_EXPAND_1(...) __VA_ARGS__
#define PRAXIS_FIELDS_EACH(member, ...) \
  ::praxis::Field{#member, &Described::member} __VA_OPT__(, PRAXIS_FIELDS_AGAIN PRAXIS_PARENS(__VA_ARGS__))
#define PRAXIS_FIELDS_AGAIN() PRAXIS_FIELDS_EACH
#define PRAXIS_CHECK_EACH(member, ...)                                                                    \
  static_assert(!std::is_pointer_v<decltype(Described::member)>,                                          \
                "the member " #member " is a pointer; use std::string, or std::optional of its type");    \
  static_assert(!::praxis::kIsForeignTime<decltype(Described::member)>,                                   \
                "the member " #member " must be praxis::Millis, the only type of std::chrono with JSON"); \
  __VA_OPT__(PRAXIS_CHECK_AGAIN PRAXIS_PARENS(__VA_ARGS__))
#define PRAXIS_CHECK_AGAIN() PRAXIS_CHECK_EACH
#define PRAXIS_ENUM_EACH(enumerator, ...) \
  ::praxis::Enumerator<Described>{        \
      #enumerator, Described::enumerator} __VA_OPT__(, PRAXIS_ENUM_AGAIN PRAXIS_PARENS(__VA_ARGS__))
#define PRAXIS_ENUM_AGAIN() PRAXIS_ENUM_EACH

/// Whether a type is a time of std::chrono without JSON form.
template <class T>
inline constexpr bool kIsForeignTime = false;
template <class Count, class Period>
inline constexpr bool kIsForeignTime<std::chrono::duration<Count, Period>> =
    !std::same_as<std::chrono::duration<Count, Period>, Millis>;
template <class Clock, class Duration>
inline constexpr bool kIsForeignTime<std::chrono::time_point<Clock, Duration>> = true;

template <class Struct, class T>
struct Field {
  std::string_view name;
  T Struct::* member;
};
template <class Struct, class T>
Field(const char*, T Struct::*) -> Field<Struct, T>;

template <class Enum>
struct Enumerator {
  std::string_view name;
  Enum value;
};

template <class T>
concept DescribedStruct = requires(const T* type) { praxis_fields(type); };
template <class T>
concept DescribedEnum = requires(const T* type) { praxis_enumerators(type); };

/// A position in the schema under construction, and the struct described at that position.
struct SchemaPlace {
  std::string pointer = "#";
  const void* type = nullptr;
  const SchemaPlace* parent = nullptr;

  SchemaPlace child(std::string_view step) const { return {pointer + std::string(step), nullptr, this}; }
  /// Returns the nearest enclosing place that describes `wanted`; null if not found.
  const SchemaPlace* find(const void* wanted) const;
};

/// Where a member stands: a JSON Pointer, or, below a path that starts with a name, dotted as in a settings
/// file.
std::string member_path(const std::string& path, std::string_view member);
std::string item_path(const std::string& path, std::size_t index);
std::unexpected<Error> misfit(const std::string& path, std::string_view problem);
/// Error `kInput`: the object at `path` has a member that is not `known`; names the nearest one.
std::unexpected<Error> unknown_member(const std::string& path, std::string_view member,
                                      std::span<const std::string_view> known);
std::string must_be_integer(std::int64_t least, std::int64_t most);
std::string must_be_one_of(std::span<const std::string> words);
inline constexpr std::string_view kMustBeDuration =
    "must be a duration such as \"500ms\", \"30s\", \"5m\" or \"2h\", or an integer of milliseconds";
std::string enumerator_name(std::string_view name);
Json enum_schema(std::span<const std::string_view> names);
Result<std::size_t> read_enumerator(const Json& json, const std::string& path,
                                    std::span<const std::string_view> names);
Result<std::int64_t> read_integer(const Json& json, const std::string& path, std::int64_t least,
                                  std::int64_t most);
Result<double> read_double(const Json& json, const std::string& path);

/// Schema, reader and writer of one type.
template <class T>
struct JsonForm {
  static constexpr bool kIsDescribable = !std::is_pointer_v<T> && !kIsForeignTime<T>;
  static_assert(!kIsDescribable || sizeof(T) == 0,
                "describe this type with PRAXIS_FIELDS or PRAXIS_ENUM, in its own namespace");
  static_assert(kIsDescribable, "neither pointers nor times of std::chrono but praxis::Millis have JSON");
  static Json schema(const SchemaPlace&);  // so that the sentence above is the only error
  static Status read(const Json&, const std::string&, T&);
  static Json write(const T&);
};

template <>
struct JsonForm<bool> {
  static Json schema(const SchemaPlace&) { return {{"type", "boolean"}}; }
  static Status read(const Json& json, const std::string& path, bool& out);
  static Json write(bool value) { return value; }
};

template <>
struct JsonForm<std::string> {
  static Json schema(const SchemaPlace&) { return {{"type", "string"}}; }
  static Status read(const Json& json, const std::string& path, std::string& out);
  static Json write(const std::string& value) { return Json(value); }
};

template <>
struct JsonForm<Json> {
  static Json schema(const SchemaPlace&) { return JsonObject{}; }
  static Status read(const Json& json, const std::string&, Json& out) {
    out = json;
    return {};
  }
  static Json write(const Json& value) { return value; }
};

template <std::integral T>
struct JsonForm<T> {
  using Limits = std::numeric_limits<T>;
  static Json schema(const SchemaPlace&) {
    if constexpr (std::is_unsigned_v<T>) return {{"type", "integer"}, {"minimum", 0}};
    return {{"type", "integer"}};
  }
  static Status read(const Json& json, const std::string& path, T& out) {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    auto number = read_integer(
        json, path, static_cast<std::int64_t>(Limits::min()),
        std::in_range<std::int64_t>(Limits::max()) ? static_cast<std::int64_t>(Limits::max()) : most);
    if (!number) return fail(std::move(number.error()));
    out = static_cast<T>(*number);
    return {};
  }
  static Json write(T value) { return value; }
};

template <std::floating_point T>
struct JsonForm<T> {
  static Json schema(const SchemaPlace&) { return {{"type", "number"}}; }
  static Status read(const Json& json, const std::string& path, T& out) {
    auto number = read_double(json, path);
    if (!number) return fail(std::move(number.error()));
    out = static_cast<T>(*number);
    return {};
  }
  static Json write(T value) { return static_cast<double>(value); }
};

/// Written as an integer of milliseconds; read from that or from a string such as "30s".
template <>
struct JsonForm<Millis> {
  static Json schema(const SchemaPlace&);
  static Status read(const Json& json, const std::string& path, Millis& out);
  static Json write(Millis value) { return value.count(); }
};

template <class T>
struct JsonForm<std::optional<T>> {
  static Json schema(const SchemaPlace& place) { return JsonForm<T>::schema(place); }
  static Status read(const Json& json, const std::string& path, std::optional<T>& out) {
    if (json.is_null()) return {};
    return JsonForm<T>::read(json, path, out.emplace());
  }
  static Json write(const std::optional<T>& value) {
    return value ? JsonForm<T>::write(*value) : Json(nullptr);
  }
};

template <class T>
struct JsonForm<std::vector<T>> {
  static Json schema(const SchemaPlace& place) {
    return {{"type", "array"}, {"items", JsonForm<T>::schema(place.child("/items"))}};
  }
  static Status read(const Json& json, const std::string& path, std::vector<T>& out) {
    if (!json.is_array()) return misfit(path, "must be an array");
    for (const Json& item : json.get_array()) {
      T value{};
      auto status = JsonForm<T>::read(item, item_path(path, out.size()), value);
      if (!status) return status;
      out.push_back(std::move(value));
    }
    return {};
  }
  static Json write(const std::vector<T>& values) {
    JsonArray array;
    for (const auto& value : values) array.push_back(JsonForm<T>::write(value));
    return array;
  }
};

template <class T>
struct JsonForm<std::map<std::string, T>> {
  static Json schema(const SchemaPlace& place) {
    return {{"type", "object"},
            {"additionalProperties", JsonForm<T>::schema(place.child("/additionalProperties"))}};
  }
  static Status read(const Json& json, const std::string& path, std::map<std::string, T>& out) {
    if (!json.is_object()) return misfit(path, "must be an object");
    for (const auto& [key, member] : json.get_object()) {
      auto status = JsonForm<T>::read(member, member_path(path, key), out[std::string(key)]);
      if (!status) return status;
    }
    return {};
  }
  static Json write(const std::map<std::string, T>& values) {
    JsonObject object;
    for (const auto& [key, value] : values) object[key] = JsonForm<T>::write(value);
    return object;
  }
};

template <class T, FixedString Description>
struct JsonForm<arg<T, Description>> {
  static Json schema(const SchemaPlace& place) {
    Json schema = JsonForm<T>::schema(place);
    schema.get_object()["description"] = Description.view();
    return schema;
  }
  static Status read(const Json& json, const std::string& path, T& out) {
    return JsonForm<T>::read(json, path, out);
  }
  static Json write(const T& value) { return JsonForm<T>::write(value); }
};

template <DescribedEnum T>
struct JsonForm<T> {
  static constexpr auto enumerators = praxis_enumerators(static_cast<const T*>(nullptr));
  static constexpr auto names = [] {
    std::array<std::string_view, enumerators.size()> result;
    std::ranges::transform(enumerators, result.begin(), &Enumerator<T>::name);
    return result;
  }();
  static Json schema(const SchemaPlace&) { return enum_schema(names); }
  static Status read(const Json& json, const std::string& path, T& out) {
    auto index = read_enumerator(json, path, names);
    if (!index) return fail(std::move(index.error()));
    out = enumerators[*index].value;
    return {};
  }
  static Json write(T value) {
    auto found = std::ranges::find(enumerators, value, &Enumerator<T>::value);
    return found == enumerators.end() ? Json(nullptr) : Json(enumerator_name(found->name));
  }
};

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T, FixedString Description>
inline constexpr bool kIsOptional<arg<T, Description>> = kIsOptional<T>;

/// The address of this variable identifies the type.
template <class T>
inline constexpr char kTypeTag{};

template <DescribedStruct T>
struct JsonForm<T> {
  static constexpr auto fields = praxis_fields(static_cast<const T*>(nullptr));

  static Json schema(const SchemaPlace& outer) {
    if (const SchemaPlace* self = outer.find(&kTypeTag<T>)) return {{"$ref", self->pointer}};
    const SchemaPlace place{outer.pointer, &kTypeTag<T>, &outer};
    JsonObject properties;
    JsonArray required;
    const auto add = [&]<class M>(const Field<T, M>& field) {
      properties[field.name] = JsonForm<M>::schema(place.child("/properties/" + std::string(field.name)));
      if (!kIsOptional<M>) required.emplace_back(field.name);
    };
    std::apply([&](const auto&... field) { (add(field), ...); }, fields);
    JsonObject schema{{"type", "object"}, {"properties", std::move(properties)}};
    if (!required.empty()) schema["required"] = std::move(required);
    schema["additionalProperties"] = false;
    return schema;
  }

  static Status read(const Json& json, const std::string& path, T& out) {
    if (!json.is_object()) return misfit(path, "must be an object");
    Status status;
    const auto read_member = [&]<class M>(const Field<T, M>& field) {
      const Json* member = json.get_object().if_contains(field.name);
      if (member != nullptr) {
        status = JsonForm<M>::read(*member, member_path(path, field.name), out.*field.member);
      } else if (!kIsOptional<M>) {
        status = misfit(member_path(path, field.name), "is missing");
      }
      return status.has_value();
    };
    std::apply([&](const auto&... field) { static_cast<void>((read_member(field) && ...)); }, fields);
    return status;
  }

  static Status lay_over(const JsonObject& members, const std::string& path, T& out) {
    constexpr auto names = std::apply(
        [](const auto&... field) { return std::array<std::string_view, sizeof...(field)>{field.name...}; },
        fields);
    for (const auto& [key, member] : members) {
      if (std::ranges::find(names, std::string_view(key)) == names.end()) {
        return unknown_member(path, key, names);
      }
      Status status;
      const auto read_member = [&]<class M>(const Field<T, M>& field) {
        if (field.name != std::string_view(key)) return false;
        if constexpr (requires { (out.*field.member).clear(); }) (out.*field.member).clear();
        status = JsonForm<M>::read(member, member_path(path, key), out.*field.member);
        return true;
      };
      std::apply([&](const auto&... field) { static_cast<void>((read_member(field) || ...)); }, fields);
      if (!status) return status;
    }
    return {};
  }

  static Json write(const T& value) {
    JsonObject object;
    const auto write_member = [&]<class M>(const Field<T, M>& field) {
      if constexpr (kIsOptional<M>) {
        if (!(value.*field.member).has_value()) return;
      }
      object[field.name] = JsonForm<M>::write(value.*field.member);
    };
    std::apply([&](const auto&... field) { (write_member(field), ...); }, fields);
    return object;
  }
};

template <class T>
Json schema_of() {
  return JsonForm<T>::schema(SchemaPlace{});
}

template <class T>
Result<T> from_json_as(const Json& json) {
  T value{};
  auto status = JsonForm<T>::read(json, "", value);
  if (!status) return fail(std::move(status.error()));
  return value;
}

template <class T>
Json to_json_value(const T& value) {
  return JsonForm<T>::write(value);
}

template <class T>
Status read_settings(const Json& json, const std::string& name, T& value) {
  if (json.is_null()) return {};
  const JsonObject* members = json.if_object();
  return members == nullptr ? misfit(name, "must be an object")
                            : JsonForm<T>::lay_over(*members, name, value);
}

}  // namespace praxis
#pragma GCC visibility pop
