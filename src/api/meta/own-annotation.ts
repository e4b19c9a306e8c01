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
