/**
 * The ETag of a page: how far both stores were read when it was made. So it outlives the view that made it, and whoever has it can ask the stores
 * what came since. The bytes of a Service depend on the node's zone, so the zone stands there, too.
 */
import type { StoreCursor } from "../../api/rpc/object-links";

/** How far the stores of Services and of slices were read. */
export interface ViewPlace {
  readonly services: StoreCursor;
  readonly slices: StoreCursor;
}

export interface PageTag extends ViewPlace {
  /** of the node; "" = it has none */
  readonly zone: string;
}

/** The form of pages. Another one follows when the bytes of a Service that has not changed become others: every proxy then gets a whole page. */
const FORM = "p1";

/** The place as text: equal texts, equal places. */
export function placeText({ services, slices }: ViewPlace): string {
  return [services, slices].map(({ incarnation, revision }) => `${revision}.${incarnation}`).join(".");
}

export function pageTag(place: ViewPlace, zone = ""): string {
  return `"${FORM}.${placeText(place)}.${encodeURIComponent(zone)}"`;
}

/** What `pageTag` made; undefined = it is none. A proxy on the way may have made the ETag a weak one. */
export function readPageTag(etag: string): PageTag | undefined {
  const text = etag.startsWith("W/") ? etag.slice(2) : etag;
  const [form, ...parts] = text.slice(1, -1).split(".");
  const [services = "", servicesOf = "", slices = "", slicesOf = "", ...zone] = parts;
  const place = {
    services: { incarnation: servicesOf, revision: Number(services) },
    slices: { incarnation: slicesOf, revision: Number(slices) },
  };
  const tag = { ...place, zone: decoded(zone.join(".")) ?? "" };
  const isWhole = form === FORM && Number.isSafeInteger(tag.services.revision) && Number.isSafeInteger(tag.slices.revision);
  return isWhole && pageTag(tag, tag.zone) === text ? tag : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
