import { describe, expect, it } from "vitest";
import { StoredRanges } from "../../../../src/addresses/repair/stored-ranges";
import { formatPrefix } from "../../../../src/core/net/prefix";
import type { RangesNews, RepairedRanges } from "../../../../src/addresses/rpc/topology";
import type { FedPage, ObjectFeed } from "../../../../src/api/rpc/object-feed";
import type { StoreCursor } from "../../../../src/api/rpc/object-links";

/** A store of ServiceCIDRs with small pages, which counts their reads. */
class FakeFeed implements Pick<ObjectFeed, "objectsAfter">, RepairedRanges {
  pages = 0;
  revision = 1;
  incarnation = "one";
  onPage: () => void = () => undefined;

  constructor(public ranges: string[][]) {}

  rangesSince({ incarnation, revision }: StoreCursor): Promise<RangesNews> {
    return Promise.resolve({ isSame: incarnation === this.incarnation && revision === this.revision, owners: ["a"] });
  }

  objectsAfter(after: string): Promise<FedPage> {
    this.pages++;
    const at = Number(after || "0");
    const objects = this.ranges.slice(at, at + 2).map((cidrs) => JSON.stringify({ spec: { cidrs } }));
    const page = { objects, cursor: { incarnation: this.incarnation, revision: this.revision } };
    this.onPage();
    return Promise.resolve({ ...page, next: at + 2 < this.ranges.length ? String(at + 2) : "" });
  }
}

const read = async (ranges: StoredRanges): Promise<string[]> => (await ranges.current()).prefixes.map(formatPrefix);

describe("StoredRanges", () => {
  it("no change: pages are read once; a change: they are read again", async () => {
    const feed = new FakeFeed([["10.0.0.0/24", "2001:db8::/64"], ["10.0.1.0/24"], ["no prefix", "10.0.2.0/24"]]);
    const ranges = new StoredRanges(feed, { log: () => undefined });
    const all = ["10.0.0.0/24", "2001:db8::/64", "10.0.1.0/24", "10.0.2.0/24"];
    expect(await read(ranges)).toEqual(all);
    const again = await ranges.current();
    expect(again.prefixes).toBe((await ranges.current()).prefixes);
    expect(again.owners).toEqual(["a"]);
    expect(feed.pages).toBe(2);
    feed.ranges.pop();
    feed.revision++;
    expect(await read(ranges)).toEqual(all.slice(0, 3));
    expect(feed.pages).toBe(3);
  });

  it("change while they are read: read again", async () => {
    const feed = new FakeFeed([["10.0.0.0/24"]]);
    feed.onPage = () => {
      feed.revision++;
      feed.onPage = () => undefined;
    };
    const ranges = new StoredRanges(feed, { log: () => undefined });
    await read(ranges);
    feed.ranges = [["10.0.9.0/24"]];
    expect(await read(ranges)).toEqual(["10.0.9.0/24"]);
  });

  it("store that came back from a copy: read again", async () => {
    const feed = new FakeFeed([["10.0.0.0/24"]]);
    const ranges = new StoredRanges(feed, { log: () => undefined });
    await read(ranges);
    feed.incarnation = "two";
    feed.ranges = [["10.0.9.0/24"]];
    expect(await read(ranges)).toEqual(["10.0.9.0/24"]);
  });

  it("no ServiceCIDR at all: repair waits for the default one, and reads again", async () => {
    const feed = new FakeFeed([]);
    const ranges = new StoredRanges(feed, { log: () => undefined });
    await expect(read(ranges)).rejects.toThrow("repair waits for the default one");
    feed.ranges = [["10.0.0.0/24"]];
    expect(await read(ranges)).toEqual(["10.0.0.0/24"]);
  });

  it.each(["{", "null", '{"spec":{"cidrs":[5]}}'])(
    "ServiceCIDR that cannot be read (%s): may have any address, and is logged",
    async (text) => {
      const feed = new FakeFeed([["10.0.0.0/24"], ["10.0.1.0/24"]]);
      const { objectsAfter } = feed;
      feed.objectsAfter = async (after) => ({
        ...(await objectsAfter.call(feed, after)),
        objects: ['{"spec":{"cidrs":["10.0.0.0/24"]}}', text],
      });
      const lines: string[] = [];
      const ranges = new StoredRanges(feed, { log: (level) => void lines.push(level) });
      expect(await read(ranges)).toEqual(["10.0.0.0/24", "0.0.0.0/0", "::/0"]);
      expect(lines).toEqual(["error"]);
    },
  );
});
