/** The table holds specs, and the causes of the refusals of kube-apiserver 1.36.2. Specs that its admission plugins judge are not among them. */
import { expect, it } from "vitest";
import type { Pod } from "../../../../../src/api/meta/kubernetes";
import { podsDefinition as definition } from "../../../../../src/api/registry/pods/definition";
import { decodeJson } from "../../../../../src/api/schema/json/decode-json";
import { create } from "../outcomes";

const tables = import.meta.glob("../../../../fixtures/upstream/pod-specs-*.tsv", { query: "?raw", import: "default" });

it("specs of Pods: refused as upstream does, in its order and its words", async () => {
  const rows = String(await tables["../../../../fixtures/upstream/pod-specs-1.36.tsv"]?.())
    .trimEnd()
    .split("\n");
  expect(rows.length).toBeGreaterThan(150);
  const got = rows.map((row) => {
    const [spec = ""] = row.split("\t");
    const decoded = decodeJson(JSON.stringify({ metadata: { name: "x" }, spec: JSON.parse(spec) as object }), definition.schema);
    const pod = decoded.ok ? (decoded.value.value as Pod) : {};
    return `${spec}\t${JSON.stringify(create<Pod>(definition, pod).errors)}`;
  });
  expect(got).toEqual(rows);
});
