/** The frame of a test file, or a describe, with a cluster of its own on a server that it shares with others (shared-servers.ts). */
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, inject } from "vitest";
import { send } from "../../../scripts/cluster/send";
import { kubeconfig } from "../../../scripts/serve/kubeconfig";
import { removeFolder, temporaryFolder } from "./server";
import type { SharedServer, Wanted } from "./shared-servers";

export interface TestCluster {
  /** of the cluster, which a server without other clusters has for its own */
  url: string;
  name: string;
  /** of the server */
  origin: string;
  /** what `url` has beyond `origin`: `/clusters/NAME` */
  path: string;
  /** a folder for files of the tests */
  folder: string;
  /** a file for its administrator */
  kubeconfig: string;
  /** as those of a server */
  token: string;
  ca: string;
}

export interface Setting extends Partial<Wanted> {
  /** as in `PUT /clusters/NAME`; none = all */
  controllers?: readonly string[];
  /** "default": the cluster of the bare `/api`, for one file of those that share the server; none = a cluster that nobody else has */
  name?: "default";
}

/** The arguments of a server whose clusters have both families. */
export const DUAL_STACK = ["--var", "SERVICE_CLUSTER_IP_RANGE=10.96.0.0/16,fd00:96::/112"];

/** For tests whose Nodes are names: nobody renews their Leases, and no controller minds, nor ends their Pods. */
export const NODES_ARE_NAMES = {
  controllers: ["*", "-node-lifecycle-controller", "-pod-garbage-collector-controller", "-taint-eviction-controller"],
};

/**
 * A new cluster, made before the tests. Hooks that are registered later find it there. Servers are shared by those with the same `args` and `secure`.
 * A test that kills its server, or reads its metrics, its log or its data, has one of its own instead (server-for-tests.ts).
 */
export function clusterForTests({ args = [], secure = false, controllers, name }: Setting = {}): TestCluster {
  const folder = temporaryFolder();
  const cluster: Partial<TestCluster> = { folder, kubeconfig: join(folder, "kubeconfig") };
  beforeAll(async () => {
    const { url: origin, token, ca, nth } = await sharedServer({ args, secure });
    const own = name ?? `${basename(expect.getState().testPath ?? "", ".test.ts")}-${String(nth)}`;
    const target = { url: origin, options: secure ? { ca, headers: { Authorization: `Bearer ${token}` } } : {} };
    const { status, text } = await send(target, "PUT", `/clusters/${own}`, { controllers }, "application/json");
    if (status !== (own === "default" ? 200 : 201)) throw new Error(`PUT /clusters/${own}: ${String(status)} ${text}`);
    const path = name === "default" ? "" : `/clusters/${own}`;
    Object.assign(cluster, { url: origin + path, name: own, origin, path, token, ca });
    writeFileSync(join(folder, "kubeconfig"), kubeconfig(origin + path, secure ? { ca, token } : undefined));
  });
  afterAll(() => removeFolder(folder));
  return cluster as TestCluster;
}

async function sharedServer(wanted: Wanted): Promise<SharedServer> {
  const response = await fetch(inject("sharedServers"), { method: "POST", body: JSON.stringify(wanted) });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as SharedServer;
}
