/**
 * Objects that controllers make from backed up objects, and objects that servers make by themselves. A backup leaves them out: after a restore they
 * are made anew, and restored ones would stand beside the new ones.
 *
 *   slices of the slice controller   made while their Service has a selector. Nobody keeps those of a Service that lost it, or that was deleted
 *                                    without them: they are backed up. Those that name a Service that is gone as their owner are being deleted
 *   mirrored slices                  always: what Endpoints by hand do not make is deleted
 *   Endpoints of the controller      made while their Service has a selector; without one they are whose who writes them now. Those of no Service are
 *                                    being deleted
 *   those of `default/kubernetes`    that the server keeps: another server has other addresses
 *   identity Leases                  always: they say who serves the cluster now
 *   ConfigMaps kube-root-ca.crt      always: another server has another authority
 *   IPAddresses for Services         always: the Service shows its address, and takes it anew when the pool is there
 *   IPAddresses for other clusters   always: the cluster takes it anew
 *   IPAddresses of pools of the root always: the root gives another one, unless the cluster still has it
 */
import {
  ENDPOINTS_CONTROLLER,
  LABEL_ENDPOINTS_MANAGED_BY,
  LABEL_MANAGED_BY,
  LABEL_SERVICE_NAME,
  MIRRORING_CONTROLLER,
  SLICE_CONTROLLER,
} from "../../api/meta/endpoint-keys";
import type { KubeObject, Service } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import { rootRowOf, rowHolder } from "../../api/registry/ipam/fleet-rows";
import { serviceHolding } from "../../api/registry/ipam/service-row";
import { SERVER_MANAGER } from "../../api/store/state/field-tracking";
import { ROOT_CERTIFICATE } from "../../controllers/every-namespace/root-certificate";
import { hasPods } from "../../endpoints/sources/service-pods";
import { isIdentityLease } from "../../leases/identity/identity-lease";
import type { BackupType } from "./format";
import { isInitial } from "./initial";
import { CONFIG_MAPS, ENDPOINT_SLICES, ENDPOINTS, LEASES, POOL_ADDRESSES, typeName } from "./order";

type Type = Pick<BackupType, "group" | "resource">;

/** Whether a controller makes the object. `services`: all of the backup, or of the cluster. */
export function madeByControllers(services: readonly Service[]): (type: Type, object: KubeObject) => boolean {
  const known = new Map(services.map((service) => [keyOf(service), service]));
  return (type, object) => {
    switch (typeName(type)) {
      case ENDPOINT_SLICES:
        return isOfServer(type, object) || isMadeSlice(object, known);
      case ENDPOINTS:
        return isOfServer(type, object) || isMadeOfPods(object, known.get(keyOf(object)));
      case LEASES:
        return isIdentityLease(object);
      case POOL_ADDRESSES:
        return (serviceHolding(object) ?? rowHolder(object) ?? rootRowOf(object)) !== undefined;
      case CONFIG_MAPS:
        return object.metadata?.name === ROOT_CERTIFICATE;
      default:
        return false;
    }
  };
}

function isOfServer(type: Type, object: KubeObject): boolean {
  return isInitial(object, type) && (object.metadata?.managedFields ?? []).some(({ manager }) => manager === SERVER_MANAGER);
}

function isMadeSlice({ metadata = {} }: KubeObject, services: ReadonlyMap<string, Service>): boolean {
  const { namespace, labels = {}, ownerReferences = [] } = metadata;
  const name = labels[LABEL_SERVICE_NAME];
  if (!name) return false;
  if (labels[LABEL_MANAGED_BY] !== SLICE_CONTROLLER) return labels[LABEL_MANAGED_BY] === MIRRORING_CONTROLLER;
  const service = services.get(keyOf({ metadata: { namespace, name } }));
  return service ? hasPods(service) : ownerReferences.some(({ kind }) => kind === "Service");
}

function isMadeOfPods({ metadata }: KubeObject, service: Service | undefined): boolean {
  return metadata?.labels?.[LABEL_ENDPOINTS_MANAGED_BY] === ENDPOINTS_CONTROLLER && (!service || hasPods(service));
}
