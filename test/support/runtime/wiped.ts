/** Every object and every key of the key-value store goes. */
import { abortAllDurableObjects, reset } from "cloudflare:test";
import { afterAll, beforeAll } from "vitest";

/** The setup of each file has modules of its own. */
const shared = globalThis as { servicenetKeepsObjects?: boolean };

/** Whether objects of the test stay for the next one. */
export function areKept(): boolean {
  return shared.servicenetKeepsObjects === true;
}

/** For a table whose rows change nothing, or nothing that another row sees: its objects are made once, and go behind it. */
export function keepObjects(): void {
  beforeAll(() => void (shared.servicenetKeepsObjects = true));
  afterAll(async () => {
    shared.servicenetKeepsObjects = false;
    await wiped();
  });
}

export async function wiped(): Promise<void> {
  await reset();
  // A late call may have started an object during the wipe, and the object lacks its tables. Where all clusters share it, later tests would fail.
  await abortAllDurableObjects();
}
