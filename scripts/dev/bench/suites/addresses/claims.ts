/**
 * 1,000 claims on one pool of addresses, made at once: until every claim has its address, and all of these differ. Beside it the creates of as many
 * Services, each of which has its ClusterIP in the answer.
 */
import type { AddressClaim, PoolAddress } from "../../../../../src/api/registry/ipam/ipam";
import type { Server } from "../../../../../test/support/server/server";
import { cpuMs } from "../../cpu";
import type { BenchRow } from "../../row";
import { withServer } from "../../started";

const CLAIMS = 1_000;
const CONNECTIONS = 100;
const ROUNDS = 3;
const RATE_MIN = 500;
const RANGE = "10.0.0.0/12";
const GROUP = "/apis/ipam.cluster.x-k8s.io";
const CLAIMS_PATH = `${GROUP}/v1beta2/namespaces/default/ipaddressclaims`;
const ADDRESSES_PATH = `${GROUP}/v1beta2/namespaces/default/ipaddresses`;
const LOOK_MS = 20;
const SERVED_MS_MAX = 120_000;

export function benchClaims(): Promise<BenchRow[]> {
  return withServer(RANGE, async (server) => {
    const spec = { addresses: ["10.200.0.0/16"], prefix: 16 };
    await post(server, `${GROUP}/v1alpha2/namespaces/default/inclusterippools`, { metadata: { name: "p" }, spec });
    await claimAll(server, "warm");
    const rates: number[] = [];
    let cpu = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const [cpuBefore, begunAt] = [cpuMs(server.runtimePid) ?? NaN, performance.now()];
      await claimAll(server, `r${String(round)}`);
      rates.push(CLAIMS / ((performance.now() - begunAt) / 1_000));
      cpu += (cpuMs(server.runtimePid) ?? NaN) - cpuBefore;
    }
    const services: number[] = [];
    let serviceCpu = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const [cpuBefore, begunAt] = [cpuMs(server.runtimePid) ?? NaN, performance.now()];
      await atOnce((i) =>
        post(server, "/api/v1/namespaces/default/services", {
          metadata: { name: `s${String(round)}-${String(i)}` },
          spec: { ports: [{ port: 80 }] },
        }),
      );
      services.push(CLAIMS / ((performance.now() - begunAt) / 1_000));
      serviceCpu += (cpuMs(server.runtimePid) ?? NaN) - cpuBefore;
    }
    await allDiffer(server, CLAIMS * (ROUNDS + 1));
    const rate = median(rates);
    return [
      {
        name: "claims.rate",
        value: Math.round(rate),
        unit: "/s",
        target: `>= ${String(RATE_MIN)}`,
        ok: rate >= RATE_MIN,
        note: `${CLAIMS.toLocaleString("en-US")} claims at once on one pool until each has its address, all different; median of ${String(ROUNDS)} rounds, ${microseconds(cpu)} µs of the runtime for each`,
      },
      {
        name: "claims.services",
        value: Math.round(median(services)),
        unit: "/s",
        note: `as many Services created at once, beside it, ${microseconds(serviceCpu)} µs of the runtime for each`,
      },
    ];
  });
}

/** Of each claim, or Service, of all rounds. */
function microseconds(ms: number): string {
  return ((ms / (CLAIMS * ROUNDS)) * 1_000).toFixed(0);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

/** Over as many connections as the creates of the other suites have. */
async function atOnce(work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const client = async (): Promise<void> => {
    for (let i = next++; i < CLAIMS; i = next++) await work(i);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
}

/** Every claim of this name has its address. */
async function claimAll(server: Server, prefix: string): Promise<void> {
  const poolRef = { apiGroup: "ipam.cluster.x-k8s.io", kind: "InClusterIPPool", name: "p" };
  const endsAt = performance.now() + SERVED_MS_MAX;
  await atOnce((i) =>
    post(server, CLAIMS_PATH, { metadata: { name: `${prefix}-${String(i)}`, labels: { round: prefix } }, spec: { poolRef } }),
  );
  for (;;) {
    const claims = await list<AddressClaim>(server, `${CLAIMS_PATH}?labelSelector=round%3D${prefix}`);
    if (claims.length === CLAIMS && claims.every(({ status }) => status?.addressRef)) return;
    if (performance.now() > endsAt) throw new Error(`claims wait for longer than ${String(SERVED_MS_MAX)} ms`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function allDiffer(server: Server, count: number): Promise<void> {
  const addresses = await list<PoolAddress>(server, ADDRESSES_PATH);
  const different = new Set(addresses.map(({ spec }) => spec?.address)).size;
  if (different !== count) throw new Error(`${String(count)} claims have ${String(different)} different addresses`);
}

async function list<T>(server: Server, path: string): Promise<T[]> {
  const answer = await fetch(server.url + path).catch(() => fetch(server.url + path));
  if (!answer.ok) throw new Error(`GET ${path}: ${String(answer.status)} ${await answer.text()}`);
  return ((await answer.json()) as { items: T[] }).items;
}

/** A connection that the server has just closed is no answer: the request is made again, and may find its object. */
async function post(server: Server, path: string, body: object): Promise<void> {
  const request = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(server.url + path, request).catch(() => fetch(server.url + path, request));
  if (!answer.ok && answer.status !== 409) throw new Error(`POST ${path}: ${String(answer.status)} ${await answer.text()}`);
  await answer.arrayBuffer();
}
