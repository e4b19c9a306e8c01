import { describe, expect, it } from "vitest";
import { pageTag, readPageTag } from "../../../../src/endpoints/proxy-config/page-tag";

const PLACE = { services: { incarnation: "3f-a", revision: 7 }, slices: { incarnation: "b", revision: 12 } };

describe("ETag of a page", () => {
  it.each(["", "z1", "eu-west-1a", "a.b", "é %/"])("zone %j: comes back, with the place", (zone) => {
    expect(readPageTag(pageTag(PLACE, zone))).toEqual({ ...PLACE, zone });
  });

  it("made weak on its way: counts", () => {
    expect(readPageTag(`W/${pageTag(PLACE, "z1")}`)).toEqual({ ...PLACE, zone: "z1" });
  });

  it.each([
    ["of somebody else", '"abc"'],
    ["empty", ""],
    ["of any page", "*"],
    ["of the release before", '"3fab-1-z1"'],
    ["of another form of pages", pageTag(PLACE).replace("p1", "p0")],
    ["with another number's spelling", pageTag(PLACE).replace("7", "7.0")],
    ["with a revision that is none", pageTag(PLACE).replace("7", "x")],
    ["with a zone that is none", pageTag(PLACE).replace(/"$/, '%"')],
    ["one of two", `${pageTag(PLACE)}, "x"`],
    ["without its end", pageTag(PLACE).slice(0, -1)],
  ])("%s: is none", (_, etag) => {
    expect(readPageTag(etag)).toBeUndefined();
  });
});
