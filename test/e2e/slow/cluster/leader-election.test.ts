/** Two processes elect a leader at a real server, also over a slow network: kill -9 of the leader, and of the server under the leader. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, expect, it, onTestFinished } from "vitest";
import type { ConfigMap, KubeObject, Lease } from "../../../../src/api/meta/kubernetes";
import { FENCING_TOKEN } from "../../../../src/clients/elector/fencing";
import { Api } from "../../../support/clients/api";
import { serverForTests } from "../../../support/server/server-for-tests";
import { getJson } from "../../../support/server/server";
import { slowNetwork } from "../../../support/server/slow-network";
import { root } from "../../../../scripts/running/root.mjs";

/** the third argument of the program: how long a silent leader is waited for */
const LEASE_SECONDS = 6;
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const server = serverForTests();
const children: ChildProcess[] = [];
afterAll(() => children.forEach((child) => child.kill("SIGKILL")));

interface Candidate {
  name: string;
  child: ChildProcess;
  output: () => string;
}

function candidate(name: string, url: string): Candidate {
  const program = ["scripts/run.mjs", "test/support/examples/elect.ts", url, name, String(LEASE_SECONDS)];
  const child = spawn(process.execPath, program, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return { name, child, output: () => text };
}

const counted = (): Promise<ConfigMap> => getJson<ConfigMap>(`${server.url}${CONFIG_MAPS}/counted`);
const tokenOf = ({ metadata }: ConfigMap): number => Number(metadata?.annotations?.[FENCING_TOKEN.key]);
const counts = ({ output, name }: Candidate): number[] =>
  [...output().matchAll(new RegExp(`^${name} has counted to (\\d+)$`, "gm"))].map(([, count]) => Number(count));

/** Until this candidate has counted again. */
async function countsOn(who: Candidate, seconds: number): Promise<void> {
  const before = counts(who).length;
  await expect.poll(() => counts(who).length, { timeout: seconds * 1000, message: who.output() }).toBeGreaterThan(before);
}

/** What an object was since then, in the order of the store. */
async function sinceThen(collection: string, name: string, resourceVersion: string): Promise<KubeObject[]> {
  const query = { resourceVersion, fieldSelector: `metadata.name=${name}`, timeoutSeconds: "1" };
  const watch = await new Api(() => server.url).watch(collection, query);
  return (await watch.rest()).map(({ object }) => object);
}

/** Every write of the work since then. */
async function writesSince(resourceVersion: string): Promise<ConfigMap[]> {
  const written = (await sinceThen(CONFIG_MAPS, "counted", resourceVersion)) as ConfigMap[];
  return written.filter(({ data }) => data?.["by"] !== undefined);
}

it.each([
  ["a quick network", 0],
  ["200 ms of latency each way", 200],
])(
  "%s, kill -9 of the leader: the other one leads when the Lease has run out; of the server: the leader goes on, or another with a later token",
  async (_, latencyMs) => {
    const network = await slowNetwork(server.url, latencyMs);
    onTestFinished(() => network.close());
    const { metadata: before } = await getJson<KubeObject>(server.url + CONFIG_MAPS);
    const { metadata: unled } = await getJson<KubeObject>(server.url + LEASES);
    const a = candidate("a", network.url);
    await countsOn(a, 30);
    const b = candidate("b", network.url);
    const first = await counted();
    a.child.kill("SIGKILL");
    await expect.poll(b.output, { timeout: 60_000 }).toContain("b leads");
    await countsOn(b, 30);
    expect(tokenOf(await counted())).toBeGreaterThan(tokenOf(first));

    const c = candidate("c", network.url);
    const { port } = new URL(server.url);
    await server.kill();
    await server.start(["--port", port]);
    const second = await counted();
    const count = async (): Promise<number> => Number((await counted()).data?.["count"]);
    await expect.poll(count, { timeout: 60_000 }).toBeGreaterThan(Number(second.data?.["count"]));
    const last = await counted();
    expect(tokenOf(last)).toBeGreaterThanOrEqual(tokenOf(second));

    // Whoever takes a Lease that nobody has released has waited until it ran out. One clock for all: they are on one machine.
    const held = (await sinceThen(LEASES, "counting", unled?.resourceVersion ?? "")) as Lease[];
    const isOf = (holder: string, { spec }: Lease): boolean => spec?.holderIdentity?.startsWith(`${holder}_`) ?? false;
    expect(held.findIndex((lease) => isOf("b", lease))).toBeGreaterThan(held.findIndex((lease) => isOf("a", lease)));
    for (const [i, { spec: next }] of held.entries()) {
      const last = held[i - 1]?.spec;
      if (!last?.holderIdentity || !next?.holderIdentity || last.holderIdentity === next.holderIdentity) continue;
      const waitedMs = Date.parse(next.acquireTime ?? "") - Date.parse(last.renewTime ?? "");
      expect(waitedMs, `${last.holderIdentity} before ${next.holderIdentity}`).toBeGreaterThanOrEqual(LEASE_SECONDS * 1000);
    }

    // Each count was written once: no process overwrote what another one had written.
    const all = [a, b, c].flatMap(counts);
    expect(new Set(all).size).toBe(all.length);

    // Nobody writes with a token of before once somebody has written with a later one, and each token is one process's.
    const writes = await writesSince(before?.resourceVersion ?? "");
    const tokens = writes.map(tokenOf);
    expect(tokens).toEqual([...tokens].sort((one, other) => one - other));
    const terms = new Set(writes.map((write) => `${String(tokenOf(write))} ${write.data?.["by"] ?? ""}`));
    expect(terms.size).toBe(new Set(tokens).size);
    expect(terms.size).toBeGreaterThanOrEqual(2);
    for (const { child } of [b, c]) child.kill("SIGINT");
    const ended = async ({ child }: Candidate): Promise<void> => void (child.exitCode === null && (await once(child, "exit")));
    await Promise.all([b, c].map(ended));
  },
  180_000,
);
