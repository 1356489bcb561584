#!/bin/sh
# Waits until the Temporal server answers, and registers the namespace where it is not registered yet. Ends
# when a worker can use it.
#
# The CLI reads TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE; NAMESPACE_RETENTION is how long closed sessions are kept.
set -eu

attempts=60
until temporal operator namespace describe >/dev/null 2>&1; do
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" \
    --retention "$NAMESPACE_RETENTION" 2>&1 || true
  attempts=$((attempts - 1))
  if [ "$attempts" -eq 0 ]; then
    echo "The namespace '$TEMPORAL_NAMESPACE' could not be registered at $TEMPORAL_ADDRESS." >&2
    exit 1
  fi
  sleep 1
done
echo "The namespace '$TEMPORAL_NAMESPACE' is registered."
