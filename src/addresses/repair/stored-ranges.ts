/** The prefixes of all ServiceCIDRs, Ready or not. They are read again only when one has changed: there may be a thousand. */
import type { Recorder } from "../../core/base/ports";
import type { ServiceCIDR } from "../../api/meta/kubernetes";
import { type Prefix, prefixesIn } from "../../core/net/prefix";
import { type ObjectFeed, pagesOf } from "../../api/rpc/object-feed";
import type { StoreCursor } from "../../api/rpc/object-links";
import type { RepairedRanges } from "../rpc/topology";
import type { RangesNow } from "./repair-ports";

const PAGE = 500;
/** A ServiceCIDR that cannot be read may contain any address, so no address is out of range. */
const ANYTHING = prefixesIn(["0.0.0.0/0", "::/0"]);

export class StoredRanges {
  #cursor: StoreCursor | undefined;
  #prefixes: readonly Prefix[] = [];

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
      if (isSame) return { prefixes: this.#prefixes, owners };
    }
    const prefixes: Prefix[] = [];
    let cursor: StoreCursor | undefined;
    for await (const page of pagesOf((after) => this.serviceCIDRs.objectsAfter(after, PAGE))) {
      // A change during the read comes after the first page's revision.
      cursor ??= page.cursor;
      for (const text of page.objects) prefixes.push(...this.#prefixesOf(text));
    }
    if (prefixes.length === 0) throw new Error("there is no ServiceCIDR yet: repair waits for the default one");
    this.#prefixes = prefixes;
    this.#cursor = cursor;
    return { prefixes };
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
