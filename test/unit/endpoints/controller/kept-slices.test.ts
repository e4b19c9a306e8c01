import { describe, expect, it } from "vitest";
import { LABEL_MANAGED_BY, LABEL_SERVICE_NAME, MIRRORING_CONTROLLER } from "../../../../src/api/meta/endpoint-keys";
import { textHash } from "../../../../src/core/tables/text-hash";
import { KeptSlices } from "../../../../src/endpoints/controller/kept-slices";
import { CountingRows } from "../../../support/memory/counting-rows";

const LONG = "a".repeat(63);

/** The known Services, then slices as `name of the slice: its Service`. */
function kept(slices: readonly string[]): { rows: CountingRows; slices: KeptSlices } {
  const rows = new CountingRows();
  const found = new KeptSlices(rows, MIRRORING_CONTROLLER, () => undefined);
  for (const slice of slices) {
    const [name = "", service = ""] = slice.split(": ");
    const labels = { [LABEL_MANAGED_BY]: MIRRORING_CONTROLLER, [LABEL_SERVICE_NAME]: service };
    found.put({ metadata: { namespace: "ns", name, uid: name, labels } });
  }
  return { rows, slices: found };
}

describe("Services that have slices and are not known", () => {
  const [a, b] = sameHash();
  it.each<[string, string[], string[], string[], number]>([
    ["none", [], [], [], 0],
    ["each is known", ["a", "b"], ["a-x1x1x: a", "b-x1x1x: b", "a-y1y1y: a"], [], 0],
    ["one of three slices is not", ["a"], ["a-x1x1x: a", "b-x1x1x: b", "b-y1y1y: b", "a-y1y1y: a", "b-z1z1z: b"], ["ns/b"], 3],
    ["slices that somebody else has named", ["a"], ["mine: a", "mine-too: b"], ["ns/b"], 2],
    ["a slice with the name of a known one", ["a"], ["a-x1x1x: b"], ["ns/b"], 1],
    ["names that are cut", [LONG], [`${"a".repeat(58)}x1x1x: ${LONG}`], [], 1],
    ["two that share a hash, one of them known", [a], [`${a}-x1x1x: ${a}`, `${b}-x1x1x: ${b}`], [`ns/${b}`], 1],
    ["two that share a hash, none of them known", [], [`${a}-x1x1x: ${a}`, `${b}-x1x1x: ${b}`], [`ns/${a}`, `ns/${b}`], 2],
  ])("%s: those of the row, each once, and so many facts are read", (_, known, slices, want, reads) => {
    const world = kept(slices);
    const isKnown = (key: string): boolean => known.includes(key.slice("ns/".length));
    expect(world.rows.readBy(() => [...world.slices.orphanedKeys(isKnown)])).toEqual([want, reads]);
  });

  it("2,000 known ones: no fact is read", () => {
    const names = Array.from({ length: 2_000 }, (_, i) => `s${i}`);
    const world = kept(names.map((name) => `${name}-x1x1x: ${name}`));
    expect(world.rows.readBy(() => [...world.slices.orphanedKeys((key) => names.includes(key.slice(3)))])).toEqual([[], 0]);
  });
});

/** Two names of Services in `ns` whose keys have one hash. */
function sameHash(): [string, string] {
  const names = new Map<number, string>();
  for (let i = 0; ; i++) {
    const name = `s${i.toString(36)}`;
    const hash = textHash(`ns/${name}`);
    const other = names.get(hash);
    if (other !== undefined) return [other, name];
    names.set(hash, name);
  }
}
