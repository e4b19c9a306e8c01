/** What a prepared write is, and what every preparation needs to know. */
import type { Clock, Random } from "../../../core/base/ports";
import type { KubeObject } from "../../meta/kubernetes";
import type { Status } from "../../meta/status";
import type { ResourceDefinition, StrategyContext } from "../../registry/resource";
import type { WriteOptions } from "../../rpc/store";
import type { StoredObject } from "../state/store-storage";
import { isUnchanged } from "./unchanged";

export type Prepared =
  | { kind: "refused"; status: Status; warnings: string[] }
  /** nothing differs: the resourceVersion stays and nobody hears of it */
  | { kind: "unchanged"; data: string; warnings: string[] }
  | Put
  /** `last` = what the client's own update made of the object in the write that lets it go; absent = it goes as it is stored */
  | { kind: "remove"; key: string; before: KubeObject; last?: KubeObject; dryRun: boolean; warnings: string[] };

interface Put {
  kind: "put";
  key: string;
  after: KubeObject;
  before: KubeObject | undefined;
  code: 200 | 201;
  dryRun: boolean;
  warnings: string[];
}

export interface PrepareFacts {
  definition: ResourceDefinition;
  /** the same objects under another group (events) */
  representations: readonly ResourceDefinition[];
  clock: Clock;
  random: Random;
  context(): StrategyContext;
  exists(key: string): StoredObject | undefined;
  /** a create under this key is on its way */
  reserved(key: string): boolean;
}

/** A change of the stored object. What it would store is compared with what is stored here, once, whatever the verb. */
export function putOf(current: StoredObject, change: Omit<Put, "kind" | "key"> & { before: KubeObject }): Prepared {
  if (isUnchanged(change.after, change.before)) return { kind: "unchanged", data: current.data, warnings: change.warnings };
  return { kind: "put", key: current.key, ...change };
}

export function refuse(status: Status, warnings: string[] = []): Prepared {
  return { kind: "refused", status, warnings };
}

export function contextOf(options: WriteOptions, facts: PrepareFacts): StrategyContext {
  const { group, version, byController, fieldManager } = options;
  return { ...facts.context(), requestGroup: group, requestVersion: version, ...(byController && { controller: fieldManager }) };
}
