/** Objects of the release before, as objects of this one meet them. */
import { overriding } from "../../worlds/overriding";

/** Calls between simulated objects that the last release (test/fixtures/releases) does not answer, by who lacks them. */
export const LACKING = {
  "a store": ["visit"],
  "the services store": ["visit", "makeServicesWhole"],
  "the Coordinator": ["visit", "rangesSince"],
  "a controller": [],
  repair: ["askVisits", "enter", "entered", "doubt"],
  "a shard": ["enter", "leave", "poke", "alarm"],
  "an owner": [],
} as const;

export type Lacking = keyof typeof LACKING;

/** What callers of this release meet: `kind` lacks the call. */
type Missing = { [Kind in Lacking]: `${Kind} lacks ${(typeof LACKING)[Kind][number]}` }[Lacking];

export interface EarlierRelease<Brain> {
  kind: Lacking;
  /** methods that it has, and that do something else */
  methods?(brain: Brain): Partial<Brain>;
}

/** Every pair that a history may come to. */
export const MISSING = Object.entries(LACKING).flatMap(([kind, calls]) => calls.map((call) => `${kind} lacks ${call}`)) as Missing[];

/** The brain without the methods that the release before lacks. A call of one is what the platform makes of it (workerd worker-rpc.c++). */
export function lacking<Brain>(brain: Brain, earlier: EarlierRelease<Brain>, met: (what: Missing) => void): Brain {
  const missing = LACKING[earlier.kind].map((method: string) => [
    method,
    () => {
      met(`${earlier.kind} lacks ${method}` as Missing);
      return Promise.reject(new TypeError(`The RPC receiver does not implement the method "${method}".`));
    },
  ]);
  return overriding(brain as object, { ...earlier.methods?.(brain), ...Object.fromEntries(missing) }) as Brain;
}
