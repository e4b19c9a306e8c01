/** Above which revisions a restored cluster begins: the body of `POST /revisions` (rule 32). */
import type { KubeObject } from "../../api/meta/kubernetes";
import { rfc3339Seconds } from "../../api/meta/time";
import type { Backup } from "./format";

export interface Beginning {
  asOf: string;
  heads: Readonly<Record<string, string>>;
}

/** A time of which it is not known when it was. No backup is older. */
const LONG_AGO_MS = Date.UTC(2026, 0, 1);
/** The name of the greatest revision of a backup that does not say which store it is of. */
const ANY = "any";

export function beginningOf({ header, sections }: Pick<Backup, "header" | "sections">): Beginning {
  const createdAt = Date.parse(header.createdAt);
  const asOf = rfc3339Seconds(Number.isNaN(createdAt) ? LONG_AGO_MS : createdAt);
  if (header.heads && Object.keys(header.heads).length > 0) return { asOf, heads: header.heads };
  const seen = sections.flatMap(({ resourceVersion, objects }) => [resourceVersion, ...objects.map(revisionOf)]);
  const greatest = seen.reduce((most, text) => (/^\d+$/.test(text) && Number(text) > most ? Number(text) : most), 0);
  return { asOf, heads: { [ANY]: String(greatest) } };
}

function revisionOf(text: string): string {
  return (JSON.parse(text) as KubeObject).metadata?.resourceVersion ?? "";
}
