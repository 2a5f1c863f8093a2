// A model whose answers a program computes: for tests and demonstrations, without network or key.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "praxis/models/model.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Answers one request. Called on the thread that makes the call; must not block. Must be thread-safe if
/// several sessions use the model.
using StubAnswer = std::function<Result<ModelResponse>(const ModelRequest&)>;

/// Makes a model that answers with `answer`. It streams each part as one piece and has no price.
std::shared_ptr<Model> stub_model(StubAnswer answer, std::string name = "stub:model");

/// An answer with this text.
ModelResponse stub_text(std::string text);
/// The same with a call of a tool; `id` must be unique in the conversation.
ModelResponse stub_call(std::string id, std::string tool, const Json& arguments);

}  // namespace praxis
#pragma GCC visibility pop
