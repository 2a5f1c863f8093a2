// Everything a program needs to describe and run agents.
#pragma once

#include "praxis/json/describe.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/models/model.hpp"
#include "praxis/runtime/agent.hpp"
#include "praxis/runtime/agent_creator.hpp"
#include "praxis/runtime/agent_tree.hpp"
#include "praxis/runtime/commands.hpp"
#include "praxis/runtime/runtime.hpp"
#include "praxis/tools/media.hpp"
#include "praxis/tools/tool.hpp"
#include "praxis/tools/typed_tool.hpp"
