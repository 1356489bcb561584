#!/bin/sh
# An agent operated with nothing but Temporal's own command line. Needs a worker (npx holdfast dev, which says
# where the command is if it is not on your PATH), whose agent asks for no approval.
#
#   sh examples/stock-cli/operate.sh demo
set -eu
id=${1:-demo}

temporal workflow start --type agent --task-queue holdfast --workflow-id "$id" \
  --input '"List the files here"'

# Enters before its next model call, and when it would otherwise end. The same id twice counts once.
temporal workflow signal --workflow-id "$id" --name steer --input '"Only the text files"'
temporal workflow signal --workflow-id "$id" --name followUp \
  --input '{"text": "Now count them", "id": "count"}'

# What it does, and what waits for it.
temporal workflow query --workflow-id "$id" --type state

# Waits until it has ended; `temporal workflow cancel` would stop it.
temporal workflow result --workflow-id "$id"

# Its last answer; `events` and `messages` tell the whole of it, page by page.
temporal workflow query --workflow-id "$id" --type response
