/** The names of all clusters, in one object of the deployment. A shell: the rules are in src/tenancy/cluster-names. */
import { DurableObject } from "cloudflare:workers";
import { ClusterNames as Brain, type NameStorage } from "../src/tenancy/cluster-names";
import type { ClusterNamesRpc } from "../src/tenancy/rpc";
import { directoryIds } from "../src/tenancy/directory-ids";
import type { Env } from "./platform/env";
import { systemClock, systemRecorder } from "./platform/ports";

/** A value for each name. */
const NAMES = "name/";

/** The NameStorage port. */
export function keptNames({ kv }: DurableObjectStorage): NameStorage {
  return {
    has: (name) => kv.get<true>(NAMES + name) === true,
    add(name) {
      if (!this.has(name)) kv.put(NAMES + name, true);
    },
  };
}

export class ClusterNames extends DurableObject<Env> implements ClusterNamesRpc {
  readonly #brain: Brain;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#brain = new Brain({
      storage: keptNames(ctx.storage),
      clock: systemClock,
      recorder: systemRecorder({ object: "clusters" }),
      readDirectory: () => directoryIds((asked) => env.DIRECTORY.list(asked)),
    });
  }

  areMade(names: readonly string[]): Promise<(boolean | null)[]> {
    return this.#brain.areMade(names);
  }

  add(name: string): Promise<void> {
    return this.#brain.add(name);
  }
}
