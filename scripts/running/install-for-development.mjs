/** Installs what is missing of all packages: for commands that are no program of scripts/. */
import "./node-version.mjs";

// Only now: an old Node could not even read those files.
import("./ensure-installed.mjs").then(({ ensureInstalled }) => ensureInstalled({ development: true }));
