import type { StoreNews } from "../../api/rpc/store";
import { hearing, type Pass } from "./controller";

/**
 * A pass that is made with the first one, as its making may fail: a broken configuration then fails each pass, and the first one under a valid one works.
 * It is told what pokes said before it was made.
 */
export function madeOnce(make: () => Pass): Pass {
  let pass: Pass | undefined;
  /** the last news of each store */
  const early = new Map<string, StoreNews>();
  const hearsEarly = (news: readonly StoreNews[] = []): void => news.forEach((one) => early.set(one.store, one));
  const made = (): Pass => {
    if (pass) return pass;
    pass = make();
    if (early.size > 0) pass.hears?.([...early.values()]);
    return pass;
  };
  return hearing(
    async (isPoked) => made()(isPoked),
    () => pass ?? { hears: hearsEarly },
  );
}
