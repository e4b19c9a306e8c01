import { defineConfig } from "vitest/config";
import { findKubectl } from "./scripts/kubectl";

/**
 * End-to-end tests: Node programs against the started server. Each file starts its own servers, so files run one after another.
 * The kubectl suite is selected when there is a kubectl; SERVICENET_SLOW=1 selects the slow suites alone (.ci/run does).
 */
const slow = process.env["SERVICENET_SLOW"] === "1";
const exclude = slow || findKubectl() ? [] : ["test/e2e/kubectl.test.ts"];

export default defineConfig({
  test: {
    include: slow ? ["test/e2e/slow/*.test.ts"] : ["test/e2e/*.test.ts"],
    exclude,
    environment: "node",
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
