/**
 * Services that share an address. Both have the same key, and no port in common; their traffic goes to nodes by the same policy, and with Local to the same
 * Pods. A key in MetalLB's annotation counts in every namespace, as there. One in Cilium's counts in its own, unless each Service permits the namespace
 * of the other. Keys of the two are different ones. A Service that may share need not.
 *
 * Sources: MetalLB internal/allocator (sharingOK), Cilium operator/pkg/lbipam (service_store.go).
 */
import type { Service } from "../../api/meta/kubernetes";
import { hasSelector, portsOf, specOf } from "../../api/registry/services/predicates";

/** By which rules a key counts, and the annotations that have it, the newer name first. */
const KEYS = [
  { of: "metallb", names: ["metallb.io/allow-shared-ip", "metallb.universe.tf/allow-shared-ip"] },
  { of: "cilium", names: ["lbipam.cilium.io/sharing-key", "io.cilium/lb-ipam-sharing-key"] },
] as const;
const ACROSS = ["lbipam.cilium.io/sharing-cross-namespace", "io.cilium/lb-ipam-sharing-cross-namespace"];

/** What of a Service decides whether it may share. */
interface Sharing {
  of: "metallb" | "cilium";
  key: string;
  /** `TCP/80`, sorted */
  ports: string[];
  isLocal?: true;
  /** of a Local one: the labels of its Pods; absent = it selects none */
  selector?: string;
  /** namespaces besides its own, or `*` */
  across?: string[];
}

/** A Service at an address, with the text that `sharingOf` made of it; absent = it shares nothing. */
export interface AddressSharer {
  readonly namespace: string;
  readonly name: string;
  readonly sharing?: string;
}

/** As one text: where it is the same, nothing has changed. undefined = the Service shares nothing. */
export function sharingOf(service: Service): string | undefined {
  const annotations = service.metadata?.annotations;
  for (const { of, names } of KEYS) {
    const key = names.map((name) => annotations?.[name]).find(Boolean);
    if (key === undefined) continue;
    const spec = specOf(service);
    const ports = portsOf(spec).map(({ protocol = "TCP", port }) => `${protocol}/${port}`);
    const across = ACROSS.map((name) => annotations?.[name]).find(Boolean);
    const isLocal = spec.externalTrafficPolicy === "Local";
    const sharing: Sharing = {
      of,
      key,
      ports: ports.toSorted(),
      ...(isLocal && { isLocal }),
      ...(isLocal && hasSelector(spec) && { selector: JSON.stringify(Object.entries(spec.selector ?? {}).sort()) }),
      ...(of === "cilium" && across !== undefined && { across: across.split(",").map((name) => name.trim()) }),
    };
    return JSON.stringify(sharing);
  }
  return undefined;
}

/** The key, whatever else is to be the same; undefined = the text has none. */
export function sharingKey(text: string | undefined): string | undefined {
  const sharing = read(text);
  return sharing && `${sharing.of}/${sharing.key}`;
}

/** `TCP/80`; none where it shares nothing. */
export function portsOfSharing(text: string | undefined): readonly string[] {
  return read(text)?.ports ?? [];
}

/** Why `asker` may not have the address that `holder` has; undefined = it may. */
export function whyNotShared(address: string, asker: AddressSharer, holder: AddressSharer): string | undefined {
  const own = read(asker.sharing);
  const other = read(holder.sharing);
  if (!own) return `${JSON.stringify(address)} is already in use`;
  const refuse = (why: string): string =>
    `can't change sharing key for ${JSON.stringify(`${asker.namespace}/${asker.name}`)}, address also in use by ${holder.namespace}/${holder.name}: ${why}`;
  if (sharingKey(asker.sharing) !== sharingKey(holder.sharing) || !other) return refuse("different sharing key");
  if (own.of === "cilium" && asker.namespace !== holder.namespace && !(permits(own, holder) && permits(other, asker)))
    return refuse("different and not permitted namespace");
  const port = own.ports.find((one) => other.ports.includes(one));
  if (port !== undefined) return `port ${port} is already in use on ${JSON.stringify(address)}`;
  if (own.isLocal !== other.isLocal) return refuse("different ExternalTrafficPolicy");
  if (!own.isLocal) return undefined;
  if (own.selector === undefined || other.selector === undefined)
    return refuse("ExternalTrafficPolicy local but a service has no selector");
  return own.selector === other.selector ? undefined : refuse("ExternalTrafficPolicy local but selecting different set of pods");
}

function permits({ across = [] }: Sharing, { namespace }: AddressSharer): boolean {
  return across.includes("*") || across.includes(namespace);
}

function read(text: string | undefined): Sharing | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as Sharing);
}
