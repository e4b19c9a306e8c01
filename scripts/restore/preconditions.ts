/** The conditions of a restore, checked before anything is written. */
import type { Backup } from "../../src/tools/backup/format";
import { SERVICE_CIDRS, SERVICES, typeName } from "../../src/tools/backup/order";
import { addressesOf } from "../../src/tools/check/objects";
import { DEFAULT_NAME, DEFAULT_SERVICE } from "../../src/api/registry/default-objects";
import type { KubeObject, Service, ServiceCIDR } from "../../src/api/meta/kubernetes";
import { keyOf } from "../../src/api/meta/object-key";
import { UserError } from "../terminal/user-error";
import { type ClusterState, refuseUnlessEmpty } from "./cluster-state";

/** Throws UserError when the restore must not begin or continue. */
export function judge(
  backup: Backup,
  state: ClusterState,
  { underWay, resume, url }: { underWay: string | undefined; resume: boolean; url: string },
): void {
  for (const { type, objects } of backup.sections) {
    if (objects.length > 0 && !state.types.has(typeName(type)))
      throw new UserError(`${url} does not serve ${typeName(type)}, of which the backup has ${objects.length}`);
  }
  if (resume && underWay === undefined) throw new UserError(`${url} has no interrupted restore to go on with`);
  if (resume && underWay !== backup.sha256) throw new UserError(`the interrupted restore in ${url} is that of another file`);
  if (!resume && underWay === backup.sha256)
    throw new UserError(`a restore of this file into ${url} was interrupted: --resume goes on with it`);
  if (!resume && underWay !== undefined) throw new UserError(`a restore of another file into ${url} was interrupted`);
  if (!resume) refuseUnlessEmpty(state, url);
  compare(backup, state, SERVICE_CIDRS, DEFAULT_NAME, (object) => (object as ServiceCIDR).spec?.cidrs ?? []);
  compare(backup, state, SERVICES, DEFAULT_SERVICE, (object) => addressesOf(object as Service));
}

/** A restore cannot change what the server makes from its configuration. */
function compare(backup: Backup, state: ClusterState, name: string, key: string, valuesOf: (object: KubeObject) => string[]): void {
  const there = state.objects.get(name)?.get(key);
  const section = backup.sections.find(({ type }) => typeName(type) === name);
  const saved = section?.objects.map((text) => JSON.parse(text) as KubeObject).find((object) => keyOf(object) === key);
  if (!there || !saved) return;
  const [is, was] = [valuesOf(there).join(","), valuesOf(saved).join(",")];
  if (is !== was)
    throw new UserError(
      `${section?.type.kind ?? name} ${key} has ${is} here and ${was} in the backup: start the server with the same SERVICE_CLUSTER_IP_RANGE`,
    );
}
