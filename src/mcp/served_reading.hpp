// What the clients of an MCP server can read: resources by their URI, and prompts for their users.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/json/json.hpp"

namespace praxis {

struct ServedResource {
  std::string uri;
  std::string name;
  std::string title;
  std::string media_type;
};

struct ServedPrompt {
  struct Argument {
    std::string name;
    std::string description;
  };
  std::string name;
  std::string title;
  std::vector<Argument> arguments;  ///< all of them are required
};

/// Functions that answer clients, one at a time. Those of resources, or those of prompts, are null if clients
/// can read none.
struct McpReading {
  /// The resources that are listed; more can be read.
  std::function<Result<std::vector<ServedResource>>()> resources;
  ServedResource all;  ///< describes those that can be read; its `uri` is a template (RFC 6570)
  /// The text of a resource. Error `kInput`: no resource has this URI.
  std::function<Result<std::string>(const std::string& uri)> read;
  std::function<Result<std::vector<ServedPrompt>>()> prompts;
  /// The text of a prompt. Error `kInput`: no prompt has this name, or an argument is missing.
  std::function<Result<std::string>(const std::string& name, const Json& arguments)> prompt;
};

/// The result of a request, or the JSON-RPC error with which it is refused.
struct McpAnswer {
  JsonObject result;
  int error = 0;  ///< 0: none
  std::string why;
  Json data = nullptr;  ///< of the error
};

/// Whether a request asks for resources, or for prompts, that are there.
bool is_readable(const McpReading& reading, std::string_view method);
/// Answers such a request. `stateless`: in version 2026-07-28, which has another code for what is not there.
McpAnswer answer_reading(const McpReading& reading, std::string_view method, const Json& params,
                         bool stateless);

}  // namespace praxis
