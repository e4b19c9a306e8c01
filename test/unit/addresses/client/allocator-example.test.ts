import { describe, expect, it } from "vitest";
import { parsePrometheus } from "../../../support/values/prometheus";
import { example } from "../../../support/examples/allocator";

/** Vite's glob import; each entry loads the text of one file. */
declare global {
  interface ImportMeta {
    glob(pattern: string, options: { query: "?raw"; import: "default" }): Record<string, () => Promise<unknown>>;
  }
}

const texts = import.meta.glob(["../../../../docs/allocator.md", "../../../support/examples/allocator.ts"] as unknown as string, {
  query: "?raw",
  import: "default",
});

describe("docs/allocator.md", () => {
  it("example: is the code that runs here, and prints what the page shows", async () => {
    const page = String(await texts["../../../../docs/allocator.md"]?.());
    const code = String(await texts["../../../support/examples/allocator.ts"]?.());
    const [shown = "", printed = ""] = [...page.matchAll(/```(?:ts)?\n(\w[\s\S]*?)```/g)].map((match) => match[1] ?? "");
    expect(shown).toBe(code.replaceAll('"../../../src/', '"../src/'));
    const lines: string[] = [];
    example((line) => lines.push(line));
    const metrics = lines.pop() ?? "";
    expect(lines.join("\n")).toBe(printed.trimEnd());
    const families = parsePrometheus(metrics);
    const values = (name: string): unknown =>
      families.get(`kube_apiserver_clusterip_allocator_${name}`)?.samples.map(({ labels, value }) => [labels.cidr, labels.scope, value]);
    expect(values("allocated_ips")).toEqual([
      ["10.0.0.0/28", undefined, 13],
      ["10.0.0.0/24", undefined, 14],
    ]);
    // One dynamic request found the /28 full; naming a taken address is the other error.
    expect(values("allocation_errors_total")).toEqual([
      ["10.0.0.0/28", "dynamic", 1],
      ["10.0.0.0/28", "static", 1],
    ]);
  });
});
