/** Feature gates switched between two starts of the server on the same data: no Service loses its address, whatever is on or off. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RangeAllocation, readRangeAllocation } from "../../../../src/tools/import/range-allocation";
import { upstreamRow } from "../../../conformance/upstream-row";
import { Api, type Body, MERGE_PATCH } from "../../../support/clients/api";
import { followZones, plainFetch } from "../../../support/examples/zones";
import { removeFolder, type Server, startServer, temporaryFolder } from "../../../support/server/server";

const SERVICES = "/api/v1/namespaces/default/services";
const NETWORKING = "/apis/networking.k8s.io/v1";
const OFF = "MultiCIDRServiceAllocator=false,DisableAllocatorDualWrite=false";
/** The old allocator refuses more than 20 host bits, so the range has to be smaller while the gate is off. */
const ON_RANGES = "10.96.0.0/24,2001:db8::/64";
const OFF_RANGES = "10.96.0.0/24,2001:db8::/112";
const BEYOND = "2001:db8::ffff:ffff:ffff:1";

const folder = temporaryFolder();
let server: Server | undefined;
const api = new Api(() => server?.url ?? "");

async function start(gates: string, ranges: string): Promise<void> {
  await server?.stop();
  server = await startServer(folder, ["--var", `SERVICE_CLUSTER_IP_RANGE=${ranges}`, "--var", `FEATURE_GATES=${gates}`]);
}

const create = (name: string, spec: object = {}) =>
  api.send("POST", SERVICES, { body: { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } } });

async function created(name: string, spec: object = {}): Promise<string> {
  const { code, body, text } = await create(name, spec);
  if (code !== 201) throw new Error(`${String(code)} ${text}`);
  return String(body.spec?.["clusterIP"]);
}

async function items(path: string): Promise<Body[]> {
  return (await api.must("GET", path)).items ?? [];
}

/** name -> addresses of all Services */
async function addresses(): Promise<Record<string, unknown>> {
  return Object.fromEntries((await items("/api/v1/services")).map(({ metadata, spec }) => [metadata?.name, spec?.["clusterIPs"]]));
}

/** Every ClusterIP has its IPAddress, and there is no other. */
async function isPaired(): Promise<boolean> {
  const held = Object.entries(await addresses()).flatMap(([name, list]) => (list as string[]).map((address) => `${address} ${name}`));
  const objects = (await items(`${NETWORKING}/ipaddresses`)).map(({ metadata, spec }) => {
    return `${String(metadata?.name)} ${String((spec?.["parentRef"] as { name?: string } | undefined)?.name)}`;
  });
  return JSON.stringify(held.sort()) === JSON.stringify(objects.sort());
}

/** How often each Service was reported out of range: a repeated event counts by its series. */
async function outOfRange(): Promise<Record<string, number>> {
  const events = await items("/api/v1/namespaces/default/events");
  const told = events.filter(({ reason }) => reason === "ClusterIPOutOfRange");
  const times = told.map((event): [string, number] => {
    const { involvedObject, series } = event as { involvedObject?: { name?: string }; series?: { count?: number } };
    return [String(involvedObject?.name), series?.count ?? 1];
  });
  const byName = Object.fromEntries(times.filter(([name]) => name !== "gone"));
  expect(times.filter(([name]) => name !== "gone")).toHaveLength(Object.keys(byName).length);
  return byName;
}

/** Messages about Services that no ServiceCIDR covers: those of servers with the gate on. */
async function outOfAnyRange(): Promise<unknown[]> {
  const messages = (await items("/api/v1/namespaces/default/events")).map((event) => (event as { message?: unknown }).message);
  return messages.filter((message) => String(message).includes("not within any configured Service CIDR"));
}

/** name -> resourceVersion of all Services */
async function versions(): Promise<Record<string, unknown>> {
  return Object.fromEntries((await items("/api/v1/services")).map(({ metadata }) => [metadata?.name, metadata?.resourceVersion]));
}

/** The number of full sweeps of repair. */
async function sweeps(): Promise<number> {
  return Number(/^servicenet_repair_sweeps_total(?:\{[^}]*\})? (\d+)$/m.exec((await api.get("/metrics")).text)?.[1] ?? 0);
}

async function readyRanges(): Promise<string[]> {
  const ranges = await items(`${NETWORKING}/servicecidrs`);
  return ranges.flatMap(({ metadata, status }) => {
    const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string }[] };
    return conditions.some(({ type, status: is }) => type === "Ready" && is === "True") ? [String(metadata?.name)] : [];
  });
}

