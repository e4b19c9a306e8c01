import { describe, expect, it } from "vitest";
import type { GenRow } from "../../../../src/addresses/clusterip/ip-address-storage";
import { ReleasedByServices } from "../../../../src/addresses/clusterip/released-by-services";
import type { AddressRow, HolderKind } from "../../../../src/addresses/rpc/service-cidr";
import { aHolder } from "../../../support/worlds/owner-world";
import { LedgerWorld } from "../../../support/worlds/ledger-world";

const FIVE = "10.0.0.5";
const aRow = (counter: number, kind: HolderKind = "service"): AddressRow => ({
  address: FIVE,
  token: `t-${counter}`,
  gen: { epoch: 1, counter },
  holder: aHolder({ kind }),
  position: 1,
});
const aGen = (counter: number, token = ""): GenRow => ({ address: FIVE, token, gen: { epoch: 1, counter } });

/** What is said of FIVE when the owner answers `row` and the newest writer here is `gen`. */
function isReleasing(row: AddressRow | null | "stale" | Error, gen: GenRow | undefined): Promise<boolean> {
  const world = new LedgerWorld();
  const released = new ReleasedByServices({
    ...world.ports,
    owner: () => ({ rowsOf: () => (row instanceof Error ? Promise.reject(row) : Promise.resolve([row])) }),
    storage: { genGet: () => gen },
  });
  return world.scheduler.run(released.isReleasing(FIVE));
}

describe("a row that the services store has given back", () => {
  it.each([
    { name: "its IPAddress was deleted for the release: about to go", row: aRow(5), gen: aGen(5), is: true },
    { name: "its IPAddress is there: stays", row: aRow(5), gen: aGen(5, "t-5"), is: false },
    { name: "its IPAddress has not come yet, one before it was released: stays", row: aRow(5), gen: aGen(4), is: false },
    { name: "nothing is known of the address: stays", row: aRow(5), gen: undefined, is: false },
    { name: "it is of an IPAddress that a client made: stays", row: aRow(5, "ipaddress"), gen: aGen(5), is: false },
    { name: "it has gone: nothing is about to go", row: null, gen: aGen(5), is: false },
  ])("$name", async ({ row, gen, is }) => {
    expect(await isReleasing(row, gen)).toBe(is);
  });

  it.each([
    { name: "no owner speaks for the address", row: "stale" as const },
    { name: "the owner does not answer", row: new Error("overloaded") },
  ])("$name: rejects", async ({ row }) => {
    await expect(isReleasing(row, aGen(5))).rejects.toThrow(FIVE);
  });
});
