import { expect, it } from "vitest";
import { beginningOf } from "../../../../src/tools/backup/beginning";
import type { BackupSection } from "../../../../src/tools/backup/format";

const HEADER = { createdAt: "2026-11-01T12:00:00.250Z", server: "https://h", serverVersion: "v1.36.2" };

function section(resourceVersion: string, ...revisions: string[]): BackupSection {
  const type = { group: "", version: "v1", resource: "services", kind: "Service", namespaced: true, hasStatus: true };
  return { type, resourceVersion, objects: revisions.map((revision) => JSON.stringify({ metadata: { resourceVersion: revision } })) };
}

it.each([
  ["the heads of the backup", { heads: { services: "4711" } }, [section("9999")], { services: "4711" }],
  ["a backup without heads: its greatest resourceVersion", {}, [section("12", "9"), section("7", "8", "100"), section("")], { any: "100" }],
  ["a list that is ahead of its objects", {}, [section("4711", "9")], { any: "4711" }],
  ["an empty backup", {}, [], { any: "0" }],
])("beginningOf %s", (_, heads, sections, expected) => {
  expect(beginningOf({ header: { ...HEADER, ...heads }, sections })).toEqual({ asOf: "2026-11-01T12:00:00Z", heads: expected });
});

it("beginningOf a backup without a time: it is as old as may be", () => {
  expect(beginningOf({ header: { ...HEADER, createdAt: "undefined" }, sections: [] }).asOf).toBe("2026-01-01T00:00:00Z");
});
