/** Service ranges with which a cluster begins, and quotas with which its namespaces start, from the object of the cluster to what it has, with the whole Worker. */
import { beforeEach, expect, it, vi } from "vitest";
import { AccessWorld, type Answer } from "../../support/access/access-world";
import { PATIENCE } from "../../support/objects/patience";

const OBJECTS = "/clusters/default/apis/servicenet.dev/v1alpha1/clusters";

interface Shown {
  spec?: { serviceCIDRs?: string[] };
  status?: { phase?: string; serviceCIDRs?: string[] };
}

let world: AccessWorld;
beforeEach(() => (world = new AccessWorld()));

/** A name of this world: tests have `default` together. */
const named = (suffix: string): string => `${world.cluster}-${suffix}`;
const shown = ({ body }: Answer): Shown => body as unknown as Shown;
const read = (suffix: string): Promise<Answer> => world.ask("GET", `${OBJECTS}/${named(suffix)}`);

async function becomesActive(suffix: string): Promise<void> {
  await vi.waitFor(async () => expect(shown(await read(suffix)).status?.phase).toBe("Active"), PATIENCE);
}

/** Name and ClusterIPs of each Service, and the ranges of each ServiceCIDR. */
async function begun(suffix: string): Promise<unknown> {
  const path = `/clusters/${named(suffix)}`;
  const items = async (of: string): Promise<unknown[]> => (await world.ask("GET", `${path}${of}`)).body.items as unknown[];
  const services = (await items("/api/v1/services")) as { metadata: { name: string }; spec: { clusterIPs: string[] } }[];
  const ranges = (await items("/apis/networking.k8s.io/v1/servicecidrs")) as { metadata: { name: string }; spec: { cidrs: string[] } }[];
  return {
    services: services.map(({ metadata, spec }) => `${metadata.name} ${spec.clusterIPs.join()}`),
    ranges: ranges.map(({ metadata, spec }) => `${metadata.name} ${spec.cidrs.join()}`),
  };
}

it("serviceCIDRs: the cluster begins with them, by its object and by PUT, and they are the same thing", async () => {
  const own = ["fd01::/112", "10.1.0.0/16"];
  await world.make(OBJECTS, { metadata: { name: named("a") }, spec: { serviceCIDRs: own } });
  const made = await world.ask("PUT", `/clusters/${named("b")}`, { body: { serviceCIDRs: own } });
  for (const suffix of ["a", "b"]) await becomesActive(suffix);
  expect([made.code, made.body.serviceCIDRs]).toEqual([201, own]);
  for (const suffix of ["a", "b"]) {
    const { spec, status } = shown(await read(suffix));
    expect([spec?.serviceCIDRs, status?.serviceCIDRs]).toEqual([own, own]);
    expect((await world.ask("GET", `/clusters/${named(suffix)}`)).body.serviceCIDRs).toEqual(own);
    expect(await begun(suffix)).toEqual({ services: ["kubernetes fd01::1"], ranges: [`kubernetes ${own.join()}`] });
    const service = { metadata: { name: "s" }, spec: { ipFamilyPolicy: "RequireDualStack", ports: [{ port: 80 }] } };
    const { code, body } = await world.ask("POST", `/clusters/${named(suffix)}/api/v1/namespaces/default/services`, { body: service });
    const { clusterIPs } = body.spec as { clusterIPs: string[] };
    expect([code, clusterIPs[0]?.startsWith("fd01::"), clusterIPs[1]?.startsWith("10.1.")]).toEqual([201, true, true]);
  }
  const again = (serviceCIDRs: unknown): Promise<Answer> => world.ask("PUT", `/clusters/${named("a")}`, { body: { serviceCIDRs } });
  const answers = [
    await again(own),
    await again(null),
    await again(own.join()),
    await again(["10.2.0.0/16"]),
    await again(["10.2.0.1/16"]),
    await again(7),
  ];
  expect(answers.map(({ code, body }) => `${code} ${code < 300 ? "" : String(body.message)}`.trim())).toEqual([
    "200",
    "200",
    "200",
    `422 Cluster "${named("a")}" is invalid: serviceCIDRs: Invalid value: ["10.2.0.0/16"]: field is immutable`,
    `422 Cluster "${named("a")}" is invalid: serviceCIDRs[0]: Invalid value: "10.2.0.1/16": must not have bits set beyond the prefix length`,
    '400 serviceCIDRs must be a list of CIDRs, as ["10.96.0.0/16"], or null',
  ]);
});

it("a cluster without ranges of its own: begins with the variable's, and its status has them", async () => {
  await world.make(OBJECTS, { metadata: { name: named("a") } });
  await becomesActive("a");
  const { status } = shown(await read("a"));
  expect([(await world.ask("GET", `/clusters/${named("a")}`)).body.serviceCIDRs, status?.serviceCIDRs]).toEqual([
    null,
    expect.arrayContaining([expect.stringContaining("/")]),
  ]);
  expect(await begun("a")).toMatchObject({ ranges: [`kubernetes ${status?.serviceCIDRs?.join() ?? ""}`] });
});

it("quotas: a namespace that somebody makes starts with them, and those of the beginning do not", async () => {
  await world.make(OBJECTS, { metadata: { name: named("a") }, spec: { quotas: { "count/configmaps": "1", services: "5" } } });
  await becomesActive("a");
  const api = `/clusters/${named("a")}/api/v1`;
  const quotas = async (): Promise<unknown> => {
    const { items } = (await world.ask("GET", `${api}/resourcequotas`)).body as unknown as {
      items: { metadata: { name: string; namespace: string }; spec: { hard: object } }[];
    };
    return items.map(({ metadata, spec }) => [`${metadata.namespace}/${metadata.name}`, spec.hard]);
  };
  expect(await quotas()).toEqual([]);
  expect((await world.ask("POST", `${api}/namespaces`, { body: { metadata: { name: "team" } } })).code).toBe(201);
  expect(await quotas()).toEqual([["team/initial", { "count/configmaps": "1", services: "5" }]]);
  const create = async (name: string): Promise<number> =>
    (await world.ask("POST", `${api}/namespaces/team/configmaps`, { body: { metadata: { name } } })).code;
  expect([await create("a"), await create("b")]).toEqual([201, 403]);
});
