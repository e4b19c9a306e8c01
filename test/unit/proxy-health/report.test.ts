import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/api/schema/json/json-value";
import { parseReport } from "../../../src/proxy-health/report";

const TEN_YEARS_MS = 315_360_000_000;

describe("report", () => {
  it.each<JsonObject>([
    {},
    { IPv4: { appliedAgoMs: 0 } },
    { IPv4: { queuedForMs: TEN_YEARS_MS } },
    { IPv4: { queuedForMs: 5, appliedAgoMs: 7 }, IPv6: { healthy: false } },
    { IPv6: { healthy: true, appliedAgoMs: 1_200 } },
  ])("%j: is taken as it is", (body) => {
    expect(parseReport(body)).toEqual({ ok: true, value: body });
  });

  const whole = `must be a whole number of milliseconds between 0 and ${TEN_YEARS_MS}`;
  const fields = "Forbidden: a report has queuedForMs, appliedAgoMs and healthy";
  it.each<[body: JsonObject, ...errors: string[]]>([
    [{ IPv5: { healthy: true } }, 'family: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"'],
    [{ __proto__: null, toString: {} }, 'family: Unsupported value: "toString": supported values: "IPv4", "IPv6"'],
    [{ IPv4: null }, "IPv4: Invalid value: null: must be an object"],
    [{ IPv4: [] }, "IPv4: Invalid value: []: must be an object"],
    [{ IPv4: {} }, "IPv4: Required value: must have queuedForMs, appliedAgoMs or healthy"],
    [{ IPv4: { queuedForMs: -1 } }, `IPv4.queuedForMs: Invalid value: -1: ${whole}`],
    [{ IPv4: { queuedForMs: 1.5 } }, `IPv4.queuedForMs: Invalid value: 1.5: ${whole}`],
    [{ IPv4: { appliedAgoMs: TEN_YEARS_MS + 1 } }, `IPv4.appliedAgoMs: Invalid value: ${TEN_YEARS_MS + 1}: ${whole}`],
    [{ IPv4: { appliedAgoMs: "1" } }, `IPv4.appliedAgoMs: Invalid value: "1": ${whole}`],
    [{ IPv4: { appliedAgoMs: 2n ** 70n } }, `IPv4.appliedAgoMs: Invalid value: ${2n ** 70n}: ${whole}`],
    [{ IPv4: { healthy: "yes" } }, 'IPv4.healthy: Invalid value: "yes": must be true or false'],
    [{ IPv4: { healthy: true, queuedForMs: 1 } }, "IPv4.queuedForMs: Forbidden: may not be set beside healthy"],
    [{ IPv4: { lastUpdated: "2025-01-02T03:04:05Z", appliedAgoMs: 1 } }, `IPv4.lastUpdated: ${fields}`],
    [
      { IPv4: { queuedForMs: -1 }, IPv6: { healthy: 1 } },
      `IPv4.queuedForMs: Invalid value: -1: ${whole}`,
      "IPv6.healthy: Invalid value: 1: must be true or false",
    ],
  ])("%o: is refused, and every mistake is named", (body, ...errors) => {
    const parsed = parseReport(body);
    expect(parsed.ok ? [] : parsed.error.map(({ field, body: text }) => `${field}: ${text}`)).toEqual(errors);
  });
});
