// Tools from plain functions: the JSON Schema comes from the argument struct (describe.hpp), the name from
// the function.
//
//   Weather get_weather(City city);
//   auto tool = praxis::tool<get_weather>("Current weather");
//
// A handler takes an optional `ToolContext&` and then at most one described struct, or plain parameters. It
// returns `std::string`, any described type (sent as JSON), `ToolOutput`, or a `Result` of one of these. It
// may be called on several threads at once. Because the host passes its own function, such a tool is safe by
// default; the rules of an agent can still restrict it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "praxis/json/describe.hpp"
#include "praxis/tools/tool.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// A tool from a callable, with an explicit name.
template <class F>
Tool make_tool(std::string name, std::string description, F function);
/// The same from a callable with plain parameters, which the model knows by the names given:
/// `make_tool("forecast", "Weather to come", [](std::string city, int days) {...}, {"city", "days"})`. Each
/// parameter is of a type that a member of a described struct may have; optional ones may be left out.
template <class F, std::size_t N>
Tool make_tool(std::string name, std::string description, F function, const char* const (&parameters)[N]);
/// A tool from a function, named after the function without its namespace.
template <auto Function>
Tool tool(std::string description);
/// The same from a function with plain parameters.
template <auto Function, std::size_t N>
Tool tool(std::string description, const char* const (&parameters)[N]);

// Implementation; do not call what follows directly.

struct NoArguments {};
PRAXIS_FIELDS(NoArguments)

/// How to call a handler with the given signature; undefined for signatures that a tool cannot have.
template <class R, class... Parameters>
struct Signature;

template <class R>
struct Signature<R> {
  using Arguments = NoArguments;
  static R call(const auto& function, ToolContext&, Arguments) { return function(); }
};
template <class R>
struct Signature<R, ToolContext&> {
  using Arguments = NoArguments;
  static R call(const auto& function, ToolContext& context, Arguments) { return function(context); }
};
template <class R, class A>
struct Signature<R, A> {
  using Arguments = std::remove_cvref_t<A>;
  static R call(const auto& function, ToolContext&, Arguments arguments) {
    return function(std::move(arguments));
  }
};
template <class R, class A>
struct Signature<R, ToolContext&, A> {
  using Arguments = std::remove_cvref_t<A>;
  static R call(const auto& function, ToolContext& context, Arguments arguments) {
    return function(context, std::move(arguments));
  }
};

template <class R, class... Parameters>
Signature<R, Parameters...> signature_of(R (*)(Parameters...));
template <class F, class R, class... Parameters>
Signature<R, Parameters...> signature_of(R (F::*)(Parameters...) const);
template <class F>
  requires requires { &F::operator(); }
auto signature_of(const F&) -> decltype(signature_of(&F::operator()));

/// What a handler returns, and its parameters without the context.
template <class R, class... Parameters>
struct HandlerShape {
  static constexpr bool kReturnsVoid = std::is_void_v<R>;
  static constexpr std::size_t kParameters = sizeof...(Parameters);
};
template <class R, class... Parameters>
struct HandlerShape<R, ToolContext&, Parameters...> : HandlerShape<R, Parameters...> {};
template <class R, class... Parameters>
HandlerShape<R, Parameters...> handler_shape(R (*)(Parameters...));
template <class F, class R, class... Parameters>
HandlerShape<R, Parameters...> handler_shape(R (F::*)(Parameters...) const);

template <class R, class F, class... Parameters>
std::true_type is_mutable(R (F::*)(Parameters...));
template <class R, class F, class... Parameters>
std::false_type is_mutable(R (F::*)(Parameters...) const);

/// Why a type cannot be a handler. The checks below turn it into one sentence of the compiler's.
enum class HandlerFault : std::uint8_t { kNone, kMember, kNotOneFunction, kMutable, kVoid };

template <class F>
consteval HandlerFault handler_fault() {
  using enum HandlerFault;
  if constexpr (std::is_member_pointer_v<F>) {
    return kMember;
  } else if constexpr (requires { &F::operator(); }) {
    if constexpr (decltype(is_mutable(&F::operator()))::value)
      return kMutable;
    else
      return decltype(handler_shape(&F::operator()))::kReturnsVoid ? kVoid : kNone;
  } else if constexpr (requires(F function) { handler_shape(function); }) {
    return decltype(handler_shape(std::declval<F>()))::kReturnsVoid ? kVoid : kNone;
  } else {
    return kNotOneFunction;
  }
}

