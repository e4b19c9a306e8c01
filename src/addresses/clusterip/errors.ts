/**
 * Refusals of allocation as the Status that released Kubernetes 1.36 answers. Wrong-family requests never come this far: family
 * rules have refused them. A Service without a name does not either: upstream allocates first and lets the nameless IPAddress fail, here
 * validation comes first and answers `metadata.name: Required value`.
 */
import { assertNever } from "../../core/base/assert";
import { invalidValue } from "../../api/meta/field-errors";
import type { Service } from "../../api/meta/kubernetes";
import { internalError, invalid, type ResourceName, type Status } from "../../api/meta/status";
import type { Family } from "../../core/net/family";
import { type NodePortTake, OUTSIDE_NODE_PORT_RANGE } from "../node-ports/node-port-plan";
import type { NodePortRefusal } from "../node-ports/node-ports";
import { requestedClusterIPs, type Take } from "./address-plan";

const SERVICES: ResourceName = { group: "", resource: "services", kind: "Service" };

/** Why an address of the plan could not be taken. */
export type TakeRefusal =
  /** static: somebody holds it */
  | { reason: "taken" }
  /** static: no Ready ServiceCIDR makes the address usable */
  | { reason: "notAllocatable" }
  /** static in a dry run: outside the one range that is looked at, a CIDR text */
  | { reason: "outsideRange"; range: string }
  /** dynamic: every address of the family is taken; `text` says of which ranges, where some are kept for the Services of some namespaces */
  | { reason: "full"; text?: string }
  /** dynamic: no ServiceCIDR of the family is Ready. Upstream says "range is full" here too, which sends operators after the wrong thing. */
  | { reason: "noRange"; family: Family }
  /** dry run: no ServiceCIDR of the family is Ready */
  | { reason: "notReady" }
  /** a fault that has words for the client */
  | { reason: "other"; text: string };

/**
 * The answer to a write of `service` whose `take` was refused. It prints what the client asked for, with "" for each address that the server was
 * to choose. So call it before anything is written into clusterIPs.
 */
export function takeRefused(service: Service, take: Take, refusal: TakeRefusal): Status {
  const name = service.metadata?.name ?? "";
  if ((refusal.reason === "full" || refusal.reason === "noRange") && take.address === "") {
    return internalError(`failed to allocate a serviceIP for Service ${JSON.stringify(name)}: ${refusalText(refusal, "")}`);
  }
  const list = requestedClusterIPs(service);
  const named = take.address === "" ? "" : (list[take.index] ?? take.address);
  const detail = `failed to allocate IP${named && ` ${named}`}: ${refusalText(refusal, named)}`;
  return invalid(SERVICES, name, [invalidValue("spec.clusterIPs", list, detail)]);
}

/** The answer to a write of `service` whose node port was refused: a 422 at a port's number, a 500 for all else, as upstream. */
export function nodePortRefused(service: Service, { places, port }: NodePortTake, refusal: NodePortRefusal): Status {
  const text = nodePortText(refusal);
  const [place] = places;
  if (place === undefined) {
    const what = port === 0 ? "a HealthCheck NodePort 0" : `requested HealthCheck NodePort ${port}`;
    return internalError(`failed to allocate ${what}: ${text}`);
  }
  if (port === 0) return internalError(`failed to allocate a nodePort: ${text}`);
  return invalid(SERVICES, service.metadata?.name ?? "", [invalidValue(`spec.ports[${place}].nodePort`, port, text)]);
}

function nodePortText(refusal: NodePortRefusal): string {
  switch (refusal.reason) {
    case "taken":
      return "provided port is already allocated";
    case "outsideRange":
      return OUTSIDE_NODE_PORT_RANGE;
    case "kept":
    case "full":
      return refusal.text;
    default:
      return assertNever(refusal);
  }
}

function refusalText(refusal: TakeRefusal, address: string): string {
  switch (refusal.reason) {
    case "taken":
      return "provided IP is already allocated";
    case "notAllocatable":
      return "the provided network does not match the current range";
    case "outsideRange":
      return `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${refusal.range}`;
    case "full":
      return refusal.text ?? "range is full";
    case "noRange":
      return `no ServiceCIDR with ${refusal.family} addresses is Ready`;
    case "notReady":
      return "allocator not ready";
    case "other":
      return refusal.text;
    default:
      return assertNever(refusal);
  }
}
