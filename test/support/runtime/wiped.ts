/** Every object and every key of the key-value store goes. */
import { abortAllDurableObjects, reset } from "cloudflare:test";

export async function wiped(): Promise<void> {
  await reset();
  // A late call may have started an object during the wipe, and the object lacks its tables. Where all clusters share it, later tests would fail.
  await abortAllDurableObjects();
}