/// Fails to compile with a reason unless `F` can be a handler; returns whether it can.
template <class F>
consteval bool check_handler() {
  constexpr HandlerFault kFault = handler_fault<F>();
  static_assert(kFault != HandlerFault::kMember,
                "a member function needs its object: make_tool with a lambda that calls it");
  static_assert(kFault != HandlerFault::kNotOneFunction,
                "the handler of a tool is a function, or has one operator() that is no template");
  static_assert(kFault != HandlerFault::kMutable,
                "several threads call the handler of a tool at once, so its lambda must not be mutable");
  static_assert(
      kFault != HandlerFault::kVoid,
      "the handler of a tool returns its result: std::string, a described type, or a Result of one");
  return kFault == HandlerFault::kNone;
}

/// Number of parameters of a handler, without the context.
template <class F>
consteval std::size_t parameter_count() {
  if constexpr (requires { &F::operator(); })
    return decltype(handler_shape(&F::operator()))::kParameters;
  else
    return decltype(handler_shape(std::declval<F>()))::kParameters;
}

template <class T>
Result<ToolOutput> to_output(T value) {
  if constexpr (std::same_as<T, ToolOutput>) {
    return value;
  } else if constexpr (std::convertible_to<T, std::string>) {
    return ToolOutput{std::string(std::move(value)), nullptr, {}, {}};
  } else {
    Json json = to_json_value(value);
    std::string text = to_json_text(json);
    return ToolOutput{std::move(text), std::move(json), {}, {}};
  }
}
template <class T>
Result<ToolOutput> to_output(Result<T> result) {
  if (!result) return fail(std::move(result.error()));
  return to_output(std::move(*result));
}

/// The tool of a handler that takes one struct, or nothing.
template <class F>
Tool tool_of_struct(std::string name, std::string description, F function) {
  using Shape = decltype(signature_of(function));
  using Arguments = typename Shape::Arguments;
  Tool made;
  made.definition.name = std::move(name);
  made.definition.description = std::move(description);
  made.definition.parameters = schema_of<Arguments>();
  made.definition.safe_by_default = true;
  made.handler = [function = std::move(function)](ToolContext& context,
                                                  const Json& json) -> Result<ToolOutput> {
    auto arguments = from_json_as<Arguments>(json);
    if (!arguments) return fail(std::move(arguments.error()));
    return to_output(Shape::call(function, context, std::move(*arguments)));
  };
  return made;
}

template <class F>
consteval bool check_one_struct() {
  constexpr bool kIsOne = parameter_count<F>() <= 1;
  static_assert(kIsOne, "a handler with several parameters needs their names: {\"city\", \"days\"}");
  if constexpr (kIsOne) {
    using Arguments = typename decltype(signature_of(std::declval<F&>()))::Arguments;
    static_assert(
        DescribedStruct<Arguments>,
        "the parameter of a handler is a struct described with PRAXIS_FIELDS, or needs a name: {\"city\"}");
    return DescribedStruct<Arguments>;
  } else {
    return false;
  }
}

template <class F>
Tool make_tool(std::string name, std::string description, F function) {
  if constexpr (check_handler<F>()) {
    if constexpr (check_one_struct<F>())
      return tool_of_struct(std::move(name), std::move(description), std::move(function));
  }
  std::unreachable();
}

/// How to call a handler with plain parameters; a context comes first where the handler takes one.
template <class R, class... Parameters>
struct PlainSignature {
  using Values = std::tuple<std::remove_cvref_t<Parameters>...>;
  static R call(const auto& function, ToolContext&, Values values) {
    return std::apply(function, std::move(values));
  }
};
template <class R, class... Parameters>
struct PlainSignature<R, ToolContext&, Parameters...> {
  using Values = std::tuple<std::remove_cvref_t<Parameters>...>;
  static R call(const auto& function, ToolContext& context, Values values) {
    return std::apply([&](auto&&... value) { return function(context, std::move(value)...); },
                      std::move(values));
  }
};

