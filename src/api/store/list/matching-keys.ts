/** The storage keys of the objects that a filter lets through. */
import type { KubeObject } from "../../meta/kubernetes";
import type { Filter } from "../hub/filter";
import { rowsNow } from "../state/snapshot";
import type { StoreEngine } from "../engine/store-engine";

export function matchingKeys({ storage }: Pick<StoreEngine<unknown>, "storage">, filter: Filter): string[] {
  const keys: string[] = [];
  for (const row of rowsNow(storage, filter.range)) {
    if (!filter.matches || filter.matches(JSON.parse(row.data) as KubeObject)) keys.push(row.key);
  }
  return keys;
}
