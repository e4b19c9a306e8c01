import { describe, expect, it } from "vitest";
import { type Result, ok } from "../../../../src/core/base/result";
import { type Backup, BackupReader, type BackupSection, endLine, headerLine, sectionLines } from "../../../../src/tools/backup/format";

const services: BackupSection = {
  type: { group: "", version: "v1", resource: "services", kind: "Service", namespaced: true, hasStatus: true },
  resourceVersion: "12",
  objects: ['{"kind":"Service","metadata":{"name":"a"}}', '{"kind":"Service","metadata":{"name":"b"}}'],
};
const leases: BackupSection = {
  type: { group: "coordination.k8s.io", version: "v1", resource: "leases", kind: "Lease", namespaced: true, hasStatus: false },
  resourceVersion: "3",
  objects: [],
};
const header = { createdAt: "2026-01-01T00:00:00.000Z", server: "http://here", serverVersion: "v1.36.2" };
const end = { types: 2, objects: 2, sha256: "abc" };

function whole(): string[] {
  return [headerLine(header), ...sectionLines(services), ...sectionLines(leases), endLine(end)];
}

function read(lines: readonly string[], sha256 = "abc"): Result<Backup, string> {
  const reader = new BackupReader();
  for (const line of lines) {
    const taken = reader.take(line, { sha256: () => sha256, link: () => undefined });
    if (!taken.ok) return taken;
  }
  return reader.end();
}

it("backup, written and read: the same", () => {
  expect(read(whole())).toEqual(ok({ header, sections: [services, leases], sha256: "abc" }));
});

it("heads of stores: the same, and a file whose heads are no revisions is refused", () => {
  const headed = { ...header, heads: { services: "4711", events: "7" } };
  const lines = [headerLine(headed), ...sectionLines(services), ...sectionLines(leases), endLine(end)];
  expect(read(lines)).toEqual(ok({ header: headed, sections: [services, leases], sha256: "abc" }));
  for (const heads of [{ services: 4711 }, { services: "x" }, [], "4711", null]) {
    const damaged = { ...header, heads } as unknown as typeof headed;
    expect(read([headerLine(damaged), ...lines.slice(1)])).toEqual({
      ok: false,
      error: "is damaged: its first line has heads that are no resourceVersions",
    });
  }
});

describe("damaged file", () => {
  it("file cut at any line: refused", () => {
    const lines = whole();
    for (let length = 1; length < lines.length; length++) {
      const result = read(lines.slice(0, length));
      expect(result).toEqual({ ok: false, error: `is cut short: it ends after ${length} lines, without its closing line` });
    }
  });

  it("file cut at any character: refused", () => {
    const text = whole().join("\n");
    for (let length = 1; length < text.length; length++)
      expect([length, read(text.slice(0, length).split("\n")).ok]).toEqual([length, false]);
  });

  it.each([
    ["an empty file", [], /^is empty$/],
    ["what kubectl prints", ['{"kind":"List","items":[]}'], /^is no backup \(npm run import takes what kubectl printed\)$/],
    ["a file of plain text", ["hello"], /^is no backup/],
    ["another JSON", ['{"a":1}'], /^is no backup$/],
    [
      "a newer version",
      [headerLine(header).replace('"version":1', '"version":3')],
      /^has version 3 of the format, and this program knows none above 2/,
    ],
    [
      "an object too many",
      [headerLine(header), ...sectionLines(services), '{"kind":"Service","metadata":{"name":"c"}}'],
      /^is damaged: line 5 begins no type$/,
    ],
    [
      "an object of another kind",
      [headerLine(header), ...sectionLines({ ...services, objects: ['{"kind":"Lease","metadata":{"name":"a"}}'] })],
      /^is damaged: line 3 is no Service$/,
    ],
    [
      "an object without a name",
      [headerLine(header), ...sectionLines({ ...services, objects: ['{"kind":"Service"}'] })],
      /^is damaged: line 3 is no Service$/,
    ],
    ["no JSON in the middle", [headerLine(header), "{"], /^is damaged: line 2 is no JSON object$/],
    ["something behind the end", [...whole(), "{}"], /^has something behind its end \(line 7\)$/],
    [
      "another count of objects",
      [...whole().slice(0, -1), endLine({ ...end, objects: 3 })],
      /^is damaged: its closing line counts something else/,
    ],
    [
      "another count of types",
      [...whole().slice(0, -1), endLine({ ...end, types: 3 })],
      /^is damaged: its closing line counts something else/,
    ],
  ])("%s: refused, the message says why", (_, lines, message) => {
    const result = read(lines);
    expect(result.ok).toBe(false);
    if (!result.ok) expect(result.error).toMatch(message);
  });

  it("file with another checksum: refused", () => {
    expect(read(whole(), "abd")).toEqual({ ok: false, error: "was altered: its checksum is another one" });
  });
});
