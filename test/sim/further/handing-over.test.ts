/**
 * Random histories of hand-offs. A failure prints seed and parameters; `SEED=<n>` runs that history alone, `SIM_HISTORIES=<n>` sets how many
 * there are.
 */
import { describe, expect, it } from "vitest";
import type { ServiceCIDRRpc } from "../../../src/addresses/rpc/service-cidr";
import { expectNoticed } from "../../support/sim/watches/noticed";
import type { Sabotage } from "../../support/sim/platform/platform";
import { type HandoffReport, runHandoffHistory } from "../../support/sim/histories/handoff-history";
import { fixedSeedsOf, histories, SEED } from "../../support/sim/platform/seeds";

const HISTORIES = histories(10);
const NOTICED_WITHIN = 100;

describe("random histories of hand-offs", () => {
  it(`every history (${SEED ? `seed ${SEED}` : `${HISTORIES} seeds`}): keeps I1 to I4 and leaves nothing behind`, async () => {
    const failed: HandoffReport[] = [];
    let received = 0;
    for (const seed of fixedSeedsOf(HISTORIES)) {
      const report = await runHandoffHistory({ seed });
      if (report.violations.length > 0) failed.push(report);
      received += report.received;
    }
    expect(failed.slice(0, 3).map(describeFailure).join("\n"), `${failed.length} histories fail`).toBe("");
    if (SEED) return;
    expect(received, "addresses reach new owners").toBeGreaterThan(HISTORIES / 4);
  }, 240_000);
});

describe("the loss of a protection", () => {
  const cases: Record<string, Sabotage> = {
    "a target that takes what it is sent for all there is": { owner: believesAnything },
  };
  for (const [name, sabotage] of Object.entries(cases)) {
    it(`${name}: some history notices`, async () => {
      await expectNoticed({ name, play: (seed) => runHandoffHistory({ seed, sabotage }), within: NOTICED_WITHIN });
    }, 120_000);
  }
});

/** A network that loses rows, and no seal that tells. */
function believesAnything(owner: ServiceCIDRRpc): ServiceCIDRRpc {
  const checksumOfNothing = 0x811c9dc5;
  const receive: ServiceCIDRRpc["receive"] = (handoff, chunk) =>
    owner.receive(handoff, { ...chunk, rows: [], ...(chunk.seal ? { seal: { rows: 0, checksum: checksumOfNothing } } : {}) });
  return new Proxy(owner, {
    get(target, property) {
      if (property === "receive") return receive;
      const value: unknown = Reflect.get(target, property);
      return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}

function describeFailure({ seed, violations, parameters }: HandoffReport): string {
  return [`SEED=${seed}: ${JSON.stringify(parameters)}`, ...violations].join("\n  ");
}
