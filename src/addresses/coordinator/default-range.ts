/**
 * The default ServiceCIDR against SERVICE_CLUSTER_IP_RANGE (upstream: pkg/controlplane/controller/defaultservicecidr). The object wins: a server
 * with other ranges only adds a missing second family. Any other difference is reported and left alone, so among servers of different
 * configurations the first one decides.
 */
import type { EventReport } from "../../api/events/event-recorder";
import { referenceTo } from "../../api/events/event-recorder";
import type { ServiceCIDR } from "../../api/meta/kubernetes";
import { serviceCIDRsDefinition } from "../../api/registry/service-cidrs/definition";
import { DEFAULT_SERVICE_CIDR, isDeleting, readyConditionOf } from "./state/service-cidr-object";

const ACTION = "DefaultServiceCIDRSync";

/** How the stored object compares with the configured ranges; order counts. */
export type DefaultComparison = "matches" | "lacksSecond" | "differs";

export function compareDefault(stored: readonly string[], configured: readonly string[]): DefaultComparison {
  const sameStart = stored.every((cidr, i) => cidr === configured[i]);
  if (sameStart && stored.length === configured.length) return "matches";
  return sameStart && stored.length === 1 && configured.length === 2 ? "lacksSecond" : "differs";
}

/** The object with the second configured family; undefined when it does not lack one, or is being deleted. */
export function upgraded(object: ServiceCIDR, configured: readonly string[]): ServiceCIDR | undefined {
  if (isDeleting(object) || compareDefault(object.spec?.cidrs ?? [], configured) !== "lacksSecond") return undefined;
  return { ...object, spec: { ...object.spec, cidrs: [...configured] } };
}

/** The report about an object that disagrees with the configuration, or is not ready; undefined = nothing to report. */
export function defaultRangeReport(object: ServiceCIDR, configured: readonly string[]): EventReport | undefined {
  if (isDeleting(object)) return undefined;
  const stored = object.spec?.cidrs ?? [];
  const comparison = compareDefault(stored, configured);
  if (comparison === "differs") {
    const note = `The default ServiceCIDR ${list(stored)} does not match the controller flag configurations ${list(configured)}`;
    return warning(object, "KubernetesDefaultServiceCIDRInconsistent", note);
  }
  const ready = readyConditionOf(object);
  if (comparison === "lacksSecond" || ready?.status !== "False") return undefined;
  return warning(object, ready.reason || "KubernetesDefaultServiceCIDRError", `Configuration matches, but ${ready.message}`);
}

/** The object could not be created. */
export function createFailedReport(): EventReport {
  const object: ServiceCIDR = { metadata: { name: DEFAULT_SERVICE_CIDR } };
  return warning(object, "KubernetesDefaultServiceCIDRError", "The default ServiceCIDR can not be created");
}

/** The object could not be given its second family. */
export function upgradeFailedReport(object: ServiceCIDR, configured: readonly string[], why: string): EventReport {
  const note = `The default ServiceCIDR can not be upgraded from ${(object.spec?.cidrs ?? []).join(" ")} to dual stack ${list(configured)} : ${why}`;
  return warning(object, "KubernetesDefaultServiceCIDRError", note);
}

/** The object could not be shown as ready. */
export function defaultReadyFailedReport(object: ServiceCIDR): EventReport {
  return warning(object, "KubernetesDefaultServiceCIDRError", "The default ServiceCIDR Status can not be set to Ready=True");
}

function warning(object: ServiceCIDR, reason: string, note: string): EventReport {
  return { regarding: referenceTo(serviceCIDRsDefinition, object), type: "Warning", reason, action: ACTION, note };
}

/** As Go prints a slice of texts. */
function list(cidrs: readonly string[]): string {
  return `[${cidrs.join(" ")}]`;
}
