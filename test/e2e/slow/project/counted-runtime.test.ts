/** The runtime in which `npm run model` and the benches of Nodes count: it has a cluster that takes writes, and counts them. */
import { expect, it } from "vitest";
import { CountedRuntime } from "../../../../scripts/dev/bench/counted-runtime";

it.each([{ hasAccess: false }, { hasAccess: true }])("counts a write of its cluster (%o)", async ({ hasAccess }) => {
  const cost = await CountedRuntime.with(
    ({ send, costOf }) => costOf(1, () => send("POST", "/api/v1/nodes", { metadata: { name: "node-1" } })),
    { hasAccess },
  );
  expect(cost.rows).toBeGreaterThan(0);
  expect(cost.calls).toBeGreaterThan(0);
  expect(cost.objects).toBeGreaterThan(0);
});
