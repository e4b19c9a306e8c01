import { describe, expect, it } from "vitest";
import { podNameOf } from "../../../../../src/clients/agent/endpoints/endpoint-pod";
import { validateDNS1123Subdomain } from "../../../../../src/api/meta/names";

const LONG = `${"n".repeat(60)}.${"o".repeat(60)}.${"d".repeat(60)}.${"e".repeat(60)}.abcdefghi`;

describe("name of an endpoint's Pod", () => {
  it.each<[entry: string, node: string, name: string]>([
    ["web", "node-1", "web.node-1"],
    ["a-b", "c", "a-b.c"],
    ["a", "b-c", "a.b-c"],
    ["a", "b.c", "a.b.c"],
  ])("%s on %s: %s, which is no other one's", (entry, node, name) => expect(podNameOf(entry, node)).toBe(name));

  it("on nodes whose names are as long as names may be: good, and another one for each", () => {
    const nodes = [LONG, `${LONG.slice(0, -1)}j`, LONG.slice(0, 237)];
    const names = nodes.map((node) => podNameOf("name-of-15-char", node));
    expect(names.flatMap(validateDNS1123Subdomain)).toEqual([]);
    expect(names.map(({ length }) => length)).toEqual([253, 253, 253]);
    expect(new Set(names).size).toBe(3);
  });
});
