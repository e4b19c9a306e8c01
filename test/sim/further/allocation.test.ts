/**
 * Random histories of the allocation path. A failure prints seed and parameters; `SEED=<n>` runs that history alone, `SIM_HISTORIES=<n>`
 * sets how many there are.
 */
import { describe, expect, it } from "vitest";
import type { LedgerStorage } from "../../../src/addresses/ledger/ledger-storage";
import type { ServiceCIDRRpc } from "../../../src/addresses/rpc/service-cidr";
import { overriding } from "../../support/worlds/overriding";
import { type HistoryReport, runHistory } from "../../support/sim/histories/history";
import { expectNoticed } from "../../support/sim/watches/noticed";
import type { Sabotage } from "../../support/sim/platform/platform";
import { commandOf, histories, SEED, seedsOf } from "../../support/sim/platform/seeds";

const HISTORIES = histories(20);
/** Within so many histories the loss of a protection has to show. */
const NOTICED_WITHIN = 500;
/** Of what few histories notice: a seed that did. */
const FIRST: Readonly<Record<string, number>> = {
  "a release that frees the address whatever its token": 128,
  "pairing that forgets what is not written yet": 630,
};

/** A row was taken for an IPAddress that was then written as one of no range: repair, which is not in these histories, gives the row its token. */
const FAILED_ONCE = [208649194];

describe("random histories of the allocation path", () => {
  it(`every history (${SEED ? `seed ${SEED}` : "seeds of this run"}): keeps I1 to I4 and leaves nothing behind`, async () => {
    const failed: HistoryReport[] = [];
    for (const seed of seedsOf(HISTORIES)) {
      const report = await runHistory({ seed });
      if (report.violations.length > 0) failed.push(report);
    }
    expect(failed.slice(0, 3).map(describeFailure).join("\n"), `${failed.length} histories fail`).toBe("");
  }, 120_000);

  it.each(FAILED_ONCE)("seed %i, which failed once: leaves nothing behind", async (seed) => {
    expect((await runHistory({ seed })).violations).toEqual([]);
  });

  it("equal seeds: equal histories", async () => {
    expect(await runHistory({ seed: 7 })).toEqual(await runHistory({ seed: 7 }));
  });
});

describe("the loss of a protection", () => {
  const cases: Record<string, Sabotage> = {
    "a release that frees the address whatever its token": { owner: releaseByAddress },
    "pending releases that are not written down": {
      ledger: (storage) => overriding(storage, { releaseAdd: () => undefined, releaseListAdd: () => undefined }),
    },
    "no audit of the owners": { owner: (owner) => overriding(owner, { rowsSince: () => Promise.resolve({ epoch: 0, rows: [] }) }) },
    "IPAddress writes that ignore how new their row is": { addresses: (storage) => overriding(storage, { genGet: () => undefined }) },
    "pairing that forgets what is not written yet": { ledger: (storage) => overriding(storage, { numberGet: forgetful(storage) }) },
    "an allocation that ignores its token": { owner: allocateAnew },
    "node ports whose rows say nothing": {
      nodePorts: (storage) => overriding(storage, { nodePortAdd: () => undefined, nodePortHolder: () => undefined }),
    },
    "node ports that outlive their Service": { nodePorts: (storage) => overriding(storage, { nodePortDelete: () => undefined }) },
  };
  for (const [name, sabotage] of Object.entries(cases)) {
    it(`${name}: some history notices`, async () => {
      await expectNoticed({ name, play: (seed) => runHistory({ seed, sabotage }), first: FIRST[name], within: NOTICED_WITHIN });
    }, 60_000);
  }
});

function releaseByAddress(owner: ServiceCIDRRpc): ServiceCIDRRpc {
  return overriding(owner, {
    async release(items) {
      const { rows } = await owner.rowsSince(0, 10_000);
      const held = new Map(rows.map(({ address, token }) => [address, token]));
      return owner.release(items.map(({ address, token }) => ({ address, token: held.get(address) ?? token })));
    },
  });
}

function allocateAnew(owner: ServiceCIDRRpc): ServiceCIDRRpc {
  let calls = 0;
  return overriding(owner, {
    allocate: (items) => owner.allocate(items.map((item) => ({ ...item, token: `${item.token.slice(0, 36)}-${++calls}` }))),
  });
}

function forgetful(storage: LedgerStorage): LedgerStorage["numberGet"] {
  return (name) => (name === "paired" ? Number.MAX_SAFE_INTEGER : storage.numberGet(name));
}

function describeFailure({ seed, violations, ...rest }: HistoryReport): string {
  return [`${commandOf(seed)}: ${JSON.stringify(rest)}`, ...violations].join("\n  ");
}
