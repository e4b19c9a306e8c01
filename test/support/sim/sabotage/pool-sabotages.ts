/** Switches that take one protection of pools out, to show that its absence is noticed. */
import { overriding } from "../../worlds/overriding";
import type { PoolSabotage } from "../pools/sim-pools";

/** By what is missing. Made anew for every history. */
export const poolSabotages: Readonly<Record<string, () => PoolSabotage>> = {
  // The store of addresses takes what the controller and clients propose.
  "refusal of held addresses": () => ({ book: (extension) => overriding(extension, { admit: () => ({ kind: "go" }) }) }),
};
