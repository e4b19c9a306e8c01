/** `npm run import` against the started server: dumps as kubectl prints them. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { afterAll, describe, expect, it } from "vitest";
import type { IPAddress, KubeObject, Service } from "../../../src/api/meta/kubernetes";
import { progressOn } from "../../../scripts/terminal/progress";
import { clusterForTests, DUAL_STACK } from "../../support/server/cluster-for-tests";
import { runProgram } from "../../support/server/program";
import { getJson, removeFolder, startServer, temporaryFolder } from "../../support/server/server";
import { root } from "../../../scripts/running/root.mjs";

const liveCluster = join(root, "test", "e2e", "dumps", "live-cluster.json");
const PATHS = {
  namespaces: "/api/v1/namespaces",
  services: "/api/v1/services",
  servicecidrs: "/apis/networking.k8s.io/v1/servicecidrs",
  ipaddresses: "/apis/networking.k8s.io/v1/ipaddresses",
} as const;
/** More than a page of any list. */
const MANY = 520;

interface List<T> {
  metadata: { resourceVersion: string };
  items: T[];
}

interface Report {
  dryRun: boolean;
  created: string[];
  present: string[];
  statusesRestored: string[];
  conflicts: { object: string; reason: string; message: string }[];
  notices: { object: string; reason: string; message: string }[];
}

const dumps = temporaryFolder();
/** Each test has another cluster there. */
const server = clusterForTests({ args: DUAL_STACK });

afterAll(() => removeFolder(dumps));

const run = (args: readonly string[], input?: string) => runProgram("import", args, input === undefined ? {} : { input });

async function importInto(cluster: string, args: readonly string[]): Promise<{ code: number | null; report: Report }> {
  const { code, out, err } = await run(["--server", server.origin, "--cluster", cluster, "--json", ...args]);
  expect(err).toBe("");
  return { code, report: JSON.parse(out) as Report };
}

function list<T = KubeObject>(cluster: string, resource: keyof typeof PATHS): Promise<List<T>> {
  return getJson<List<T>>(`${server.origin}/clusters/${cluster}${PATHS[resource]}`);
}

/** Everything that an import could change. */
async function contents(cluster: string): Promise<unknown> {
  return Promise.all((Object.keys(PATHS) as (keyof typeof PATHS)[]).map((resource) => list(cluster, resource)));
}

/** Begins the cluster, and waits until it has what it makes for itself. */
async function begun(cluster: string): Promise<void> {
  expect((await fetch(`${server.origin}/clusters/${cluster}`, { method: "PUT" })).status).toBe(201);
  await expect.poll(async () => (await list(cluster, "ipaddresses")).items.length, { timeout: 20_000 }).toBe(1);
  const ready = async () => JSON.stringify((await list(cluster, "servicecidrs")).items).includes("is ready");
  await expect.poll(ready, { timeout: 20_000 }).toBe(true);
}

function dumpFile(name: string, content: string): string {
  const path = join(dumps, name);
  writeFileSync(path, content);
  return path;
}

function service(name: string, clusterIP: string, spec: Service["spec"] = {}): object {
  const whole = { type: "ClusterIP", clusterIP, clusterIPs: [clusterIP], ports: [{ port: 80, protocol: "TCP", targetPort: 80 }], ...spec };
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace: "shop", uid: "x", resourceVersion: "1" }, spec: whole };
}
const listOf = (items: readonly object[]) => ({ apiVersion: "v1", kind: "List", items });

