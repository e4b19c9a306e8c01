import { beforeEach, expect, it } from "vitest";
import { StoredPolicy, type StoredRules } from "../../../../src/access/rbac/stored-policy";

const HOUR_MS = 3_600_000;
const RULES: StoredRules = { version: "v1", text: "{}", length: 2, asOf: HOUR_MS };

let value: StoredRules | undefined;
let saves = 0;
let policy: StoredPolicy;
beforeEach(() => {
  value = undefined;
  saves = 0;
  policy = made();
});

function made(): StoredPolicy {
  return new StoredPolicy({
    load: () => value,
    save: (rules) => {
      saves++;
      value = rules;
    },
    remove: () => (value = undefined),
  });
}

it.each([
  ["a clock that was set back", -1, false],
  ["at once", 0, true],
  ["within the hour", HOUR_MS - 1, true],
  ["after it", HOUR_MS, false],
])("%s: counts or not", (_when, ageMs, counts) => {
  policy.save(RULES);
  expect(made().rulesAt(RULES.asOf + ageMs)).toEqual(counts ? RULES : undefined);
});

it("the same rules again: are saved anew after half an hour; others at once", () => {
  policy.save(RULES);
  policy.save({ ...RULES, asOf: RULES.asOf + HOUR_MS / 2 - 1 });
  expect(saves).toBe(1);
  policy.save({ ...RULES, asOf: RULES.asOf + HOUR_MS / 2 });
  expect(saves).toBe(2);
  policy.save({ ...RULES, version: "v2" });
  policy.save({ ...RULES, version: "v2", length: 3 });
  expect(saves).toBe(4);
});

it("rules that are too large for a value: the ones before go, and none are kept", () => {
  policy.save(RULES);
  policy.save({ ...RULES, version: "v2", text: "x".repeat(512 * 1024 + 1) });
  expect(value).toBeUndefined();
  expect(policy.rulesAt(RULES.asOf)).toBeUndefined();
});

it("a removal that was undone: the next one removes again", () => {
  policy.save(RULES);
  policy.remove();
  value = RULES;
  policy.undone();
  expect(policy.rulesAt(RULES.asOf)).toEqual(RULES);
  policy.remove();
  expect(value).toBeUndefined();
});
