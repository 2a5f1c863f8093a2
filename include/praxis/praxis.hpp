// Everything a program needs to describe and run agents: the agent and its sessions, tools (its own and the
// built-in ones), models and routers, journals, agent files and configuration.
#pragma once

#if __cplusplus <= 202002L
#error "Praxis needs C++23: compile with -std=c++23"
#else

#include "praxis/app/agent_file.hpp"
#include "praxis/app/config.hpp"
#include "praxis/json/describe.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/models/model.hpp"
#include "praxis/models/router.hpp"
#include "praxis/policy/remembered_rules.hpp"
#include "praxis/runtime/agent.hpp"
#include "praxis/runtime/agent_creator.hpp"
#include "praxis/runtime/agent_tree.hpp"
#include "praxis/runtime/commands.hpp"
#include "praxis/runtime/runtime.hpp"
#include "praxis/tools/ask_user_tool.hpp"
#include "praxis/tools/file_tool.hpp"
#include "praxis/tools/fork_tool.hpp"
#include "praxis/tools/http_tool.hpp"
#include "praxis/tools/kv_tool.hpp"
#include "praxis/tools/media.hpp"
#include "praxis/tools/python_tool.hpp"
#include "praxis/tools/shell_tool.hpp"
#include "praxis/tools/text_tool.hpp"
#include "praxis/tools/tool.hpp"
#include "praxis/tools/typed_tool.hpp"

#endif
