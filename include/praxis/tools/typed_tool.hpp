// Tools from plain functions: the JSON Schema comes from the argument struct (describe.hpp), the name from
// the function.
//
//   Weather get_weather(City city);
//   auto tool = praxis::tool<get_weather>("Current weather");
//
// A handler takes an optional `ToolContext&` and then at most one described struct. It returns `std::string`,
// any described type (sent as JSON), `ToolOutput`, or a `Result` of one of these. It may be called on several
// threads at once. Because the host passes its own function, such a tool is safe by default; the rules of an
// agent can still restrict it.
#pragma once

#include <concepts>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "praxis/json/describe.hpp"
#include "praxis/tools/tool.hpp"

namespace praxis {

/// A tool from a callable, with an explicit name.
template <class F>
Tool make_tool(std::string name, std::string description, F function);
/// A tool from a function, named after the function without its namespace.
template <auto Function>
Tool tool(std::string description);

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

template <class F>
Tool make_tool(std::string name, std::string description, F function) {
  using Shape = decltype(signature_of(function));
  using Arguments = typename Shape::Arguments;
  static_assert(DescribedStruct<Arguments>,
                "the arguments of a tool are a struct described with PRAXIS_FIELDS");
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

}  // namespace praxis
