#!/usr/bin/env node
/** The command `servicenet`: the bundle of an installed package, or the sources of a clone. */
import "../running/node-version.mjs";

// Only now: an old Node could not even read that file.
import("./start.mjs").then(({ start }) => start());
