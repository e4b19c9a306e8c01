/** The load generator of plain resources as a process: creates, updates and deletes Leases (LeaseLoad on stdin); prints LeaseLoadResults. */
import type { Target } from "../../../cluster/target";
import { requestHeads } from "../connection";
import { givenLoad, runLoad } from "./load";

export interface LeaseLoad {
  target: Target;
  connections: number;
  count: number;
  /** path of the Leases of a namespace */
  collection: string;
  /** how many times each Lease is updated, below 50; absent = once */
  updatesOfEach?: number;
}

type Verb = "POST" | "PUT" | "DELETE";

/** of each verb, all Leases one time; of updates the last */
export type LeaseLoadResults = Record<Verb, { elapsedMs: number; latenciesMs: number[] }>;

interface Answer {
  kind?: string;
  status?: string;
  metadata?: { name?: string; resourceVersion?: string };
  spec?: { holderIdentity?: string };
}

const load = givenLoad<LeaseLoad>();
const head = requestHeads(load.target);
const nameOf = (i: number) => `lease-${String(i)}`;
const holders = { POST: "first", PUT: "second", DELETE: "" };
const expectedStatus = { POST: 201, PUT: 200, DELETE: 200 };
/** a Lease is updated only at the revision that its writer has seen */
const revisions: string[] = [];
/** an update that changes nothing would write nothing */
let round = 0;

function requestOf(verb: Verb, i: number): string {
  const path = verb === "POST" ? load.collection : `${load.collection}/${nameOf(i)}`;
  if (verb === "DELETE") return `${head(verb, path)}\r\n`;
  const metadata = JSON.stringify({ name: nameOf(i), resourceVersion: revisions[i] });
  const spec = `{"holderIdentity":"${holders[verb]}","leaseDurationSeconds":40,"renewTime":"2026-01-01T00:00:${String(round).padStart(2, "0")}.000000Z"}`;
  const body = `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":${metadata},"spec":${spec}}`;
  return `${head(verb, path, "application/json")}Content-Length: ${String(body.length)}\r\n\r\n${body}`;
}

function check(verb: Verb, i: number, status: number, body: string): void {
  const { kind, status: outcome, metadata, spec } = JSON.parse(body) as Answer;
  const right =
    status === expectedStatus[verb] &&
    (verb === "DELETE"
      ? kind === "Status" && outcome === "Success"
      : metadata?.name === nameOf(i) && metadata.resourceVersion !== revisions[i] && spec?.holderIdentity === holders[verb]);
  if (!right) throw new Error(`${verb} ${nameOf(i)} was answered with ${String(status)} ${body}`);
  revisions[i] = metadata?.resourceVersion ?? "";
}

const results: Partial<LeaseLoadResults> = {};
const updates = Array.from({ length: load.updatesOfEach ?? 1 }, (): Verb => "PUT");
for (const verb of ["POST", ...updates, "DELETE"] as const) {
  round++;
  const { elapsedMs, latenciesMs } = await runLoad({
    ...load,
    requestOf: (i) => requestOf(verb, i),
    onAnswer: (i, status, body) => check(verb, i, status, body),
  });
  results[verb] = { elapsedMs, latenciesMs: Array.from(latenciesMs).sort((a, b) => a - b) };
}
process.stdout.write(JSON.stringify(results));
