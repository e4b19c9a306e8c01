/** Leader election on a Lease, and writes that a former leader cannot make (docs/leader-election.md). */
export type { KubeObject } from "../../api/meta/kubernetes";
export { type Election, type ElectorOptions, takePart } from "./elector";
export { changeFenced, type FencedChange } from "./fencing";
export type { SendLike } from "./send-like";
export type { ElectorClock, Term } from "./term";
