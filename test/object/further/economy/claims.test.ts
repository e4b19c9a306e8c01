/** What claims on a pool cost, with everything that they cause (test/support/economy/bounds.ts): no more than twice what a ClusterIP does. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { ECONOMY } from "../../../support/economy/bounds";
import { EconomyWorld, SLOW_MACHINE_MS } from "../../../support/economy/world";

const IPAM = "/apis/ipam.cluster.x-k8s.io";
const CLAIMS = `${IPAM}/v1beta2/namespaces/default/ipaddressclaims`;
const MANY = 40;
const poolRef = { apiGroup: "ipam.cluster.x-k8s.io", kind: "InClusterIPPool", name: "p" };
const rootRef = { ...poolRef, kind: "GlobalInClusterIPPool" };

let world: EconomyWorld;
beforeEach(async () => (world = await new EconomyWorld().begin()));
afterEach(() => world.end());

const claimOf = (pool: object, names: string[]) =>
  Promise.all(names.map((name) => world.send("POST", CLAIMS, { metadata: { name }, spec: { poolRef: pool } })));
const claim = (...names: string[]) => claimOf(poolRef, names);
const many = (attempt: number): string[] => Array.from({ length: MANY }, (_, i) => `many-${String(attempt)}-${String(i)}`);

it(
  "claims made: no operation costs more than its bound, which is at most twice that of a Service",
  async () => {
    const { economy } = world;
    const spec = { addresses: ["10.200.0.0/20"], prefix: 20 };
    await world.send("POST", `${IPAM}/v1alpha2/namespaces/default/inclusterippools`, { metadata: { name: "p" }, spec });
    await claim("first");
    await world.settle();
    await economy.measure("IPAddressClaim: created alone", (i) => claim(`web-${String(i)}`));
    await economy.measure("IPAddressClaim: one of 40 created at once", (i) => claim(...many(i)), { times: MANY });
    economy.expectWithinBounds();
    for (const how of ["created alone", "one of 40 created at once"] as const) {
      const [own, service] = [ECONOMY[`IPAddressClaim: ${how}`], ECONOMY[`Service: ${how}`]];
      for (const meter of ["rows", "calls"] as const) expect(own[meter], `${how}, ${meter}`).toBeLessThanOrEqual(2 * service[meter]);
    }
  },
  SLOW_MACHINE_MS,
);

it(
  "claims made of a pool of the root: with what they cause there, no more than twice what those of a pool of the cluster cost",
  async () => {
    const { economy } = world;
    const spec = { addresses: ["10.201.0.0/20"], prefix: 20 };
    await world.send("POST", `/clusters/default${IPAM}/v1alpha2/globalinclusterippools`, { metadata: { name: "p" }, spec });
    await claimOf(rootRef, ["first"]);
    await world.settle();
    const also = "default/";
    await economy.measure("IPAddressClaim of a pool of the root: created alone", (i) => claimOf(rootRef, [`web-${String(i)}`]), { also });
    await economy.measure("IPAddressClaim of a pool of the root: one of 40 created at once", (i) => claimOf(rootRef, many(i)), {
      ...{ times: MANY, also },
    });
    economy.expectWithinBounds();
    for (const how of ["created alone", "one of 40 created at once"] as const) {
      const [atRoot, own] = [ECONOMY[`IPAddressClaim of a pool of the root: ${how}`], ECONOMY[`IPAddressClaim: ${how}`]];
      for (const meter of ["rows", "calls"] as const) expect(atRoot[meter], `${how}, ${meter}`).toBeLessThanOrEqual(2 * own[meter]);
    }
  },
  SLOW_MACHINE_MS,
);
