/** Where the last release stands, from the root of the project. */
export const KEPT_RELEASE = { folder: "test/fixtures/releases", bundle: "last-release.js.br", facts: "last-release.json" } as const;

/** A bundle that is longer than this is not kept: each one stays in the history of the repository. */
export const KEPT_BYTES_MAX = 450_000;