afterAll(async () => {
  await server?.kill();
  removeFolder(folder);
});

upstreamRow("TestMigrateService, TestEnableDisableServiceCIDR", () => {
  it("off, on, off, on: addresses stay, and each start gives out its own ranges", { timeout: 600_000 }, async () => {
    await start(OFF, OFF_RANGES);
    let followed = "";
    const stopFollowing = followZones(
      (path, init) => plainFetch(server?.url ?? "")(path, init),
      (_, { ready }) => (followed = [...ready.IPv4.prefixes, ...ready.IPv6.prefixes].join()),
    );
    await expect.poll(() => followed, { timeout: 20_000 }).toBe(OFF_RANGES);
    expect(await created("first")).toMatch(/^10\.96\.0\./);
    expect((await api.get(`${NETWORKING}/servicecidrs`)).code).toBe(404);
    expect((await create("elsewhere", { clusterIP: "10.97.0.9" })).body.message).toContain(
      "the provided network does not match the current range",
    );

    for (const round of ["one", "two"]) {
      // The server is ready after its first repair, so the one before is asked.
      const sweptBefore = await sweeps();
      await start("", ON_RANGES);
      await api.until(async () => (await readyRanges()).includes("kubernetes"), "the default ServiceCIDR", 15);
      await api.until(isPaired, "an IPAddress for every ClusterIP", 10);
      if (round === "one") {
        await api.must("POST", `${NETWORKING}/servicecidrs`, { body: { metadata: { name: "extra" }, spec: { cidrs: ["10.97.0.0/24"] } } });
      }
      await api.until(async () => (await readyRanges()).length === 2, "both ServiceCIDRs", 15);
      await expect.poll(() => followed, { timeout: 45_000 }).toContain("10.97.0.0/24");
      expect(await created(`in-extra-${round}`, { clusterIP: `10.97.0.${round === "one" ? "9" : "10"}` })).toMatch(/^10\.97\.0\./);
      if (round === "one") {
        await created("gone", { clusterIP: "10.97.0.99" });
        await created("beyond", { ipFamilies: ["IPv6"], clusterIP: BEYOND });
      } else {
        expect(await created("again", { clusterIP: "10.97.0.99" }), "freed while the gate was off").toBe("10.97.0.99");
        await api.until(async () => (await sweeps()) > sweptBefore, "repair has looked at everything", 150);
        expect(await outOfAnyRange(), "nothing is out of range with the gate on").toEqual([]);
        break;
      }

      const before = await addresses();
      await start(OFF, OFF_RANGES);
      await expect.poll(() => followed, { timeout: 45_000 }).toBe(OFF_RANGES);
      expect(await addresses()).toEqual(before);
      for (const clusterIP of ["10.97.0.20", BEYOND]) {
        const families = clusterIP === BEYOND ? { ipFamilies: ["IPv6"] } : {};
        expect((await create("refused", { clusterIP, ...families })).code).toBe(422);
      }
      for (let i = 0; i < 5; i++) expect(await created(`off-${String(i)}`)).toMatch(/^10\.96\.0\./);
      expect(await created("off-six", { ipFamilies: ["IPv6"] })).toMatch(/^2001:db8::[0-9a-f]{1,4}$/);
      const touched = { metadata: { labels: { touched: "yes" } } };
      for (const name of ["in-extra-one", "beyond"]) {
        expect((await api.patch(`${SERVICES}/${name}`, MERGE_PATCH, touched)).body.spec?.["clusterIPs"]).toEqual(before[name]);
      }
      await api.must("DELETE", `${SERVICES}/gone`);
      const untouched = await versions();
      const isTold = async (times: number): Promise<boolean> => {
        const told = await outOfRange();
        expect(Object.keys(told).filter((name) => name !== "beyond" && name !== "in-extra-one")).toEqual([]);
        return Object.keys(told).length === 2 && Object.values(told).every((count) => count >= times);
      };
      await api.until(() => isTold(1), "an event about each that is out of range", 90);
      await api.until(() => isTold(2), "each told again, in the series of its event", 150);
      expect(await versions(), "what is told is not touched").toEqual(untouched);
    }
    stopFollowing();
    await api.until(isPaired, "an IPAddress for every ClusterIP", 10);
    expect(await addresses()).toMatchObject({ "in-extra-one": ["10.97.0.9"], beyond: [BEYOND], kubernetes: ["10.96.0.1"] });
  });
});

