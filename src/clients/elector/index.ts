/** Leader election on a Lease, and writes that a former leader cannot make (docs/leader-election.md). */
export { takePart } from "./elector";
export { changeFenced } from "./fencing";
export type { SendLike } from "./send-like";
export type { Term } from "./term";
