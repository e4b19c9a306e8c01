/**
 * node scripts/run.mjs <program.ts> [arguments]: installs what is missing, then runs a TypeScript program in this same process.
 * One process, so that a signal for the command reaches the program whatever shell npm uses.
 */
import "./running/node-version.mjs";

// Only now: an old Node could not even read those files.
import("./running/run-program.mjs").then(({ run }) => run());
