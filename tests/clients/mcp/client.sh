#!/bin/bash
# The MCP client that the conformance suite tests: praxis, for the scenario in MCP_CONFORMANCE_SCENARIO.
# Usage: PRAXIS=PROGRAM client.sh URL
set -uo pipefail
url=${!#}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
export HOME=$place XDG_STATE_HOME=$place/state XDG_CONFIG_HOME=$place/config
printf 'model = "script:script.jsonl"\n[policy]\nallow = ["s__*"]\n[tools.mcp.s]\nurl = "%s"\n' "$url" > agent.toml
call() { "$PRAXIS" mcp call agent.toml "s__$1" "${2:-{\}}"; }
case $MCP_CONFORMANCE_SCENARIO in
initialize | json-schema-ref-no-deref | request-metadata) "$PRAXIS" mcp test agent.toml ;;
tools_call) call add_numbers '{"a": 2, "b": 3}' ;;
http-standard-headers)
  call test_headers && call my-hyphenated-tool && call list_resources || exit 1
  for uri in 'file:///path/to/file%20name.txt' 'https://example.com/resource?id=123'; do
    call read_resource "{\"uri\": \"$uri\"}" || exit 1
  done
  "$PRAXIS" mcp prompts agent.toml
  "$PRAXIS" mcp prompts agent.toml s:test_prompt
  true
  ;;
http-custom-headers)  # a missing argument stands for the null one, which the schema does not allow
  while read -r tool arguments; do call "$tool" "$arguments" || exit 1; done < <(node -e '
    for (const { name, arguments: all } of JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT).toolCalls) {
      console.log(name, JSON.stringify(Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null))));
    }')
  ;;
elicitation-sep1034-client-defaults) exit 1 ;;  # conformance.yml says why; the call would wait for a minute
auth/*)
  echo 'client_metadata_url = "https://conformance-test.local/client-metadata.json"' >> agent.toml
  if [[ ${MCP_CONFORMANCE_CONTEXT:-} == *'"issuer"'* ]]; then
    CLIENT_SECRET=$(node -e '
      const { client_id, client_secret, issuer } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT);
      const lines = `client_id = "${client_id}"\nclient_secret_env = "CLIENT_SECRET"\nissuer = "${issuer}"\n`;
      require("fs").appendFileSync("agent.toml", lines);
      console.log(client_secret);')
    export CLIENT_SECRET
  fi
  login() { # the person opens the address that the login prints
    timeout 25 "$PRAXIS" mcp login agent.toml | while read -r line; do
      [[ $line != http* ]] || node -e 'fetch(process.argv[1]).then((answer) => answer.text())' "$line"
    done
  }
  login || exit 1
  call test-tool && exit  # what the first login does not allow, a second one may
  login && call test-tool
  ;;
http-invalid-tool-headers)
  "$PRAXIS" mcp list agent.toml --json > list
  for tool in $(sed -n 's/.*"name":"s__\([^"]*\)".*/\1/p' list); do call "$tool" '{"region": "here"}'; done
  ;;
json-schema-2020-12-preservation)
  "$PRAXIS" mcp list agent.toml --json > list
  schema=$(sed -n 's/.*"name":"s__json_schema_2020_12_tool".*"parameters":\(.*\),"idempotent".*/\1/p' list)
  call json_schema_echo "{\"schema\": $schema}"
  ;;
sep-2322-client-request-state)
  for tool in test_mrtr_echo_state test_mrtr_unrelated test_mrtr_no_state test_mrtr_no_result_type; do
    printf '{"tool_calls": [{"name": "s__%s", "arguments": {}}]}\n' $tool
  done > script.jsonl
  echo '{"text": "done"}' >> script.jsonl
  "$PRAXIS" run agent.toml go < /dev/null
  status=$?
  for step in p1 p2 p3 p4; do
    [ $status = 3 ] || break
    "$PRAXIS" resume last --answer "$step=true" < /dev/null
    status=$?
  done
  exit $status
  ;;
*)
  "$PRAXIS" mcp list agent.toml --json > list
  for tool in $(sed -n 's/.*"name":"s__\([^"]*\)".*/\1/p' list); do call "$tool"; done
  ;;
esac