describe("DisableAllocatorDualWrite=false", () => {
  const BITMAPS = "/admin/rangeallocations";
  const held = async (name: string): Promise<string[]> => {
    const read = readRangeAllocation((await api.must("GET", `${BITMAPS}/${name}`)) as RangeAllocation);
    if (!read.ok || read.value.kind !== "addresses") throw new Error("no bitmap of addresses");
    return read.value.addresses.sort();
  };
  const named = async (): Promise<string[]> =>
    (await items(`${NETWORKING}/ipaddresses`)).map(({ metadata }) => String(metadata?.name)).sort();

  beforeAll(async () => {
    await server?.kill();
    server = await startServer(join(folder, "dual"), [
      ...["--var", "SERVICE_CLUSTER_IP_RANGE=10.96.0.0/24,fd00::/112"],
      ...["--var", "FEATURE_GATES=DisableAllocatorDualWrite=false"],
    ]);
  });

  upstreamRow("TestCIDRAllocateDualWrite, ...Collision", () => {
    it("bitmaps and IPAddresses: agree; held addresses are refused, free ones are given", { timeout: 60_000 }, async () => {
      await created("one");
      await created("two", { ipFamilyPolicy: "RequireDualStack", clusterIP: "10.96.0.7", clusterIPs: ["10.96.0.7", "fd00::abcd"] });
      const v4 = await held("serviceips");
      const v6 = await held("secondaryserviceips");
      expect(v4).toContain("10.96.0.7");
      expect(v6).toEqual(["fd00::abcd"]);
      expect([...v4, ...v6].sort()).toEqual(await named());
      for (const clusterIP of v4) {
        expect((await create("collision", { clusterIP })).body.message).toContain("provided IP is already allocated");
      }
      const free = Array.from({ length: 254 }, (_, i) => `10.96.0.${String(i + 1)}`).filter((address) => !v4.includes(address));
      const answers = await Promise.all(free.map((clusterIP, i) => create(`free-${String(i)}`, { clusterIP })));
      expect(answers.filter(({ code }) => code !== 201)).toEqual([]);
      expect(await held("serviceips")).toHaveLength(254);
      await api.must("DELETE", `${SERVICES}/two`);
      expect(await held("secondaryserviceips")).toEqual([]);
      expect(await held("serviceips")).not.toContain("10.96.0.7");
    });

    it("a RangeAllocation: read, and imported again", async () => {
      const bitmap = await api.must("GET", `${BITMAPS}/serviceips`);
      expect(bitmap).toMatchObject({ kind: "RangeAllocation", range: "10.96.0.0/24" });
      const { message } = await api.must("PUT", `${BITMAPS}/serviceips`, { body: bitmap });
      expect(message).toContain("0 repairing, 0 unexplained, 0 missing");
    });
  });
});

describe("ServiceIPStaticSubrange with the other gates", () => {
  it.each([
    ["", false],
    ["ServiceIPStaticSubrange=false", true],
    ["DisableAllocatorDualWrite=false,ServiceIPStaticSubrange=false", true],
    [OFF, false],
    [`${OFF},ServiceIPStaticSubrange=false`, true],
  ])("gates %j: low addresses are given out %j", { timeout: 60_000 }, async (gates, givenOut) => {
    await start(gates, "10.96.0.0/26");
    const cluster = `/clusters/gates-${String(gates.length)}`;
    const answers = await Promise.all(
      Array.from({ length: 28 }, (_, i) =>
        api.must("POST", `${cluster}${SERVICES}`, { body: { metadata: { name: `s${String(i)}` }, spec: { ports: [{ port: 80 }] } } }),
      ),
    );
    const given = answers.map(({ spec }) => String(spec?.["clusterIP"]));
    // 28 of 61, 15 of which are low: none at all has a chance of less than 1 in 10^5
    expect(given.some((address) => Number(address.split(".")[3]) <= 16)).toBe(givenOut);
    const bitmap = await api.get(`${cluster}/admin/rangeallocations/serviceips`);
    if (!gates.includes("DisableAllocatorDualWrite")) {
      expect(bitmap.code).toBe(404);
      return;
    }
    const read = readRangeAllocation(bitmap.body as RangeAllocation);
    expect(read.ok && read.value.kind === "addresses" ? read.value.addresses.sort() : read).toEqual(["10.96.0.1", ...given].sort());
  });
});
