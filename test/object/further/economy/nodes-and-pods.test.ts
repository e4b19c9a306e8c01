/** What Leases, Pods, Events and slices cost, with everything that they cause (test/support/economy/bounds.ts). */
import { runDurableObjectAlarm } from "cloudflare:test";
import { afterEach, beforeEach, it } from "vitest";
import { controller } from "../../../../durable-objects/peers/peers";
import type { EndpointSlice, Lease } from "../../../../src/api/meta/kubernetes";
import { rfc3339Micros } from "../../../../src/api/meta/time";
import { knownIdOf } from "../../../../src/worker/routing/known-clusters";
import { platformStub } from "../../../support/objects/every-object";
import { storeStubOf } from "../../../support/objects/store-stubs";
import { aSlice, anEndpoint } from "../../../support/values/endpoint-objects";
import { event, heartbeat, PATHS, pod, ready, service } from "../../../support/economy/requests";
import { EconomyWorld, SLOW_MACHINE_MS } from "../../../support/economy/world";

const RENEWALS = 3;

let world: EconomyWorld;
beforeEach(async () => (world = await new EconomyWorld().begin()));
afterEach(() => world.end());

const trim = () => world.trim(storeStubOf(world.cluster, "leases.coordination.k8s.io"));

/** Without a GET: the object of the last answer. */
const renewed = ({ metadata, spec }: Lease, second: number): Promise<Lease> => {
  const renewTime = rfc3339Micros(Date.UTC(2030, 0, 1, 0, 0, second));
  return world.send<Lease>("PUT", `${PATHS.leases}/n1`, { metadata, spec: { ...spec, renewTime } });
};

it(
  "Leases of nodes made and renewed: no operation costs more than its bound",
  async () => {
    const { economy } = world;
    const node = await world.send("POST", PATHS.nodes, { metadata: { name: "n1" } });
    const lease = (name: string) => heartbeat(name, node.metadata?.uid, rfc3339Micros(Date.now()));
    let held = await world.send<Lease>("POST", PATHS.leases, lease("n1"));
    held = await renewed(held, 0);
    await world.settle();
    await economy.measure("Lease: created", (i) =>
      world.send("POST", PATHS.leases, { metadata: { name: `leader-${String(i)}` }, spec: { holderIdentity: "a" } }),
    );
    await economy.measure("Lease of a Node: created", (i) => world.send("POST", PATHS.leases, lease(`n-${String(i)}`)));
    await trim();
    const renew = async (attempt: number): Promise<void> => {
      for (let i = 1; i <= RENEWALS; i++) held = await renewed(held, attempt * RENEWALS + i);
      await trim();
    };
    await economy.measure("Lease: renewed, with the trimming of its history", renew, { times: RENEWALS });
    const status = (second: number) => ({
      status: {
        conditions: [
          { type: "Ready", status: "True", reason: "Up", lastHeartbeatTime: new Date(Date.UTC(2030, 0, 1, 0, 0, second)).toISOString() },
        ],
      },
    });
    await world.send("PATCH", `${PATHS.nodes}/n1/status`, status(0));
    await world.settle();
    await economy.measure("Node: heartbeat in its status", (i) => world.send("PATCH", `${PATHS.nodes}/n1/status`, status(i + 1)));
    const lifecycle = platformStub(controller(world.env, knownIdOf(world.env, world.cluster) ?? "", "node-lifecycle-controller"));
    const look = async (): Promise<void> => {
      held = await renewed(held, second++);
      await world.settle();
      await economy.measure("look at the Leases of Nodes", () => runDurableObjectAlarm(lifecycle));
    };
    let second = 30;
    for (let i = 0; i < 3; i++) await look();
    economy.expectWithinBounds();
  },
  SLOW_MACHINE_MS,
);

it(
  "Pods of a Service, Events and slices of others: no operation costs more than its bound",
  async () => {
    const { economy } = world;
    await world.send("POST", PATHS.nodes, { metadata: { name: "n1" } });
    await world.send("POST", PATHS.services, service("web"));
    await world.send("POST", PATHS.pods, pod("web-0"));
    await world.send("PATCH", `${PATHS.pods}/web-0/status`, ready("10.1.0.1"));
    const slice = await world.send<EndpointSlice>("POST", PATHS.slices, aSlice("own", "web", [anEndpoint("10.2.0.1")]));
    await world.send("POST", PATHS.events, event("web-0.1"));
    await world.settle();
    const made = (name: string) => world.send("POST", PATHS.pods, pod(name));
    const turnsReady = (name: string) => world.send("PATCH", `${PATHS.pods}/${name}/status`, ready("10.1.0.2"));
    await economy.measure("Pod: created", (i) => made(`new-${String(i)}`));
    await economy.measure("Pod: becomes ready", (i) => turnsReady(`turns-${String(i)}`), { before: (i) => made(`turns-${String(i)}`) });
    const ends = async (i: number): Promise<void> => {
      await made(`ends-${String(i)}`);
      await turnsReady(`ends-${String(i)}`);
    };
    await economy.measure(
      "Pod: deleted with grace 0",
      (i) => world.send("DELETE", `${PATHS.pods}/ends-${String(i)}?gracePeriodSeconds=0`),
      {
        before: ends,
      },
    );
    await economy.measure("Event: created", (i) => world.send("POST", PATHS.events, event(`web-0.${String(i + 2)}`)));
    const changed = (i: number) => ({
      ...slice,
      metadata: { ...slice.metadata, resourceVersion: "" },
      endpoints: [anEndpoint(`10.2.0.${String(i + 2)}`)],
    });
    await economy.measure("EndpointSlice: updated", (i) => world.send("PUT", `${PATHS.slices}/own`, changed(i)));
    economy.expectWithinBounds();
  },
  SLOW_MACHINE_MS,
);