template <class R, class... Parameters>
PlainSignature<R, Parameters...> plain_signature_of(R (*)(Parameters...));
template <class F, class R, class... Parameters>
PlainSignature<R, Parameters...> plain_signature_of(R (F::*)(Parameters...) const);
template <class F>
  requires requires { &F::operator(); }
auto plain_signature_of(const F&) -> decltype(plain_signature_of(&F::operator()));

/// Adds a property to the schema of an object, and to its list of required properties.
void add_parameter(Json& schema, std::string_view name, Json property, bool required);
/// The argument called `name`; null when it is absent and `required` is false. Error `kInput`.
Result<const Json*> find_parameter(const Json& arguments, std::string_view name, bool required);

template <class T>
Status read_parameter(const Json& arguments, std::string_view name, T& out) {
  auto json = find_parameter(arguments, name, !kIsOptional<T>);
  if (!json) return fail(std::move(json.error()));
  return *json == nullptr ? Status{} : JsonForm<T>::read(**json, "/" + std::string(name), out);
}

/// The schema of an object whose properties are the elements of `Values`, by these names.
template <class Values, std::size_t... kIndex>
Json parameter_schema(const char* const* names, std::index_sequence<kIndex...>) {
  Json schema{{"type", "object"}, {"properties", JsonObject{}}, {"additionalProperties", false}};
  const auto add = [&]<class T>(std::type_identity<T>, const char* name) {
    const SchemaPlace place{"#/properties/" + std::string(name)};
    add_parameter(schema, name, JsonForm<T>::schema(place), !kIsOptional<T>);
  };
  (add(std::type_identity<std::tuple_element_t<kIndex, Values>>(), names[kIndex]), ...);
  return schema;
}

template <class Values, std::size_t... kIndex>
Status read_parameters(const Json& json, const std::string* names, Values& out,
                       std::index_sequence<kIndex...>) {
  Status status;
  static_cast<void>(
      ((status = read_parameter(json, names[kIndex], std::get<kIndex>(out))).has_value() && ...));
  return status;
}

/// The tool of a handler with plain parameters.
template <class F, std::size_t N>
Tool tool_of_parameters(std::string name, std::string description, F function,
                        const char* const (&parameters)[N]) {
  using Shape = decltype(plain_signature_of(function));
  using Values = typename Shape::Values;
  Tool made;
  made.definition.name = std::move(name);
  made.definition.description = std::move(description);
  made.definition.safe_by_default = true;
  made.definition.parameters = parameter_schema<Values>(parameters, std::make_index_sequence<N>());
  made.handler = [function = std::move(function),
                  names = std::vector<std::string>(std::begin(parameters), std::end(parameters))](
                     ToolContext& context, const Json& json) -> Result<ToolOutput> {
    Values values;
    auto status = read_parameters(json, names.data(), values, std::make_index_sequence<N>());
    if (!status) return fail(std::move(status.error()));
    return to_output(Shape::call(function, context, std::move(values)));
  };
  return made;
}

template <class F, std::size_t N>
Tool make_tool(std::string name, std::string description, F function, const char* const (&parameters)[N]) {
  if constexpr (check_handler<F>()) {
    constexpr bool kAllNamed = parameter_count<F>() == N;
    static_assert(kAllNamed, "a tool needs a name for each parameter of its handler");
    if constexpr (kAllNamed)
      return tool_of_parameters(std::move(name), std::move(description), std::move(function), parameters);
  }
  std::unreachable();
}

/// The unqualified name of `Function`, taken from the compiler's spelling of this function's signature.
template <auto Function>
constexpr std::string_view function_name() {
  std::string_view text = std::source_location::current().function_name();
  text.remove_prefix(text.find("Function = ") + 11);
  text = text.substr(0, text.find_first_of("<;]"));
  return text.substr(text.find_last_of(":&") + 1);
}

template <auto Function>
Tool tool(std::string description) {
  return make_tool(std::string(function_name<Function>()), std::move(description), Function);
}

template <auto Function, std::size_t N>
Tool tool(std::string description, const char* const (&parameters)[N]) {
  return make_tool(std::string(function_name<Function>()), std::move(description), Function, parameters);
}

}  // namespace praxis
#pragma GCC visibility pop
