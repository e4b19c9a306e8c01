/** The load generator of what the collection of identity Leases deletes: creates Leases that have run out (ExpiredLeaseLoad on stdin). */
import { rfc3339Micros } from "../../../../src/api/meta/time";
import { IDENTITY_SELECTOR } from "../../../../src/leases/identity/identity-lease";
import type { Target } from "../../../cluster/target";
import { requestHeads } from "../connection";
import { givenLoad, runLoad } from "./load";

export interface ExpiredLeaseLoad {
  target: Target;
  connections: number;
  count: number;
  /** path of the Leases of a namespace */
  collection: string;
}

const HOUR_MS = 3_600_000;
const load = givenLoad<ExpiredLeaseLoad>();
const head = requestHeads(load.target)("POST", load.collection, "application/json");
const [label = "", value = ""] = IDENTITY_SELECTOR.split("=");
const spec = { holderIdentity: "gone", leaseDurationSeconds: HOUR_MS / 1_000, renewTime: rfc3339Micros(Date.now() - 2 * HOUR_MS) };

const { elapsedMs } = await runLoad({
  ...load,
  requestOf: (i) => {
    const body = JSON.stringify({ metadata: { name: `gone-${String(i)}`, labels: { [label]: value } }, spec });
    return `${head}Content-Length: ${String(body.length)}\r\n\r\n${body}`;
  },
  onAnswer: (i, status, body) => {
    if (status !== 201) throw new Error(`gone-${String(i)} was answered with ${String(status)} ${body}`);
  },
});
process.stdout.write(JSON.stringify({ elapsedMs }));
