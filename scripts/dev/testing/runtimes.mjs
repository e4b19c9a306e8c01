/**
 * Where a test runs. The pure wings run in Node; what is a shell of the platform runs in workerd, beside the tests of real objects.
 * Both configurations of Vitest read this list.
 */

/**
 * Unit tests that need the platform, each with its reason. Patterns below the project's root.
 * @type {Readonly<Record<string, string>>}
 */
export const UNIT_IN_WORKERD = {
  "test/unit/worker/**/*.test.ts": "the Worker itself: requests, streams, WebSockets, crons and bindings of workerd",
  "test/unit/access/authentication/**/*.test.ts": "signatures and hashes by the cryptography of workerd, through the ports of the objects",
};

/**
 * Dear ones among the unit tests and simulations, whose rules `npm test` shows by a smaller load, by one history of each kind or at a lower level.
 * .ci/run runs them, once. CONTRIBUTING.md lists them.
 */
export const FURTHER = ["test/unit/**/*.further.test.ts", "test/sim/further/*.test.ts"];

/** Unit tests, simulations and conformance of the rules. Those of UNIT_IN_WORKERD and FURTHER are left out. */
export const PURE = ["test/unit/**/*.test.ts", "test/sim/*.test.ts", "test/sim/hazards/*.test.ts", "test/conformance/*.test.ts"];
