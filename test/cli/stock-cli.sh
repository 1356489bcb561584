#!/bin/sh
# Talks to agents with nothing but Temporal's own command line: start, watch, steer, follow up, approve,
# deny, cancel, a session, its result. Needs a worker on the task queue, with an agent that asks before it
# runs `bash`.
#
#   TEMPORAL_ADDRESS=localhost:7233 sh stock-cli.sh holdfast demo
#
# The first argument is the task queue, the second the start of the workflow ids.
set -eu

queue=${1:-holdfast}
prefix=${2:-demo}

# The answer of a query on one line.
ask() {
  if [ $# -eq 2 ]; then
    temporal workflow query --workflow-id "$1" --type "$2" --output json | tr -d '\n'
  else
    temporal workflow query --workflow-id "$1" --type "$2" --input "$3" --output json | tr -d '\n'
  fi
  echo
}

tell() {
  if [ $# -eq 2 ]; then
    temporal workflow signal --workflow-id "$1" --name "$2" >/dev/null
  else
    temporal workflow signal --workflow-id "$1" --name "$2" --input "$3" >/dev/null
  fi
}

# Waits until the state of a workflow matches a pattern.
until_state() {
  tries=0
  until ask "$1" state | grep -q "$2"; do
    tries=$((tries + 1))
    [ "$tries" -lt 150 ] || { echo "$1 never matched $2" >&2; exit 1; }
    sleep 0.2
  done
}

waiting='"status": *"waiting_for_approval"'
idle='"status": *"idle"'

echo '== a run, from a string'
run="$prefix-run"
temporal workflow start --type agent --task-queue "$queue" --workflow-id "$run" \
  --input '"List the files here"' >/dev/null
until_state "$run" "$waiting"
echo "state: $(ask "$run" state)"

echo '== steer it, queue a follow-up, approve its call'
tell "$run" steer '"Only the text files"'
tell "$run" followUp '{"text": "Then count them", "id": "count"}'
tell "$run" followUp '{"text": "Then count them", "id": "count"}'
echo "queues: $(ask "$run" state)"
tell "$run" approve
echo "result: $(temporal workflow result --workflow-id "$run" --output json | tr -d '\n')"
echo "events: $(ask "$run" events '{"after": 2, "limit": 3}')"
echo "messages: $(ask "$run" messages '{"from": 0}')"
echo "response: $(ask "$run" response)"

echo '== deny a call, then cancel'
stopped="$prefix-stopped"
temporal workflow start --type agent --task-queue "$queue" --workflow-id "$stopped" \
  --input '{"prompt": "Remove the files"}' >/dev/null
until_state "$stopped" "$waiting"
tell "$stopped" deny '{"reason": "Never remove anything"}'
until_state "$stopped" "$waiting.*call_2\|call_2.*$waiting"
temporal workflow cancel --workflow-id "$stopped" >/dev/null
until_state "$stopped" '"status": *"closed"'
temporal workflow describe --workflow-id "$stopped" | grep -i 'status'

echo '== a session'
session="$prefix-session"
temporal workflow start --type agent --task-queue "$queue" --workflow-id "$session" \
  --input '{"lifetime": "session"}' >/dev/null
until_state "$session" "$idle"
temporal workflow update execute --workflow-id "$session" --name submit \
  --input '{"kind": "prompt", "message": "Say hello"}' | grep -i 'result\|outcome'
until_state "$session" "$idle.*\"runs\": *1\|\"runs\": *1.*$idle"
tell "$session" prompt '{"text": "And goodbye"}'
until_state "$session" "$idle.*\"runs\": *2\|\"runs\": *2.*$idle"
echo "response: $(ask "$session" response)"
temporal workflow metadata --workflow-id "$session" | tr -d '\n' | cut -c 1-2000
echo
tell "$session" close
echo "result: $(temporal workflow result --workflow-id "$session" --output json | tr -d '\n')"
