/** The table convention × resource: rows that one suite runs over every resource of the registry. */
import type { ResourceDefinition } from "../../../src/api/registry/resource";
import { conformingDefinitions, conventionNames, exemption } from "../../../test/conformance/conventions";
import { row } from "./markdown";

const SUITE = "test/e2e/conformance/matrix.test.ts";

export function matrix(): string {
  const reasons: string[] = [];
  const cell = (reason: string | undefined) => {
    if (reason === undefined) return "yes";
    if (!reasons.includes(reason)) reasons.push(reason);
    return `– (${String(reasons.indexOf(reason) + 1)})`;
  };
  const rows = conventionNames.map((name) => row([name, ...conformingDefinitions.map((definition) => cell(exemption(name, definition)))]));
  return [
    "## Convention × resource",
    "",
    `Each "yes" is the test "row > resource" in \`${SUITE}\`, run against the server that \`npm start\` starts. ` +
      "Clusters, which the root alone serves, have tests of their own: `test/e2e/slow/cluster/cluster-objects.test.ts`. " +
      "So have pools and claims, which are Cluster API's: `test/e2e/slow/cluster/pools.test.ts`.",
    "",
    row(["convention", ...conformingDefinitions.map(title)]),
    row(["---", ...conformingDefinitions.map(() => "---")]),
    ...rows,
    "",
    ...reasons.map((reason, i) => `(${String(i + 1)}) ${reason}${i + 1 < reasons.length ? " ·" : ""}`),
  ].join("\n");
}

/** Events are served twice. */
function title({ group, resource }: ResourceDefinition): string {
  return resource === "events" && group ? `events (${group})` : resource;
}
