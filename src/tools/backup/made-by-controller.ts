import {
  ENDPOINTS_CONTROLLER,
  LABEL_ENDPOINTS_MANAGED_BY,
  LABEL_MANAGED_BY,
  MIRRORING_CONTROLLER,
  SLICE_CONTROLLER,
} from "../../api/meta/endpoint-keys";
import type { KubeObject } from "../../api/meta/kubernetes";
import { SERVER_MANAGER } from "../../api/store/field-tracking";
import type { BackupType } from "./format";
import { isInitial } from "./initial";
import { ENDPOINT_SLICES, ENDPOINTS, typeName } from "./order";

/**
 * Whether a controller makes the object of others that are backed up: slices and Endpoints of Pods, and mirrored slices. After a restore the controllers
 * make them anew; restored ones would stand beside theirs. So are those of `default/kubernetes` that the server keeps: another server has other addresses.
 */
export function isMadeByController(type: Pick<BackupType, "group" | "resource">, object: KubeObject): boolean {
  const { metadata } = object;
  const labels = metadata?.labels ?? {};
  const isOfServer = isInitial(object, type) && (metadata?.managedFields ?? []).some(({ manager }) => manager === SERVER_MANAGER);
  switch (typeName(type)) {
    case ENDPOINT_SLICES:
      return isOfServer || labels[LABEL_MANAGED_BY] === SLICE_CONTROLLER || labels[LABEL_MANAGED_BY] === MIRRORING_CONTROLLER;
    case ENDPOINTS:
      return isOfServer || labels[LABEL_ENDPOINTS_MANAGED_BY] === ENDPOINTS_CONTROLLER;
    default:
      return false;
  }
}
