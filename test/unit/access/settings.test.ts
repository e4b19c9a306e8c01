import { describe, expect, it } from "vitest";
import { checkedVars } from "../../../src/access/settings";

describe("checkedVars", () => {
  it("no variable: the configuration of the defaults", () => {
    const checked = checkedVars({});
    expect(checked.ok && checked.value.serviceRanges).toEqual(["10.0.0.0/24"]);
  });

  it("several broken ones: all are named, plain ones and those of access control, and no secret is shown", () => {
    const checked = checkedVars({ MAX_ENDPOINTS_PER_SLICE: "x", ADMIN_TOKEN_HASHES: "secret", AUDIT_POLICY: "loud" });
    const problems = checked.ok ? [] : checked.error;
    expect(problems.map((text) => text.split(/[^A-Z_]/)[0])).toEqual(["MAX_ENDPOINTS_PER_SLICE", "ADMIN_TOKEN_HASHES", "AUDIT_POLICY"]);
    expect(problems.join()).not.toContain("secret");
  });
});
