/** What Services of type LoadBalancer cost that pools serve, beside those that others serve (test/support/economy/bounds.ts). */
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Service } from "../../../../src/api/meta/kubernetes";
import { type Bound, ECONOMY } from "../../../support/economy/bounds";
import { PATHS } from "../../../support/economy/requests";
import { EconomyWorld, SLOW_MACHINE_MS } from "../../../support/economy/world";

const POOLS = "/apis/ipam.cluster.x-k8s.io/v1alpha2/globalinclusterippools";
const SERVICES = PATHS.services;
const MANY = 40;
const CLASS = "servicenet.dev/pool";

let world: EconomyWorld;
beforeEach(async () => (world = await new EconomyWorld().begin()));
afterEach(() => world.end());

const many = (attempt: number): string[] => Array.from({ length: MANY }, (_, i) => `many-${String(attempt)}-${String(i)}`);

function create(loadBalancerClass: string, ...names: string[]): Promise<Service[]> {
  const spec = { type: "LoadBalancer", loadBalancerClass, selector: { app: "x" }, ports: [{ port: 80 }] };
  return Promise.all(names.map((name) => world.send<Service>("POST", SERVICES, { metadata: { name }, spec })));
}

async function served(...names: string[]): Promise<void> {
  for (const service of await create(CLASS, ...names)) expect(service.status?.loadBalancer?.ingress).toHaveLength(1);
}

const remove = (...names: string[]) => Promise.all(names.map((name) => world.send("DELETE", `${SERVICES}/${name}`)));

it(
  "load balancers: no operation costs more than its bound, and none more than twice what a ClusterIP costs",
  async () => {
    const { economy } = world;
    const metadata = { name: "p", annotations: { "servicenet.dev/load-balancer": "true" } };
    await world.send("POST", POOLS, { metadata, spec: { addresses: ["10.200.0.0/16"], prefix: 16 } });
    await world.settle();
    await served("first");
    await create("example.com/other", "first-other");
    await world.settle();
    await economy.measure("load balancer of another class: created alone", (i) => create("example.com/other", `other-${String(i)}`));
    const status = (i: number) => ({ status: { loadBalancer: { ingress: [{ ip: `192.0.2.${String(i + 1)}` }] } } });
    await economy.measure("load balancer of another class: its status gets an address", (i) =>
      world.send("PATCH", `${SERVICES}/first-other/status`, status(i)),
    );
    await economy.measure("load balancer of a pool: created alone", (i) => served(`web-${String(i)}`));
    const spare = (i: number): Promise<void> => served(`spare-${String(i)}`);
    await economy.measure("load balancer of a pool: deleted alone", (i) => remove(`spare-${String(i)}`), { before: spare });
    await economy.measure("load balancer of a pool: one of 40 created at once", (i) => served(...many(i)), { times: MANY });
    const manyMore = (i: number): Promise<void> => served(...many(i + 10));
    await economy.measure("load balancer of a pool: one of 40 deleted at once", (i) => remove(...many(i + 10)), {
      times: MANY,
      before: manyMore,
    });
    economy.expectWithinBounds();
  },
  SLOW_MACHINE_MS,
);

it("the bounds: within twice a ClusterIP's", () => {
  for (const what of ["created alone", "one of 40 created at once", "deleted alone", "one of 40 deleted at once"] as const) {
    const own: Bound & { rows: number; calls: number } = ECONOMY[`load balancer of a pool: ${what}`];
    const plain = ECONOMY[`Service: ${what}`];
    // The platform bills a value as a row.
    expect(own.rows + (own.values ?? 0), `rows of: ${what}`).toBeLessThanOrEqual(2 * plain.rows);
    expect(own.calls, `calls of: ${what}`).toBeLessThanOrEqual(2 * plain.calls);
  }
});
