/** Nodes with heartbeats on a running server, and what becomes of them. */
import { afterAll, beforeAll } from "vitest";
import type { Node } from "../../../src/api/meta/kubernetes";
import { rfc3339Micros, rfc3339Seconds } from "../../../src/api/meta/time";
import type { Api } from "./api";

const NODES = "/api/v1/nodes";
export const NODE_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
export const MERGE = { "Content-Type": "application/merge-patch+json" };
const RENEW_MS = 1_000;

export class BeatingNodes {
  /** names of the Nodes whose Leases are renewed about once in a second, as kubelets do */
  readonly renewing = new Set<string>();

  /** Beats from the beginning to the end of the tests of the file. */
  constructor(private readonly api: Api) {
    let isBeating = true;
    let beats: Promise<void>;
    beforeAll(() => {
      beats = this.#beat(() => isBeating);
    });
    afterAll(async () => {
      isBeating = false;
      await beats;
    });
  }

  /** A Node that is Ready, and its Lease. */
  async add(name: string): Promise<void> {
    const spec = { holderIdentity: name, renewTime: rfc3339Micros(Date.now()) };
    await this.api.must("POST", NODE_LEASES, { body: { metadata: { name }, spec } });
    this.renewing.add(name);
    await this.api.must("POST", NODES, { body: { metadata: { name } } });
    await this.setReady(name, "True");
  }

  async setReady(name: string, status: string): Promise<void> {
    const now = rfc3339Seconds(Date.now());
    const conditions = [{ type: "Ready", status, lastHeartbeatTime: now, lastTransitionTime: now }];
    await this.api.must("PATCH", `${NODES}/${name}/status`, { body: { status: { conditions } }, headers: MERGE });
  }

  async get(name: string): Promise<Node> {
    return (await this.api.must("GET", `${NODES}/${name}`)) as Node;
  }

  async ready(name: string): Promise<string | undefined> {
    return (await this.get(name)).status?.conditions?.find(({ type }) => type === "Ready")?.status;
  }

  /** `key:effect` of each taint, sorted. */
  async taints(name: string): Promise<string[]> {
    return ((await this.get(name)).spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`).sort();
  }

  async #beat(isBeating: () => boolean): Promise<void> {
    while (isBeating()) {
      const spec = { leaseDurationSeconds: 40, renewTime: rfc3339Micros(Date.now()) };
      const renewed = [...this.renewing].map((name) =>
        this.api.send("PATCH", `${NODE_LEASES}/${name}`, { body: { spec }, headers: MERGE }),
      );
      await Promise.allSettled(renewed);
      await new Promise((resolve) => setTimeout(resolve, RENEW_MS));
    }
  }
}

/** For a server: a Node becomes Unknown after so many seconds of silence, also one without a condition Ready. */
export function graceOf(seconds: number): string[] {
  return [
    ...["--var", `NODE_MONITOR_GRACE_PERIOD_SECONDS=${String(seconds)}`],
    ...["--var", `NODE_STARTUP_GRACE_PERIOD_SECONDS=${String(seconds)}`],
    ...["--var", "NODE_MONITOR_PERIOD_SECONDS=1"],
  ];
}
