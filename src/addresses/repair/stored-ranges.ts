/** The prefixes of all ServiceCIDRs, Ready or not. They are read again only when one has changed: there may be a thousand. */
import type { Recorder } from "../../core/base/ports";
import type { ServiceCIDR } from "../../api/meta/kubernetes";
import { type Prefix, prefixesIn } from "../../core/net/prefix";
import { type ObjectFeed, pagesOf } from "../../api/rpc/object-feed";
import type { StoreCursor } from "../../api/rpc/object-links";
import { readObject } from "../../api/meta/read-object";
import { tenancyOf } from "../../api/registry/service-cidrs/tenancy";
import type { RepairedRanges, Topology } from "../rpc/topology";
import type { RangesNow } from "./repair-ports";

const PAGE = 500;
/** A ServiceCIDR that cannot be read may contain any address, so no address is out of range. */
const ANYTHING = prefixesIn(["0.0.0.0/0", "::/0"]);

export class StoredRanges {
  #cursor: StoreCursor | undefined;
  #prefixes: readonly Prefix[] = [];
  #kept: Topology | undefined;

  constructor(
    private readonly serviceCIDRs: Pick<ObjectFeed, "objectsAfter"> & RepairedRanges,
    private readonly recorder: Recorder,
  ) {}

  /**
   * The prefixes now; the same array as before when nothing has changed. Rejects when the store does not answer, and while there is no ServiceCIDR:
   * as upstream, repair waits for the default one.
   */
  async current(): Promise<RangesNow> {
    if (this.#cursor) {
      const { isSame, owners } = await this.serviceCIDRs.rangesSince(this.#cursor);
      if (isSame) return { prefixes: this.#prefixes, owners, kept: this.#kept };
    }
    const prefixes: Prefix[] = [];
    const giving: Topology["ranges"] = [];
    let cursor: StoreCursor | undefined;
    for await (const page of pagesOf((after) => this.serviceCIDRs.objectsAfter(after, PAGE))) {
      // A change during the read comes after the first page's revision.
      cursor ??= page.cursor;
      for (const text of page.objects) {
        prefixes.push(...this.#prefixesOf(text));
        giving.push(...rangesOf(text));
      }
    }
    if (prefixes.length === 0) throw new Error("there is no ServiceCIDR yet: repair waits for the default one");
    this.#prefixes = prefixes;
    this.#kept = giving.some(({ selector }) => selector !== undefined)
      ? { epoch: 0, claims: [], ranges: giving, zoned: true, owners: [], free: [] }
      : undefined;
    this.#cursor = cursor;
    return { prefixes, kept: this.#kept };
  }

  #prefixesOf(text: string): readonly Prefix[] {
    try {
      return prefixesIn((JSON.parse(text) as ServiceCIDR).spec?.cidrs ?? []);
    } catch (error) {
      this.recorder.log("error", "a ServiceCIDR cannot be read, repair takes no address to be out of range", { error: String(error) });
      return ANYTHING;
    }
  }
}

/** What a Ready ServiceCIDR gives out, and for whom; nothing where it cannot be read. */
function rangesOf(text: string): Topology["ranges"] {
  const object = readObject<ServiceCIDR>(text);
  const isReady = object?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  if (!object || !isReady || object.metadata?.deletionTimestamp) return [];
  return (object.spec?.cidrs ?? []).map((prefix) => ({ prefix, name: object.metadata?.name ?? "", ...tenancyOf(object) }));
}
