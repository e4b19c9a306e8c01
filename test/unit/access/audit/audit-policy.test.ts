import { describe, expect, it } from "vitest";
import { auditLevelOf, type AuditPolicy, parseAuditPolicy } from "../../../../src/access/audit/audit-policy";

describe("parseAuditPolicy", () => {
  it.each<[text: string, want: AuditPolicy]>([
    ["", { writes: "Metadata", reads: "None", sample: 1 }],
    ["writes=Request", { writes: "Request", reads: "None", sample: 1 }],
    [" writes=None , reads=Metadata, sample=0.01,", { writes: "None", reads: "Metadata", sample: 0.01 }],
    ["sample=1", { writes: "Metadata", reads: "None", sample: 1 }],
    ["sample=.5", { writes: "Metadata", reads: "None", sample: 0.5 }],
  ])("%j: read", (text, want) => {
    expect(parseAuditPolicy(text)).toEqual({ ok: true, value: want });
  });

  it("several mistakes: all are reported, each with the variable", () => {
    expect(parseAuditPolicy("writes=metadata,reads=,sample=2,all,reads=None,sample=1e-3,writes=None=None")).toEqual({
      ok: false,
      error: [
        'AUDIT_POLICY: writes must be one of None, Metadata, Request, got "metadata"',
        'AUDIT_POLICY: reads must be one of None, Metadata, Request, got ""',
        'AUDIT_POLICY: sample must be a number between 0 and 1, got "2"',
        'AUDIT_POLICY: "all" must begin with writes=, reads= or sample=',
        "AUDIT_POLICY: reads stands there twice",
        "AUDIT_POLICY: sample stands there twice",
        'AUDIT_POLICY: sample must be a number between 0 and 1, got "1e-3"',
        "AUDIT_POLICY: writes stands there twice",
        'AUDIT_POLICY: writes must be one of None, Metadata, Request, got "None=None"',
      ],
    });
  });
});

describe("auditLevelOf", () => {
  const policy: AuditPolicy = { writes: "Metadata", reads: "Request", sample: 0.1 };

  it.each(["create", "update", "patch", "delete", "deletecollection", "post", "impersonate"])("%s: always written", (verb) => {
    for (let i = 0; i < 50; i++) expect(auditLevelOf(policy, verb, `id-${i}`)).toBe("Metadata");
  });

  it.each([
    [0, 0, 0],
    [0.1, 900, 1_100],
    [1, 10_000, 10_000],
  ])("reads of sample %d: about as many are written, the same ones each time", (sample, min, max) => {
    const sampled = () => Array.from({ length: 10_000 }, (_, i) => auditLevelOf({ ...policy, sample }, "get", `id-${i}`));
    const first = sampled();
    const written = first.filter((level) => level === "Request").length;
    expect(written).toBeGreaterThanOrEqual(min);
    expect(written).toBeLessThanOrEqual(max);
    expect(sampled()).toEqual(first);
  });

  it("reads of level None: not written", () => {
    expect(auditLevelOf({ ...policy, reads: "None", sample: 1 }, "list", "id")).toBe("None");
  });
});
