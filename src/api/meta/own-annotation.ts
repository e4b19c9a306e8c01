/**
 * Annotations of our own: all are named under `servicenet.dev`. Earlier releases wrote them under `servicenet.io`, and may run beside this one. So this
 * release writes both spellings and reads both. The next one removes the earlier spelling with each write.
 */
type Annotations = Readonly<Record<string, string>>;

export const OWN_DOMAIN = "servicenet.dev";
const EARLIER_DOMAIN = "servicenet.io";

export interface OwnAnnotation {
  readonly key: string;
  /** as earlier releases write it */
  readonly earlierKey: string;
}

/** @param name behind the domain, as `agent-id` */
export function ownAnnotation(name: string): OwnAnnotation {
  return { key: `${OWN_DOMAIN}/${name}`, earlierKey: `${EARLIER_DOMAIN}/${name}` };
}

/** The value; undefined = there is none. Each release so far writes the earlier spelling. So where the two differ, it has the younger value. */
export function readOwn(annotations: Annotations | undefined, { key, earlierKey }: OwnAnnotation): string | undefined {
  return annotations?.[earlierKey] ?? annotations?.[key];
}

/** Every value that the annotations have for it. */
export function valuesOfOwn(annotations: Annotations | undefined, { key, earlierKey }: OwnAnnotation): string[] {
  return [annotations?.[key], annotations?.[earlierKey]].filter((value) => value !== undefined);
}

/** The annotations to be written; null takes them away, in a merge patch. */
export function writtenOwn<T extends string | null>({ key, earlierKey }: OwnAnnotation, value: T): Record<string, T> {
  return { [key]: value, [earlierKey]: value };
}

/** Which Services of type LoadBalancer a pool serves, by its annotations (registry/ipam/load-balancer.ts). What is absent restricts nothing. */
export interface ServedServices {
  /** 0 = last */
  readonly priority: number;
  readonly namespaces?: readonly string[];
  /** label selectors in the syntax of `labelSelector=`, like those of Services */
  readonly namespaceSelectors?: readonly string[];
  readonly serviceSelectors?: readonly string[];
  /** The pool has one of these, or a priority. It serves matches alone, and before all pools that have none. */
  readonly isChosen?: true;
  /** only Services that name the pool, or an address of it */
  readonly onRequest?: true;
}

/** Who has an address of a pool of the root, by the annotations of its row there (registry/ipam/fleet-rows.ts). */
export interface RowHolder {
  /** id of the life of the cluster */
  readonly cluster: string;
  /** `namespace/name` of the claim */
  readonly claim: string;
  readonly uid: string;
}
