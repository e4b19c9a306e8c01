import { describe, expect, it } from "vitest";
import { keptTogether } from "../../../../src/addresses/metrics/kept-counters";
import { nodePortFamilies, NodePortMetrics } from "../../../../src/addresses/metrics/node-port-metrics";

/** The stored numbers, and how many were written. */
class KeptNumbers {
  readonly numbers = new Map<string, number>();
  writes = 0;

  numberGet(name: string): number {
    return this.numbers.get(name) ?? 0;
  }

  numberSet(name: string, value: number): void {
    this.writes++;
    this.numbers.set(name, value);
  }
}

const NONE = { dynamic: 0, static: 0 };

describe("counters of node ports", () => {
  it("next life of the object: goes on where the last save ended", () => {
    const kept = new KeptNumbers();
    const first = new NodePortMetrics(kept);
    first.allocated("dynamic");
    first.allocated("static");
    first.failed("static");
    expect(first.keptValues(), "not written yet").toEqual({ total: NONE, errors: NONE });
    first.save();
    first.allocated("dynamic");
    const second = new NodePortMetrics(kept);
    second.allocated("dynamic");
    second.save();
    expect(second.keptValues()).toEqual({ total: { dynamic: 2, static: 1 }, errors: { dynamic: 0, static: 1 } });
  });

  it("save without a change: writes nothing; after a lost transaction: writes again", () => {
    const kept = new KeptNumbers();
    const metrics = new NodePortMetrics(kept);
    metrics.save();
    metrics.lost();
    expect([kept.writes, metrics.unsaved]).toEqual([0, false]);
    metrics.failed("dynamic");
    metrics.save();
    kept.numbers.clear();
    metrics.lost();
    expect(metrics.unsaved).toBe(true);
    metrics.save();
    expect(metrics.keptValues().errors).toEqual({ dynamic: 1, static: 0 });
  });

  it("two sets kept together: unsaved if one of them is, saved and lost both", () => {
    const kept = new KeptNumbers();
    const [a, b] = [new NodePortMetrics(kept), new NodePortMetrics(new KeptNumbers())];
    const both = keptTogether(a, b);
    expect(both.unsaved).toBe(false);
    b.allocated("static");
    expect(both.unsaved).toBe(true);
    both.save();
    expect([both.unsaved, b.keptValues().total.static]).toEqual([false, 1]);
    both.lost();
    expect([a.unsaved, b.unsaved]).toEqual([false, true]);
  });
});

describe("nodePortFamilies", () => {
  it("no answer of the store: families without samples", () => {
    expect(nodePortFamilies(undefined).map(({ name, samples }) => [name, samples.length])).toEqual(
      ["allocated_ports", "available_ports", "allocation_total", "allocation_errors_total"].map((name) => [
        `kube_apiserver_nodeport_allocator_${name}`,
        0,
      ]),
    );
  });
});
