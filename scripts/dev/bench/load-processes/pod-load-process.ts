/** The load generator as a process: creates Pods, writes their status or deletes them, as a PodLoad on stdin says; prints how long it took. */
import type { Target } from "../../../cluster/target";
import { requestHeads } from "../connection";
import { givenLoad, runLoad } from "./load";

export interface PodLoad {
  target: Target;
  /** `status`: as a kubelet says that the Pod is ready, at an address of its own */
  verb: "create" | "status" | "delete";
  connections: number;
  /** Pods `pod-<from>` and so on */
  from: number;
  count: number;
  /** The i-th request is of Pod `from + (i * stride) % count`; no factor of `count`. 1 unless given */
  stride?: number;
  /** what a status says; true unless given */
  isReady?: boolean;
  /** requests per second at most */
  perSecond?: number;
  /** label `app` of created Pods */
  app: string;
  /** With it the label is `<app>-<number>`, and so many Pods one after the other have the same. */
  podsPerApp?: number;
  /** node of created Pods */
  node: string;
}

const COLLECTION = "/api/v1/namespaces/default/pods";
const CODES = { create: 201, status: 200, delete: 200 } as const;

const load = givenLoad<PodLoad>();
const head = requestHeads(load.target);
const addressOf = (number: number): string => `10.${String(128 + (number >> 16))}.${String((number >> 8) & 255)}.${String(number & 255)}`;
const numberOf = (i: number): number => load.from + ((i * (load.stride ?? 1)) % load.count);
const appOf = (number: number): string =>
  load.podsPerApp === undefined ? load.app : `${load.app}-${String(Math.floor(number / load.podsPerApp))}`;
const ready = load.isReady === false ? "False" : "True";

function requestOf(i: number): string {
  const number = numberOf(i);
  const name = `pod-${String(number)}`;
  if (load.verb === "delete") return `${head("DELETE", `${COLLECTION}/${name}?gracePeriodSeconds=0`)}\r\n`;
  const start =
    load.verb === "create"
      ? head("POST", COLLECTION, "application/json")
      : head("PATCH", `${COLLECTION}/${name}/status`, "application/strategic-merge-patch+json");
  const ip = addressOf(number);
  const body = JSON.stringify(
    load.verb === "create"
      ? {
          metadata: { name, labels: { app: appOf(number) } },
          spec: { nodeName: load.node, containers: [{ name: "main", image: "example.com/app:1", ports: [{ containerPort: 8080 }] }] },
        }
      : { status: { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions: [{ type: "Ready", status: ready }] } },
  );
  return `${start}Content-Length: ${String(body.length)}\r\n\r\n${body}`;
}

function onAnswer(i: number, status: number, body: string): void {
  if (status !== CODES[load.verb]) throw new Error(`${load.verb} pod-${String(numberOf(i))}: ${String(status)} ${body}`);
}

const { elapsedMs } = await runLoad({ ...load, requestOf, onAnswer });
process.stdout.write(JSON.stringify({ elapsedMs }));