describe("a dump of a live cluster", () => {
  it("a dry run: reports, changes nothing; the import: does it; a second import: nothing to do", async () => {
    await begun("whole");
    const before = await contents("whole");
    const dry = await importInto("whole", ["--dry-run", liveCluster]);
    expect(dry.report.conflicts).toEqual([]);
    expect(dry).toMatchObject({ code: 0, report: { dryRun: true, statusesRestored: ["Service tools/balanced"] } });
    expect(await contents("whole")).toEqual(before);

    const first = await importInto("whole", [liveCluster]);
    expect(first.report.conflicts).toEqual([]);
    expect(first.code).toBe(0);
    expect([...first.report.created].sort()).toEqual([...dry.report.created].sort());
    expect(first.report.created).toHaveLength(2 + 1 + 8 + 1);
    expect(first.report.present).toEqual(["ServiceCIDR kubernetes", "Service default/kubernetes", "Namespace default"]);
    expect(first.report.notices).toEqual([
      {
        object: "Service tools/balanced",
        reason: "Changed",
        message: "loses its ownerReferences: they name objects of the dumped cluster by their uid",
      },
    ]);

    // Every Service as it was, but for what a server sets.
    const dumped = (JSON.parse(readFileSync(liveCluster, "utf8")) as List<Service & { kind: string }>).items;
    const services = (await list<Service>("whole", "services")).items;
    const seen = (items: readonly Service[]) =>
      new Map(items.map(({ metadata, spec, status }) => [`${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`, { spec, status }]));
    const [want, got] = [seen(dumped.filter(({ kind }) => kind === "Service")), seen(services)];
    expect([...got.keys()].sort()).toEqual([...want.keys()].sort());
    want.delete("default/kubernetes");
    for (const [name, { spec, status }] of want) expect([name, got.get(name)]).toEqual([name, { spec, status }]);
    // Every address with its parent.
    const parents = (items: readonly IPAddress[]) =>
      items
        .map(({ metadata, spec }) => [metadata?.name, spec?.parentRef.resource, spec?.parentRef.namespace, spec?.parentRef.name].join(" "))
        .sort();
    const wanted = parents(dumped.filter(({ kind }) => kind === "IPAddress") as IPAddress[]);
    await expect.poll(async () => parents((await list<IPAddress>("whole", "ipaddresses")).items)).toEqual(wanted);
    const shop = (await list("whole", "namespaces")).items.find(({ metadata }) => metadata?.name === "shop");
    expect(shop?.metadata?.labels).toMatchObject({ team: "orders" });

    const after = await contents("whole");
    const second = await importInto("whole", [liveCluster]);
    expect(second).toMatchObject({ code: 0, report: { created: [], statusesRestored: [], conflicts: [] } });
    expect([...second.report.present].sort()).toEqual([...first.report.created, ...first.report.present].sort());
    expect(await contents("whole")).toEqual(after);
  });

  it("conflicts: each reported by name; the import does the rest", async () => {
    await begun("conflicts");
    const url = `${server.origin}/clusters/conflicts/api/v1/namespaces`;
    const post = (path: string, body: object) =>
      fetch(url + path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    await post("", { metadata: { name: "live" } });
    const living = await post("/live/services", {
      metadata: { name: "here" },
      spec: { type: "NodePort", clusterIP: "10.96.0.50", ports: [{ port: 80, nodePort: 30_050 }] },
    });
    expect(living.status).toBe(201);
    const nodePort = (port: number) => ({ type: "NodePort", ports: [{ port: 80, nodePort: port }] });
    const cidr = {
      apiVersion: "networking.k8s.io/v1",
      kind: "ServiceCIDR",
      metadata: { name: "kubernetes" },
      spec: { cidrs: ["10.0.0.0/24"] },
    };
    const bad = { ...cidr, metadata: { name: "bad" }, spec: { cidrs: ["10.98.0.1/24"] } };
    const file = dumpFile(
      "conflicts.json",
      JSON.stringify(
        listOf([
          cidr,
          bad,
          service("taken", "10.96.0.50"),
          service("first", "10.96.0.60"),
          service("second", "10.96.0.60"),
          service("outside", "10.0.0.9"),
          service("port", "10.96.0.61", nodePort(30_050)),
          service("port-range", "10.96.0.62", nodePort(80)),
          service("Bad_Name", "10.96.0.63"),
          service("no-ports", "10.96.0.64", { ports: [] }),
        ]),
      ),
    );
    const range = dumpFile("range.yaml", stringify({ apiVersion: "v1", kind: "RangeAllocation", range: "10.96.0.0/16", data: "BA==" }));
    const want = [
      "Different ServiceCIDR kubernetes is there with the ranges [10.96.0.0/16,fd00:96::/112], not [10.0.0.0/24]",
      "AddressTaken Service shop/taken has the address 10.96.0.50, which Service live/here holds",
      "AddressTaken Service shop/second has the address 10.96.0.60, which Service shop/first holds",
      "OutOfRange Service shop/outside has the address 10.0.0.9, which no ServiceCIDR gives out",
      "NodePortTaken Service shop/port has the node port TCP/30050, which Service live/here holds",
      "Unexplained RangeAllocation 10.96.0.0/16 counts 10.96.0.3 as taken: the bit is set, and no object has the address",
      "Invalid ServiceCIDR bad is refused: ",
      "Invalid Service shop/port-range is refused: ",
      "Invalid Service shop/Bad_Name is refused: ",
      "Invalid Service shop/no-ports is refused: ",
    ];
    const told = ({ conflicts }: Report) => conflicts.map(({ reason, object, message }) => `${reason} ${object} ${message}`);
    const before = await contents("conflicts");
    const dry = await importInto("conflicts", ["--dry-run", file, range]);
    expect(dry.code).toBe(1);
    for (const line of want) expect(told(dry.report)).toContainEqual(expect.stringContaining(line));
    expect(dry.report.conflicts).toHaveLength(want.length);
    expect(await contents("conflicts")).toEqual(before);

    const real = await importInto("conflicts", [file, range]);
    expect(real.code).toBe(1);
    expect(real.report.created).toEqual(["Namespace shop", "Service shop/first"]);
    for (const line of want) expect(told(real.report)).toContainEqual(expect.stringContaining(line));
    expect(real.report.conflicts).toHaveLength(want.length);
  });

  it(`${String(MANY)} Services in YAML beside a RangeAllocation: all imported`, async () => {
    await begun("many");
    const address = (i: number) => `10.96.${String(1 + (i >> 8))}.${String(i & 255)}`;
    const services = Array.from({ length: MANY }, (_, i) => service(`s-${String(i)}`, address(i)));
    const file = dumpFile("many.yaml", stringify(listOf(services)));
    // Address k + 1 of the range has bit k: those of the Services, and 10.96.0.16, which nothing explains.
    const bits = [15, ...services.map((_, i) => 256 + i - 1)].reduce((sum, bit) => sum | (1n << BigInt(bit)), 0n);
    const hex = bits.toString(16);
    const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex").toString("base64");
    const range = dumpFile(
      "many-range.json",
      JSON.stringify({ apiVersion: "v1", kind: "RangeAllocation", range: "10.96.0.0/16", data: bytes }),
    );
    const { code, report } = await importInto("many", [file, range]);
    expect(report.conflicts).toEqual([
      {
        object: "RangeAllocation 10.96.0.0/16",
        reason: "Unexplained",
        message: "counts 10.96.0.16 as taken: the bit is set, and no object has the address",
      },
    ]);
    expect(code).toBe(1);
    expect(report.created).toHaveLength(MANY + 1);
    const found = new Map((await list<Service>("many", "services")).items.map(({ metadata, spec }) => [metadata?.name, spec?.clusterIP]));
    expect(services.every((_, i) => found.get(`s-${String(i)}`) === address(i))).toBe(true);
    expect((await list("many", "ipaddresses")).items).toHaveLength(MANY + 1);
    const again = await importInto("many", [file]);
    expect(again).toMatchObject({ code: 0, report: { created: [], conflicts: [] } });
    expect(again.report.present).toHaveLength(MANY);
  });
});

it("MultiCIDRServiceAllocator off: Services in the ranges are imported, unserved resources named", async () => {
  const folder = temporaryFolder();
  const old = await startServer(folder, ["--var", "FEATURE_GATES=MultiCIDRServiceAllocator=false,DisableAllocatorDualWrite=false"]);
  try {
    const file = dumpFile("old.json", JSON.stringify(listOf([service("a", "10.96.0.9"), service("b", "10.99.0.9")])));
    const { code, out, err } = await run(["--server", old.url, "--json", file]);
    expect(err).toBe("");
    const report = JSON.parse(out) as Report;
    expect(report.created).toEqual(["Namespace shop", "Service shop/a"]);
    expect(report.conflicts.map(({ object, reason }) => [object, reason])).toEqual([["Service shop/b", "OutOfRange"]]);
    expect(code).toBe(1);
    const more = await run(["--server", old.url, "--json", liveCluster]);
    const refused = (JSON.parse(more.out) as Report).conflicts.filter(({ reason }) => reason === "Refused");
    expect(refused.map(({ object }) => object)).toContain("ServiceCIDR more");
  } finally {
    await old.stop();
    removeFolder(folder);
  }
});

describe("the program", () => {
  it("standard input: read; the report: text for people", async () => {
    await begun("people");
    const dump = JSON.stringify(listOf([service("a", "10.96.0.9"), service("b", "10.96.0.9")]));
    const { code, out } = await run(["--server", `${server.origin}/`, "--cluster", "people", "--dry-run", "-"], dump);
    expect(code).toBe(1);
    expect(out).toBe(`Would create 2: 1 Namespace, 1 Service
Already there: 0: none

Conflicts: 1
  AddressTaken: Service shop/b has the address 10.96.0.9, which Service shop/a holds

Nothing was changed: this was a dry run.
`);
  });

  it.each([
    [true, ["\r[############............] services 5/10\x1b[K", "\r\x1b[K"]],
    [false, []],
  ])("progress (%s): shown on a terminal alone", (isTTY, want) => {
    const written: string[] = [];
    const progress = progressOn({ isTTY, write: (text: string | Uint8Array) => written.push(String(text)) > 0 });
    progress.show("services", 5, 10);
    progress.show("services", 10, 10);
    expect(written).toEqual(want);
  });

  it.each([
    ["no file", () => [], /^import: no FILE given/],
    ["a file that is not there", () => ["/nowhere/at/all.json"], /^import: \/nowhere\/at\/all\.json cannot be read/],
    ["no JSON", () => [dumpFile("cut.json", '{"kind":"List","items":[')], /^import: .*cut\.json is no JSON/],
    ["no YAML", () => [dumpFile("bad.yaml", "a: [1")], /^import: .*bad\.yaml is neither JSON nor YAML/],
    ["an unknown option", () => ["--force", liveCluster], /^import: Unknown option '--force'/],
    ["a server that is no API server", () => ["--server", `${server.origin}/nothing`, liveCluster], /^import: .*answers 404/],
  ])("%s: one line, exit code 2", async (_, args, want) => {
    const { code, out, err } = await run(["--server", server.origin, ...args()]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(want);
    expect(err.trimEnd().split("\n")).toHaveLength(1);
  });
});
