import { describe, expect, it } from "vitest";
import { nodeTarget } from "../../../../src/proxy-health/pushed/node-target";
import { TargetNodes } from "../../../../src/proxy-health/pushed/target-nodes";

/** What is known of n1 after a start with this row. */
function loaded(row: object): unknown {
  const rows = {
    *saved<T>(): Iterable<[key: string, value: T]> {
      yield ["n1", row as T];
    },
    put: () => undefined,
    delete: () => undefined,
  };
  const nodes = new TargetNodes(rows, () => undefined);
  nodes.load();
  return nodes.get("n1");
}

describe("rows of Nodes after a start", () => {
  const target = nodeTarget({ metadata: { name: "n1" }, status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }] } });

  it("a row of today: is as it was written", () => {
    expect(loaded(target)).toEqual(target);
  });

  it("a row of an earlier release: texts that are no address are left out, and addresses are canonical", () => {
    const addresses = [
      { type: "InternalIP", address: "10.0.0.9\n  server x" },
      { type: "ExternalIP", address: "2001:DB8::0" },
    ];
    expect(loaded({ ...target, addresses })).toEqual({ ...target, addresses: [{ type: "ExternalIP", address: "2001:db8::" }] });
  });
});
