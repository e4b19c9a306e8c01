/** What one renewal of a Lease writes into the tables of its object: rows, and bytes of values. Counted in the runtime itself, by the platform's counters. */
import { resolve } from "node:path";
import { Log, LogLevel, Miniflare, type WorkerOptions } from "miniflare";
import { rfc3339Micros } from "../../src/api/meta/time";
import { bundle } from "../serve/bundle";
import { readRuntimeConfig } from "../serve/runtime";

const RENEWALS = 200;
const COLLECTION = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

export interface RenewalCost {
  rows: number;
  bytes: number;
}

interface Written {
  metadata: { uid: string };
}

/** Of one renewal that has a turn of its store for itself. */
export async function renewalCost(): Promise<RenewalCost> {
  const config = readRuntimeConfig("wrangler.toml", {});
  const contents = await bundle({ ...config, main: resolve("test/support/objects/counted-writes-worker.ts") });
  const runtime = new Miniflare({
    cf: false,
    log: new Log(LogLevel.ERROR),
    workers: [{ ...config.worker, name: config.name, modules: [{ type: "ESModule", path: "index.js", contents }] } as WorkerOptions],
  });
  try {
    const send = async <T = Written>(method: string, path: string, body?: object): Promise<T> => {
      const init = body ? { method, body: JSON.stringify(body), headers: { "Content-Type": "application/json" } } : { method };
      const answer = await runtime.dispatchFetch(`http://bench${path}`, init);
      if (!answer.ok) throw new Error(`${method} ${path}: ${String(answer.status)} ${await answer.text()}`);
      return (await answer.json()) as T;
    };
    const node = await send("POST", "/api/v1/nodes", { metadata: { name: "node-1" } });
    const ownerReferences = [{ apiVersion: "v1", kind: "Node", name: "node-1", uid: node.metadata.uid }];
    const spec = { holderIdentity: "node-1", leaseDurationSeconds: 40 };
    let lease = await send("POST", COLLECTION, { metadata: { name: "node-1", ownerReferences }, spec });
    const before = await send<RenewalCost>("GET", "/written");
    for (let i = 0; i < RENEWALS; i++)
      lease = await send("PUT", `${COLLECTION}/node-1`, { ...lease, spec: { ...spec, renewTime: rfc3339Micros(Date.now()) } });
    const after = await send<RenewalCost>("GET", "/written");
    return { rows: (after.rows - before.rows) / RENEWALS, bytes: (after.bytes - before.bytes) / RENEWALS };
  } finally {
    await runtime.dispose();
  }
}
