/** An object that each active namespace has, as a controller makes it. */
import type { KubeObject, Namespace } from "../../api/meta/kubernetes";
import type { ChangeFilter } from "../../api/store/feeds/follower-pokes";

export interface WantedObject {
  readonly name: string;
  /** who writes it, in its managed fields */
  readonly manager: string;
  create(): KubeObject;
  isRight(object: KubeObject): boolean;
  /** the stored object, put right */
  mended(object: KubeObject): KubeObject;
}

/** Nothing is created in a namespace in any other phase. Source: upstream pkg/controller/serviceaccount, syncNamespace. */
export function isActive({ metadata, status }: Namespace): boolean {
  return !metadata?.deletionTimestamp && status?.phase === "Active";
}

/** A namespace is new. */
export const hearsNamespaces: ChangeFilter = ({ before }) => before === undefined;

/** Objects of this name that were deleted, and with `edits` those that were changed. Creations are the controller's own. */
export function hearsWanted(wantedName: string, edits: boolean): ChangeFilter {
  return ({ before, after }) => before?.metadata?.name === wantedName && (after === undefined || edits);
}
