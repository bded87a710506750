#!/bin/bash
# One run on two machines with nothing but ssh and rsync: this one plays shard 1, HOST plays shard 2.
# Usage: two_machines.sh HOST balrog-rag-overrides...   (give it again after an interruption)
set -euo pipefail
HOST=$1; shift
NAME=${NAME:-two_machines}
FOLDER=results/$NAME.shards

# %q: the overrides reach the other machine's shell exactly as they were given here.
ssh "$HOST" "balrog-rag run run.name=$NAME runner.shard=2/2 runner.log=plain $(printf '%q ' "$@")" &
THERE=$!
balrog-rag run run.name="$NAME" runner.shard=1/2 runner.log=plain "$@"
wait $THERE
rsync -a "$HOST:$FOLDER/2-of-2/" "$FOLDER/2-of-2/"
balrog-rag results merge "$FOLDER" --out "results/$NAME"
balrog-rag report "results/$NAME"
