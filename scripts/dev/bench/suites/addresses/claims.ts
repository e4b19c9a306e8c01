/**
 * 1,000 claims on one pool of addresses, made at once: until every claim has its address, and all of these differ. Beside it the creates of as many
 * Services, each of which has its ClusterIP in the answer.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { AddressClaim, PoolAddress } from "../../../../../src/api/registry/ipam/ipam";
import { Api } from "../../../../../test/support/clients/api";
import type { Server } from "../../../../../test/support/server/server";
import { cpuMs } from "../../cpu";
import { median } from "../../figures";
import { writesPerSecond } from "../../json-writes";
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
const WRITES = { method: "POST", count: CLAIMS, connections: CONNECTIONS, code: 201 };
const SERVED_MS_MAX = 120_000;

export function benchClaims(): Promise<BenchRow[]> {
  return withServer(RANGE, async (server) => {
    const spec = { addresses: ["10.200.0.0/16"], prefix: 16 };
    const api = new Api(() => server.url);
    await api.must("POST", `${GROUP}/v1alpha2/namespaces/default/inclusterippools`, { body: { metadata: { name: "p" }, spec } });
    await claimAll(server, api, "warm");
    const rates: number[] = [];
    let cpu = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const [cpuBefore, begunAt] = [cpuMs(server.runtimePid) ?? NaN, performance.now()];
      await claimAll(server, api, `r${String(round)}`);
      rates.push(CLAIMS / ((performance.now() - begunAt) / 1_000));
      cpu += (cpuMs(server.runtimePid) ?? NaN) - cpuBefore;
    }
    const services: number[] = [];
    let serviceCpu = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const cpuBefore = cpuMs(server.runtimePid) ?? NaN;
      const rate = await writesPerSecond(server, WRITES, (i) => [
        "/api/v1/namespaces/default/services",
        { metadata: { name: `s${String(round)}-${String(i)}` }, spec: { ports: [{ port: 80 }] } },
      ]);
      services.push(rate);
      serviceCpu += (cpuMs(server.runtimePid) ?? NaN) - cpuBefore;
    }
    await allDiffer(api, CLAIMS * (ROUNDS + 1));
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

/** Every claim of this name has its address. */
async function claimAll(server: Server, api: Api, prefix: string): Promise<void> {
  const poolRef = { apiGroup: "ipam.cluster.x-k8s.io", kind: "InClusterIPPool", name: "p" };
  const endsAt = performance.now() + SERVED_MS_MAX;
  await writesPerSecond(server, WRITES, (i) => [
    CLAIMS_PATH,
    { metadata: { name: `${prefix}-${String(i)}`, labels: { round: prefix } }, spec: { poolRef } },
  ]);
  for (;;) {
    const { items } = await api.must("GET", CLAIMS_PATH, { query: { labelSelector: `round=${prefix}` } });
    const claims = items as AddressClaim[];
    if (claims.length === CLAIMS && claims.every(({ status }) => status?.addressRef)) return;
    if (performance.now() > endsAt) throw new Error(`claims wait for longer than ${String(SERVED_MS_MAX)} ms`);
    await sleep(LOOK_MS);
  }
}

async function allDiffer(api: Api, count: number): Promise<void> {
  const { items } = await api.must("GET", ADDRESSES_PATH);
  const different = new Set((items as PoolAddress[]).map(({ spec }) => spec?.address)).size;
  if (different !== count) throw new Error(`${String(count)} claims have ${String(different)} different addresses`);
}
