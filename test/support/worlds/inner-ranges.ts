/** A ServiceCIDR with others inside, whose parts move to them when it ends. */
import { expect } from "vitest";
import { type CoordinatorWorld, startedWorld } from "./coordinator-world";

const RANGES = ["10.9.0.0/28"];
export const OUTER_V6 = "fd00:0:0:1::/64";

/** The n-th of prefixes that lie far apart: between any two there are some 40 segments. */
export function scattered(n: number): string {
  return `fd00::1:${hex(n * 40_503)}:${hex(n * 7_919)}:${hex(n)}:0/112`;
}

function hex(n: number): string {
  return (n & 0xffff || 1).toString(16);
}

export interface Inner {
  uid: string;
  address: string;
  token: string;
}

/** `outer` owns everything, and there is an address in each of the inner ones. */
export async function withInner(outer: string, prefixes: readonly string[]) {
  const world = await startedWorld({ ranges: RANGES });
  const source = await world.created("outer", [outer]);
  const inner: Inner[] = [];
  for (const [i, prefix] of prefixes.entries()) {
    const uid = await world.created(`inner-${i}`, [prefix]);
    const address = prefix.replace(/0?\/.*$/, "7");
    const got = await world.allocate(source, address);
    expect(got).toMatchObject({ ok: true });
    inner.push({ uid, address, token: got.token });
  }
  return { world, source, inner };
}

export async function expectMoved(world: CoordinatorWorld, source: string, inner: readonly Inner[]): Promise<void> {
  await world.until(() => world.configOf(source)?.retired === true);
  const held = (await world.held()).map(({ uid, address }) => `${uid} ${address}`);
  expect(held.sort()).toEqual(inner.map(({ uid, address }) => `${uid} ${address}`).sort());
  for (const { uid, address, token } of inner.slice(0, 3)) {
    expect(await world.run(world.owner(uid).release([{ address, token }]))).toEqual(["released"]);
  }
  await world.pass(400_000);
  expect(world.storage.load().handoffs).toEqual([]);
  expect(world.storage.contents.alarmAt, "nothing is left to do").toBe(0);
}
