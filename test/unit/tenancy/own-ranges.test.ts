import { expect, it } from "vitest";
import { firstRanges } from "../../../src/core/config/first-ranges";
import { prefixesIn } from "../../../src/core/net/prefix";
import { OwnRanges } from "../../../src/tenancy/own-ranges";

const BY_VARIABLE = { ...firstRanges(prefixesIn(["10.96.0.0/16"])), onlyRanges: undefined };

function stored(ranges?: readonly string[]) {
  const kept = { ranges };
  return { kept, storage: { load: () => kept.ranges, save: (saved: readonly string[]) => void (kept.ranges = saved) } };
}

it("without ranges of its own: the variable's", () => {
  const ranges = new OwnRanges(stored().storage, BY_VARIABLE);
  expect([ranges.isOwn, ranges.current]).toEqual([false, BY_VARIABLE]);
});

it("the first ones stay, behind a start, too; what follows from them is theirs", () => {
  const { storage } = stored();
  const ranges = new OwnRanges(storage, BY_VARIABLE);
  expect([ranges.take(["fd01::/112", "10.1.0.0/16"]), ranges.take(["10.2.0.0/16"])]).toEqual([true, false]);
  for (const known of [ranges, new OwnRanges(storage, BY_VARIABLE)]) {
    expect([known.isOwn, known.take(["fd01::/112", "10.1.0.0/16"]), known.current]).toEqual([
      true,
      true,
      { serviceFamilies: ["IPv6", "IPv4"], serviceRanges: ["fd01::/112", "10.1.0.0/16"], apiServerServiceIP: "fd01::1" },
    ]);
  }
});

it("without the gate: the variable's are the only ones, and the own ones come back with it", () => {
  const { storage } = stored(["10.1.0.0/16"]);
  const old = new OwnRanges(storage, { ...BY_VARIABLE, onlyRanges: ["10.96.0.0/16"] });
  expect([old.isOwn, old.current.serviceRanges]).toEqual([true, ["10.96.0.0/16"]]);
  expect(new OwnRanges(storage, BY_VARIABLE).current.serviceRanges).toEqual(["10.1.0.0/16"]);
});
