/**
 * The pass that keeps the rules of aggregated ClusterRoles. It keeps what it has to know of each role as a row: labels and rules, some hundred roles in
 * a large cluster. Source: upstream pkg/controller/clusterroleaggregation.
 *
 * A write may change what another role aggregates. Its change asks for the next pass.
 */
import type { Clock, Recorder } from "../../core/base/ports";
import type { ClusterRole, PolicyRule } from "../../api/meta/kubernetes";
import { RBAC_GROUP } from "../../api/meta/rbac-names";
import type { WriteRequest } from "../../api/rpc/store";
import type { WrittenStore } from "../followed/called-store";
import { FollowedStore } from "../followed/followed-store";
import { KeptFacts } from "../followed/kept-facts";
import { KeptRows } from "../followed/kept-rows";
import { isPassing, Refusals } from "../followed/refusals";
import type { RowStorage } from "../followed/row-storage";
import { staleRules } from "./aggregate";

/** After this time a pass reads no other page and begins no other write. */
const BUDGET_MS = 60_000;
const REFUSED_WAITS = { first: 60_000, longest: 10 * 60_000 };
const NOT_FOUND = 404;

const VERSION = "v1";
const MANAGER = "clusterrole-aggregation-controller";

export interface AggregationPorts {
  clock: Pick<Clock, "now">;
  recorder: Recorder;
  storage: RowStorage;
  roles: WrittenStore;
}

/** `left`: another pass is needed. `againAt`: one is needed then, in milliseconds since the epoch. */
interface PassEnd {
  left: boolean;
  againAt?: number;
}

export function aggregationPass(ports: AggregationPorts): () => Promise<PassEnd> {
  const aggregator = new Aggregator(ports);
  return () => aggregator.run();
}

class Aggregator {
  readonly #rows: KeptRows;
  readonly #roles: KeptFacts<ClusterRole, ClusterRole>;
  readonly #store: FollowedStore;
  readonly #refusals: Refusals;
  #isLoaded = false;

  constructor(private readonly ports: AggregationPorts) {
    const { storage, recorder, roles } = ports;
    this.#rows = new KeptRows(storage);
    this.#roles = new KeptFacts(this.#rows, "roles", factsOf);
    this.#store = new FollowedStore(`clusterroles.${RBAC_GROUP}`, roles, this.#roles.reader, this.#rows, recorder);
    this.#refusals = new Refusals(ports, REFUSED_WAITS);
  }

  async run(): Promise<PassEnd> {
    const { clock } = this.ports;
    if (!this.#isLoaded) {
      this.#rows.load();
      this.#roles.load();
      this.#isLoaded = true;
    }
    const endsAt = clock.now() + BUDGET_MS;
    const mayGoOn = (): boolean => clock.now() < endsAt;
    if (!(await this.#store.pull(mayGoOn))) return { left: true };
    this.#rows.save();
    return this.#write(mayGoOn);
  }

  async #write(mayGoOn: () => boolean): Promise<PassEnd> {
    const stale = staleRules([...this.#roles.keys].flatMap((name) => this.#roles.get(name) ?? []));
    this.#refusals.keep((name) => stale.has(name));
    let left = false;
    for (const [name, rules] of stale) {
      if (!this.#refusals.mayTry(name)) continue;
      if (!mayGoOn()) {
        left = true;
        break;
      }
      if (!(await this.#apply(name, rules))) left = true;
    }
    const againAt = this.#refusals.nextAt();
    return { left, ...(againAt !== undefined && { againAt }) };
  }

  /** Whether nothing is left to do until something changes. Never rejects. */
  async #apply(name: string, rules: readonly PolicyRule[]): Promise<boolean> {
    try {
      const answer = await this.ports.roles.write(applyRequest(this.#roles.get(name)?.metadata ?? { name }, rules));
      if (answer.ok || isPassing(answer.status)) {
        this.#refusals.forget(name);
        return answer.ok;
      }
      if (answer.status.code !== NOT_FOUND) this.#refusals.refused(name, answer.status);
      return true;
    } catch {
      return false;
    }
  }
}

function factsOf({ metadata, aggregationRule, rules }: ClusterRole): ClusterRole {
  const { name, uid, labels } = metadata ?? {};
  return { metadata: { name, uid, ...(labels && { labels }) }, ...(aggregationRule && { aggregationRule }), rules } as ClusterRole;
}

/** An apply by force: the rules are the controller's, whoever wrote them. With the role's uid it creates none anew that was deleted meanwhile. */
function applyRequest({ name = "", uid }: NonNullable<ClusterRole["metadata"]>, rules: readonly PolicyRule[]): WriteRequest {
  const patch = JSON.stringify({ apiVersion: `${RBAC_GROUP}/${VERSION}`, kind: "ClusterRole", metadata: { name, uid }, rules });
  const options = {
    dryRun: false,
    fieldManager: MANAGER,
    fieldValidation: "Ignore" as const,
    force: true,
    group: RBAC_GROUP,
    version: VERSION,
  };
  return { verb: "patch", key: { namespace: "", name }, subresource: "", patchType: "apply", patch, options };
}
