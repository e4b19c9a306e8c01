#!/bin/sh
# workerd for Miniflare: $SERVICENET_WORKERD with the signals of a terminal ignored, which outlives exec. Ctrl-C reaches the whole
# process group, and the runner still needs its runtime then: watches have to end properly before it goes.
trap '' INT HUP
exec "$SERVICENET_WORKERD" "$@"
