/** Pages of the proxies' configuration as texts, for comparisons. */

/** What names a Service of one family in a page. */
export interface Ref {
  namespace: string;
  name: string;
  family: string;
}

/** The text whose pieces these are. */
export function textOf(...pieces: readonly Uint8Array[]): string {
  return pieces.map((bytes) => new TextDecoder().decode(bytes)).join("");
}

export function keyOf({ namespace, name, family }: Ref): string {
  return `${namespace}/${name}/${family}`;
}
