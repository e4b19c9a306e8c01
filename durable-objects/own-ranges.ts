/** The ranges with which a cluster began, as the object keeps them. */
import type { Config } from "../src/core/config/config";
import { OwnRanges } from "../src/tenancy/own-ranges";

/** The value stands beside the object's tables; a release without it leaves it alone. */
const KEY = "service-ranges";

export function ownRanges({ kv }: DurableObjectStorage, config: Config): OwnRanges {
  return new OwnRanges({ load: () => kv.get<readonly string[]>(KEY), save: (ranges) => kv.put(KEY, ranges) }, config);
}
