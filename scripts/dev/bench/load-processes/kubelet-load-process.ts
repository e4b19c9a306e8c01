/**
 * Kubelets as a process: each registers its Node and makes that Node's Lease, or renews the Lease at its time, by a PUT without a GET. Takes a KubeletLoad on
 * stdin and prints a KubeletResult.
 */
import { rfc3339Micros } from "../../../../src/api/meta/time";
import type { Target } from "../../../cluster/target";
import { requestHeads } from "../connection";
import { givenLoad, type Load, runLoad } from "./load";

/** A Lease as its kubelet knows it. */
export interface HeldLease {
  name: string;
  uid: string;
  /** of the Node */
  ownerUid: string;
  resourceVersion: string;
  /** acknowledged */
  renewTime: string;
}

export interface KubeletLoad {
  target: Target;
  connections: number;
  /** Undefined: all Nodes and Leases are made. */
  renew?: { leases: HeldLease[]; seconds: number; intervalSeconds: number };
  nodes: number;
}

export interface KubeletResult {
  leases: HeldLease[];
  /** sorted, of all renewals, each since it was due */
  latenciesMs: number[];
}

const NODES = "/api/v1/nodes";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const DURATION_SECONDS = 40;

const load = givenLoad<KubeletLoad>();
const { target, connections, nodes, renew } = load;
const head = requestHeads(target);
const leases: HeldLease[] =
  renew?.leases ??
  Array.from({ length: nodes }, (_, i) => ({ name: `node-${String(i)}`, uid: "", ownerUid: "", resourceVersion: "", renewTime: "" }));
const leaseOf = (i: number): HeldLease => leases[i % leases.length] as HeldLease;
/** of the renewal under way */
const sent: string[] = [];

function request(method: string, path: string, object: object, type = "application/json"): string {
  const body = JSON.stringify(object);
  return `${head(method, path, type)}Content-Length: ${String(body.length)}\r\n\r\n${body}`;
}

function writeOf(i: number): string {
  const { name, uid, ownerUid, resourceVersion } = leaseOf(i);
  const renewTime = rfc3339Micros(Date.now());
  sent[i % leases.length] = renewTime;
  const ownerReferences = [{ apiVersion: "v1", kind: "Node", name, uid: ownerUid }];
  const metadata = { name, namespace: "kube-node-lease", ownerReferences, ...(uid ? { uid, resourceVersion } : {}) };
  const spec = { holderIdentity: name, leaseDurationSeconds: DURATION_SECONDS, renewTime };
  const object = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
  return uid ? request("PUT", `${LEASES}/${name}`, object) : request("POST", LEASES, object);
}

interface Answer {
  metadata: { uid: string; resourceVersion: string };
  spec: { renewTime?: string };
}

function onWritten(i: number, status: number, body: string): void {
  const lease = leaseOf(i);
  const renewTime = sent[i % leases.length] ?? "";
  const { metadata, spec } = (status < 300 ? JSON.parse(body) : {}) as Partial<Answer>;
  if (!metadata || spec?.renewTime !== renewTime) throw new Error(`the Lease ${lease.name} was answered with ${String(status)} ${body}`);
  Object.assign(lease, { uid: metadata.uid, resourceVersion: metadata.resourceVersion, renewTime });
}

const run = (work: Omit<Load, "target" | "connections">) => runLoad({ target, connections, ...work });

async function register(): Promise<void> {
  await run({
    count: nodes,
    requestOf: (i) => request("POST", NODES, { metadata: { name: leaseOf(i).name } }),
    onAnswer: (i, status, body) => {
      if (status !== 201) throw new Error(`the Node ${leaseOf(i).name} was answered with ${String(status)} ${body}`);
      leaseOf(i).ownerUid = (JSON.parse(body) as Answer).metadata.uid;
    },
  });
  const lastHeartbeatTime = new Date().toISOString().replace(/\.\d+/, "");
  const condition = { type: "Ready", status: "True", reason: "KubeletReady", lastHeartbeatTime, lastTransitionTime: lastHeartbeatTime };
  await run({
    count: nodes,
    requestOf: (i) =>
      request(
        "PATCH",
        `${NODES}/${leaseOf(i).name}/status`,
        { status: { conditions: [condition] } },
        "application/strategic-merge-patch+json",
      ),
    onAnswer: (i, status, body) => {
      if (status !== 200) throw new Error(`the status of ${leaseOf(i).name} was answered with ${String(status)} ${body}`);
    },
  });
  await run({ count: nodes, requestOf: writeOf, onAnswer: onWritten });
}

const result: KubeletResult = { leases, latenciesMs: [] };
if (renew) {
  const perSecond = nodes / renew.intervalSeconds;
  const { latenciesMs } = await run({ count: perSecond * renew.seconds, perSecond, requestOf: writeOf, onAnswer: onWritten });
  result.latenciesMs = Array.from(latenciesMs).sort((a, b) => a - b);
} else await register();
process.stdout.write(JSON.stringify(result));
