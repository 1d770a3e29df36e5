# Sets $node: the repository's own, where set-up installed one, else that of the machine. Expects $here.
node="$here/../../node_modules/.bin/node"
[ -x "$node" ] || node=node
export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$here/../../node_modules/.cache/theseus}"
