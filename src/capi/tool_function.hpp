// Tools whose handlers are functions of C.
#pragma once

#include <memory>

#include "capi/objects.hpp"
#include "praxis/json/json.hpp"
#include "praxis/praxis.h"
#include "praxis/tools/tool.hpp"

namespace praxis::capi {

/// A function of the caller with its data, which the caller gets back once.
class ToolFunction {
 public:
  ToolFunction(praxis_tool_function function, void* user, praxis_release_function release)
      : function_(function), user_(user), release_(release) {}
  /// Counts it among the functions of a runtime; to be called once, before anything else.
  void count_in(std::shared_ptr<Functions> functions);
  ~ToolFunction();
  ToolFunction(const ToolFunction&) = delete;
  ToolFunction& operator=(const ToolFunction&) = delete;

  bool is_missing() const { return function_ == nullptr; }
  /// Error `kTool`: the function failed, threw, or gave no result.
  Result<ToolOutput> call(const Runtime* runtime, ToolContext& context, const Json& arguments) const;

 private:
  const praxis_tool_function function_;
  void* const user_;
  const praxis_release_function release_;
  std::shared_ptr<Functions> functions_;
};

/// Makes a tool of `{"name", "description", "parameters", ...}`. Error `kInput`.
Result<Tool> tool_of(const Json& definition, std::shared_ptr<const ToolFunction> function,
                     const std::shared_ptr<Runtime>& runtime);

}  // namespace praxis::capi
