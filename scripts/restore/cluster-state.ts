/** The state of the target of a restore. */
import type { BackupType } from "../../src/tools/backup/format";
import { isInitial } from "../../src/tools/backup/initial";
import { isBackedUp, typeName } from "../../src/tools/backup/order";
import type { KubeObject } from "../../src/api/meta/kubernetes";
import { keyOf } from "../../src/api/meta/object-key";
import type { Api } from "../cluster/api";
import { servedTypes, typePath } from "../cluster/discovery";
import { UserError } from "../terminal/user-error";
import type { Progress } from "../terminal/progress";

export interface ClusterState {
  /** by typeName */
  types: Map<string, BackupType>;
  /** by typeName, then by `namespace/name` */
  objects: Map<string, Map<string, KubeObject>>;
}

export async function readState(api: Api, progress: Progress): Promise<ClusterState> {
  const types = (await servedTypes(api)).filter(isBackedUp);
  const objects = new Map<string, Map<string, KubeObject>>();
  for (const [index, type] of types.entries()) {
    progress.show(`reading ${type.resource}`, index, types.length);
    const items = await api.list(typePath(type));
    objects.set(typeName(type), new Map(items.map((object) => [keyOf(object), object])));
  }
  progress.clear();
  return { types: new Map(types.map((type) => [typeName(type), type])), objects };
}

/** Throws UserError with examples when the cluster has more than its initial objects. */
export function refuseUnlessEmpty({ types, objects }: ClusterState, url: string): void {
  const found: string[] = [];
  for (const [name, type] of types)
    for (const object of objects.get(name)?.values() ?? []) if (!isInitial(object, type)) found.push(`${type.kind} ${keyOf(object)}`);
  if (found.length === 0) return;
  const examples = found.slice(0, 3).join(", ");
  throw new UserError(
    `${url} is not empty: it has ${examples}${found.length > 3 ? ` and ${found.length - 3} more` : ""}; a restore needs an empty cluster`,
  );
}
