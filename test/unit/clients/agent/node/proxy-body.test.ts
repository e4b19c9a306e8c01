import { expect, it } from "vitest";
import { reportOf } from "../../../../../src/clients/agent/node/proxy-body";
import { healthAnswer } from "../../../../../src/proxy-health/rules/health-answer";

const NOW = '"currentTime":"2025-01-02T03:04:05.6Z"';
const GO_NOW = "2025-01-02 03:04:05.6 +0000 UTC m=+61.2";

/** [what, code, body, report for an IPv4 node; undefined = no answer of a proxy] */
const rows: [string, number, string, object | undefined][] = [
  [
    "both families",
    200,
    `{"lastUpdated":"2025-01-02T03:04:05.6Z",${NOW},"nodeEligible":true,"healthy":true,"status":{"IPv4":{"lastUpdated":"2025-01-02T03:04:00Z","healthy":true},"IPv6":{"lastUpdated":"2025-01-02T03:04:05Z","healthy":true}}}`,
    { IPv4: { healthy: true, appliedAgoMs: 5_600 }, IPv6: { healthy: true, appliedAgoMs: 600 } },
  ],
  [
    "one family late",
    503,
    `{"lastUpdated":"2025-01-02T03:02:05Z",${NOW},"nodeEligible":true,"healthy":false,"status":{"IPv4":{"lastUpdated":"2025-01-02T03:02:05.6Z","healthy":false}}}`,
    { IPv4: { healthy: false, appliedAgoMs: 120_000 } },
  ],
  [
    "a node that drains: the proxy is well",
    503,
    `{"lastUpdated":"2025-01-02T03:04:05.6Z",${NOW},"nodeEligible":false,"healthy":true,"status":{"IPv4":{"lastUpdated":"2025-01-02T03:04:05.6Z","healthy":true}}}`,
    { IPv4: { healthy: true, appliedAgoMs: 0 } },
  ],
  ["before the first sync", 200, `{"lastUpdated":"2025-01-02T03:04:05.6Z",${NOW},"nodeEligible":true,"healthy":true}`, {}],
  [
    "livez",
    200,
    `{${NOW},"healthy":true,"status":{"IPv4":{"lastUpdated":"0001-01-01T00:00:00Z","healthy":true}}}`,
    { IPv4: { healthy: true } },
  ],
  ["1.32: well", 200, `{"lastUpdated": "${GO_NOW}","currentTime": "${GO_NOW}", "nodeEligible": true}`, { IPv4: { healthy: true } }],
  [
    "1.32: late",
    503,
    `{"lastUpdated": "2025-01-02 03:00:00 +0000 UTC m=+1.2","currentTime": "${GO_NOW}", "nodeEligible": true}`,
    { IPv4: { healthy: false } },
  ],
  [
    "1.32: a node that drains",
    503,
    `{"lastUpdated": "${GO_NOW}","currentTime": "${GO_NOW}", "nodeEligible": false}`,
    { IPv4: { healthy: true } },
  ],
  ["1.32: livez, late", 503, `{"lastUpdated": "${GO_NOW}","currentTime": "${GO_NOW}"}`, { IPv4: { healthy: false } }],
  ["a zone that is not UTC", 200, `{"lastUpdated":"x","currentTime":"2025-01-02 05:04:05 +0200 CEST m=+1"}`, { IPv4: { healthy: true } }],
  ["another code", 404, `{${NOW},"healthy":true}`, undefined],
  ["no JSON", 200, "ok", undefined],
  ["no object", 200, "null", undefined],
  ["no times", 200, '{"healthy":true}', undefined],
];

it.each(rows)("%s", (_, code, text, report) => {
  expect(reportOf(code, text, ["IPv4"])).toEqual(report);
});

it("what this project's own proxy answers is read", () => {
  const families = { IPv6: { lastUpdated: 1_000_000, healthy: true } };
  const { code, body } = healthAnswer("/healthz", { healthy: true, nodeEligible: true, families }, 1_002_000);
  expect(reportOf(code, body, ["IPv4"])).toEqual({ IPv6: { healthy: true, appliedAgoMs: 2_000 } });
});
