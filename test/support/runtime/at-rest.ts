/** A runtime in which nothing of other tests goes on. */
import { countedCalls } from "../objects/counted-calls";
import { wiped } from "./wiped";

/** Longer than the pause before a call that a death has ended is repeated. */
const REPEATED_MS = 500;

/** Calls of the Worker outlive their tests. The Worker repeats a call that the wipe has ended, which may make a cluster. So everything is wiped twice. */
export async function wipedAtRest(): Promise<void> {
  await countedCalls(async () => {
    await wiped();
    await scheduler.wait(REPEATED_MS);
  });
  await wiped();
}
