# When the sources were changed last, in seconds: the only time that goes into packages and what they hold, so that the same
# source gives the same bytes.
include_guard(GLOBAL)
set(PRAXIS_TIME "$ENV{SOURCE_DATE_EPOCH}")
if(NOT PRAXIS_TIME)
  execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} log -1 --format=%ct -- CHANGELOG.md
                  OUTPUT_VARIABLE PRAXIS_TIME OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT PRAXIS_TIME)
  file(TIMESTAMP ${PROJECT_SOURCE_DIR}/CHANGELOG.md PRAXIS_TIME "%s" UTC)
endif()
