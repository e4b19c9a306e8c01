import {
  ENDPOINTS_CONTROLLER,
  LABEL_ENDPOINTS_MANAGED_BY,
  LABEL_MANAGED_BY,
  MIRRORING_CONTROLLER,
  SLICE_CONTROLLER,
} from "../../api/meta/endpoint-keys";
import type { KubeObject } from "../../api/meta/kubernetes";
import type { BackupType } from "./format";
import { ENDPOINT_SLICES, ENDPOINTS, typeName } from "./order";

/**
 * Whether a controller makes the object of others that are backed up: slices and Endpoints of Pods, and mirrored slices. After a restore the controllers
 * make them anew; restored ones would stand beside theirs.
 */
export function isMadeByController(type: Pick<BackupType, "group" | "resource">, { metadata }: KubeObject): boolean {
  const labels = metadata?.labels ?? {};
  switch (typeName(type)) {
    case ENDPOINT_SLICES:
      return labels[LABEL_MANAGED_BY] === SLICE_CONTROLLER || labels[LABEL_MANAGED_BY] === MIRRORING_CONTROLLER;
    case ENDPOINTS:
      return labels[LABEL_ENDPOINTS_MANAGED_BY] === ENDPOINTS_CONTROLLER;
    default:
      return false;
  }
}
