/** The load generator as a process: creates Pods, writes their status or deletes them, as a PodLoad on stdin says; prints how long it took. */
import type { Target } from "../../cluster/target";
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
  /** label `app` of created Pods */
  app: string;
  /** node of created Pods */
  node: string;
}

const COLLECTION = "/api/v1/namespaces/default/pods";
const CODES = { create: 201, status: 200, delete: 200 } as const;

const load = givenLoad<PodLoad>();
const head = requestHeads(load.target);
const addressOf = (number: number): string => `10.${String(128 + (number >> 16))}.${String((number >> 8) & 255)}.${String(number & 255)}`;

function requestOf(i: number): string {
  const number = load.from + i;
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
          metadata: { name, labels: { app: load.app } },
          spec: { nodeName: load.node, containers: [{ name: "main", image: "example.com/app:1", ports: [{ containerPort: 8080 }] }] },
        }
      : { status: { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions: [{ type: "Ready", status: "True" }] } },
  );
  return `${start}Content-Length: ${String(body.length)}\r\n\r\n${body}`;
}

function onAnswer(i: number, status: number, body: string): void {
  if (status !== CODES[load.verb]) throw new Error(`${load.verb} pod-${String(load.from + i)}: ${String(status)} ${body}`);
}

const { elapsedMs } = await runLoad({ ...load, requestOf, onAnswer });
process.stdout.write(JSON.stringify({ elapsedMs }));
