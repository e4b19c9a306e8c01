/** The end of a ServiceCIDR with 120 others inside: each of them takes over its part, side by side. */
import { describe, expect, it } from "vitest";
import type { CoordinatorWorld } from "../../support/worlds/coordinator-world";
import { expectMoved, OUTER_V6, scattered, withInner } from "../../support/worlds/inner-ranges";

function countCalls(world: CoordinatorWorld): (method: string) => number {
  const from = world.points.length;
  // Each call has one point before its effect and one after it.
  return (method) => world.points.slice(from).filter((point) => point.startsWith(method)).length / 2;
}

describe("deleted ServiceCIDR around many others", () => {
  it.each([
    { name: "120 × /24 in a /16", outer: "10.64.0.0/16", prefixes: Array.from({ length: 120 }, (_, i) => `10.64.${i}.0/24`) },
    { name: "120 × /112 all over a /64", outer: OUTER_V6, prefixes: Array.from({ length: 120 }, (_, i) => scattered(i + 1)) },
  ])("$name: moved in a few rounds, with one segment per part and short freezes", { timeout: 60_000 }, async (shape) => {
    const { world, source, inner } = await withInner(shape.outer, shape.prefixes);
    const calls = countCalls(world);
    let [segments, frozen] = [0, 0];
    const check = world.check;
    world.check = (w) => {
      check(w);
      const config = w.configOf(source);
      segments = Math.max(segments, config?.owned.length ?? 0);
      frozen = Math.max(frozen, config?.frozen.length ?? 0);
    };
    await world.run(world.remove("outer"));
    await world.until(() => world.object("outer") === undefined);
    expect(segments).toBe(shape.prefixes.length);
    expect(frozen).toBeLessThanOrEqual(100);
    expect(calls("partition")).toBeLessThanOrEqual(6);
    expect(calls("copyOut")).toBe(shape.prefixes.length);
    await expectMoved(world, source, inner);
  });
});
