import { describe, expect, it } from "vitest";
import { type HeldAddress, makeServicesWholeOf, type WholeResult, type WholeServices } from "../../../../src/addresses/rpc/repair";
import type { NodePortFinding } from "../../../../src/addresses/rpc/repaired-node-ports";

const SEEN = [{ namespace: "default", name: "web", uid: "u" }];
const ITEMS: HeldAddress[] = [{ ...SEEN[0]!, address: "10.0.0.1", object: "", isRight: true }];
const ADDRESSES: WholeResult[] = ["whole"];
const NODE_PORTS: NodePortFinding[][] = [[{ port: 30_080, kind: "repair" }]];

/** What `makeServicesWholeOf` answers over a store whose calls answer so, and which calls it made. */
async function asked(answers: { together: WholeServices | Error; nodePorts?: Error }): Promise<{ answer: unknown; calls: string[] }> {
  const calls: string[] = [];
  const answered = <T>(call: string, value: T | Error): Promise<T> => {
    calls.push(call);
    return value instanceof Error ? Promise.reject(value) : Promise.resolve(value);
  };
  const store = {
    makeServicesWhole: () => answered("makeServicesWhole", answers.together),
    makeWhole: () => answered("makeWhole", ADDRESSES),
    makeNodePortsWhole: () => answered("makeNodePortsWhole", answers.nodePorts ?? NODE_PORTS),
  };
  const answer = await makeServicesWholeOf(() => store, ITEMS, SEEN).catch((error: unknown) => error);
  return { answer, calls };
}

describe("makeServicesWholeOf", () => {
  const missing = new TypeError('The RPC receiver does not implement the method "makeServicesWhole".');
  const lost = new Error("Network connection lost.");

  it("store of this release: one call", async () => {
    const together = { addresses: ADDRESSES, nodePorts: NODE_PORTS };
    expect(await asked({ together })).toEqual({ answer: together, calls: ["makeServicesWhole"] });
  });

  it("store of an older release: a call for each part", async () => {
    const answer = { addresses: ADDRESSES, nodePorts: NODE_PORTS };
    expect(await asked({ together: missing })).toEqual({ answer, calls: ["makeServicesWhole", "makeWhole", "makeNodePortsWhole"] });
  });

  it("store of an older release that cannot compare: answers about addresses all the same", async () => {
    const { answer } = await asked({ together: missing, nodePorts: lost });
    expect(answer).toEqual({ addresses: ADDRESSES, nodePorts: null });
  });

  it("lost call: rejects, and nothing is asked again", async () => {
    expect(await asked({ together: lost })).toEqual({ answer: lost, calls: ["makeServicesWhole"] });
  });
});
