import { describe, expect, it } from "vitest";
import type { EndpointSlice } from "../../../../src/api/meta/kubernetes";
import { recycle } from "../../../../src/endpoints/slices/slice-changes";

const slice = (name: string, addressType = "IPv4"): EndpointSlice => ({ metadata: { name }, addressType, endpoints: [] });
const fresh = (generateName: string, addressType = "IPv4"): EndpointSlice => ({ metadata: { generateName }, addressType, endpoints: [] });
const names = (slices: readonly EndpointSlice[]): string[] => slices.map(({ metadata }) => metadata?.name ?? metadata?.generateName ?? "");

describe("recycle", () => {
  it.each<[string, EndpointSlice[], EndpointSlice[], EndpointSlice[], [create: string[], update: string[], remove: string[]]]>([
    ["nothing to delete", [fresh("a-")], [slice("u")], [], [["a-"], ["u"], []]],
    ["nothing to create", [], [slice("u")], [slice("d")], [[], ["u"], ["d"]]],
    ["one of each: two updates", [fresh("a-")], [slice("u")], [slice("d")], [[], ["u", "d"], []]],
    ["more creates: the last one takes the name", [fresh("a-"), fresh("b-")], [], [slice("d")], [["a-"], ["d"], []]],
    ["more deletes: the first one gives the name", [fresh("a-")], [], [slice("d"), slice("e")], [[], ["d"], ["e"]]],
    ["another address type", [fresh("a-")], [], [slice("d", "IPv6")], [["a-"], [], ["d"]]],
    ["a slice that must not be reused", [fresh("a-")], [], [slice("theirs"), slice("d")], [[], ["d"], ["theirs"]]],
  ])("%s: the writes of the row", (_, create, update, remove, want) => {
    const found = recycle({ create, update, remove }, ({ metadata }) => metadata?.name !== "theirs");
    expect([names(found.create), names(found.update), names(found.remove)]).toEqual(want);
  });

  it("a recycled slice: its own content under the old name", () => {
    const [update] = recycle({ create: [fresh("a-")], update: [], remove: [slice("d")] }, () => true).update;
    expect(update?.metadata).toEqual({ generateName: "a-", name: "d" });
  });
});
