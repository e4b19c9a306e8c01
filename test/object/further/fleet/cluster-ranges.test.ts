/** Clusters with a pool of prefixes, with the whole Worker and its real controllers. */
import { beforeEach, expect, it, vi } from "vitest";
import type { Cluster } from "../../../../src/api/registry/clusters/cluster";
import { AccessWorld } from "../../../support/access/access-world";
import { PATIENCE } from "../../../support/objects/patience";

const ROOT = "/clusters/default";
const OBJECTS = `${ROOT}/apis/servicenet.dev/v1alpha1/clusters`;
const POOLS = `${ROOT}/apis/ipam.cluster.x-k8s.io/v1alpha2/globalinclusterprefixpools`;
const CLAIMS = `${ROOT}/apis/ipam.cluster.x-k8s.io/v1beta2/namespaces/kube-system/ipaddressclaims`;

let world: AccessWorld;
beforeEach(() => (world = new AccessWorld()));

const named = (suffix: string): string => `${world.cluster}-${suffix}`;

async function statusOf(suffix: string): Promise<Cluster["status"]> {
  return ((await world.ask("GET", `${OBJECTS}/${named(suffix)}`)).body as unknown as Cluster).status;
}

async function make(suffix: string): Promise<void> {
  await world.make(OBJECTS, { metadata: { name: named(suffix) }, spec: { pool: { name: named("pool"), servicePrefixLength: 24 } } });
}

async function begins(suffix: string, range: string): Promise<void> {
  await vi.waitFor(async () => expect(await statusOf(suffix)).toMatchObject({ phase: "Active", serviceCIDRs: [range] }), PATIENCE);
}

it("each begins with a range of its own; one waits for the end of another one, and begins with what that gives back", async () => {
  await make("early");
  await vi.waitFor(async () => {
    const { phase, conditions } = (await statusOf("early")) ?? {};
    expect([phase, conditions?.[0]?.reason]).toEqual(["Pending", "WaitingForRange"]);
    expect(conditions?.[0]?.message).toContain(`GlobalInClusterPrefixPool "${named("pool")}" does not exist`);
  }, PATIENCE);
  const put = await world.ask("PUT", `/clusters/${named("early")}`);
  expect([put.code, put.body.message]).toEqual([503, `the cluster "${named("early")}" waits for a range of its pool`]);
  const spec = { prefixes: ["10.77.0.0/23"], allocationPrefixLength: 26 };
  await world.make(POOLS, { metadata: { name: named("pool") }, spec });
  await begins("early", "10.77.0.0/24");
  await make("second");
  await begins("second", "10.77.1.0/24");
  const service = await world.ask("POST", `/clusters/${named("second")}/api/v1/namespaces/default/services`, {
    body: { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } },
  });
  expect((service.body as { spec?: { clusterIP?: string } }).spec?.clusterIP).toMatch(/^10\.77\.1\./);
  await make("third");
  await vi.waitFor(async () => {
    expect((await statusOf("third"))?.conditions?.[0]?.message).toContain("PoolExhausted, no prefix of length 24 available");
  }, PATIENCE);
  // Nobody can take the range of a cluster that is there.
  await world.ask("DELETE", `${CLAIMS}/cluster-${named("early")}`);
  const deleted = await world.ask("DELETE", `${POOLS}/${named("pool")}`);
  expect([deleted.code, deleted.body.message]).toEqual([400, expect.stringContaining("Pool has IPAddresses allocated")]);
  expect(await statusOf("third")).toMatchObject({ phase: "Pending" });
  await world.ask("DELETE", `${OBJECTS}/${named("early")}`);
  await begins("third", "10.77.0.0/24");
  for (const suffix of ["second", "third"]) await world.ask("DELETE", `${OBJECTS}/${named(suffix)}`);
  await vi.waitFor(async () => {
    for (const suffix of ["early", "second", "third"])
      expect((await world.ask("GET", `${CLAIMS}/cluster-${named(suffix)}`)).code, suffix).toBe(404);
  }, PATIENCE);
  await vi.waitFor(async () => expect((await world.ask("DELETE", `${POOLS}/${named("pool")}`)).code).toBe(200), PATIENCE);
});
