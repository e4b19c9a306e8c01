/**
 * Deletes the objects of one store whose time is over: Events an hour after they were last seen, Leases of servers that are gone. Each deletion names
 * the object's uid and resourceVersion, so that a change that comes in between wins.
 */
import { Pace, REST_MODESTLY } from "../core/base/pause";
import type { Clock } from "../core/base/ports";
import type { KubeObject } from "../api/meta/kubernetes";
import type { Expiry, WriteRequest, WriteResult } from "../api/rpc/store";
import { namespaceRange, objectKey } from "../api/store/state/keys";
import { rowsNow } from "../api/store/state/snapshot";
import type { StoreEngine } from "../api/store/engine/store-engine";

/** Objects deleted together: enough for one group commit, few enough to leave room for other writes. */
const DELETED_TOGETHER = 200;
/** Work of one call. What is left waits for the next one. */
const BUDGET_MS = 20_000;

/** When objects end. */
export interface ExpiryRule {
  /** of the objects that may end; "" = every namespace */
  readonly namespace: string;
  /** undefined = the object has no end */
  isOver(object: KubeObject, nowMs: number): boolean | undefined;
}

export interface ObjectExpiryPorts {
  rule: ExpiryRule;
  clock: Pick<Clock, "now" | "after">;
  storage(): StoreEngine<unknown>["storage"];
  write(request: WriteRequest): Promise<WriteResult>;
}

export class ObjectExpiry {
  #deleted = 0;

  constructor(private readonly ports: ObjectExpiryPorts) {}

  /** since the object of the store started */
  get deleted(): number {
    return this.#deleted;
  }

  /** One pass over the store, for BUDGET_MS at most. */
  async run(): Promise<Expiry> {
    const { clock } = this.ports;
    const begunMs = clock.now();
    const { over, later } = this.#look(begunMs);
    const pace = new Pace(clock, REST_MODESTLY);
    let deleted = 0;
    let at = 0;
    for (; at < over.length && clock.now() - begunMs < BUDGET_MS; at += DELETED_TOGETHER) {
      const results = await Promise.all(over.slice(at, at + DELETED_TOGETHER).map((request) => this.ports.write(request)));
      deleted += results.filter((result) => result.ok).length;
      await pace.rest();
    }
    this.#deleted += deleted;
    const cut = Math.max(0, over.length - at);
    return { deleted, left: later + over.length - deleted - cut, cut };
  }

  #look(nowMs: number): { over: WriteRequest[]; later: number } {
    const { rule } = this.ports;
    const over: WriteRequest[] = [];
    let later = 0;
    for (const { key, data } of rowsNow(this.ports.storage(), namespaceRange(rule.namespace))) {
      const object = JSON.parse(data) as KubeObject;
      const isOver = rule.isOver(object, nowMs);
      if (isOver) over.push(deletionOf(key, object));
      else if (isOver === false) later++;
    }
    return { over, later };
  }
}

function deletionOf(key: string, { metadata: { uid = "", resourceVersion = "" } = {} }: KubeObject): WriteRequest {
  const preconditions = { uid, resourceVersion };
  return {
    verb: "delete",
    key: objectKey(key),
    options: { dryRun: false, preconditions, propagationPolicy: "", gracePeriodSeconds: undefined },
  };
}
