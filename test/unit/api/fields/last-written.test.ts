import { expect, it } from "vitest";
import { lastWritten } from "../../../../src/api/fields/last-written";
import type { KubeObject } from "../../../../src/api/meta/kubernetes";

const NOW = Date.UTC(2026, 0, 1, 12, 0, 30, 250);
const PATH = ["f:spec", "f:renewTime"];
const owned = { "f:spec": { "f:renewTime": {} } };

it.each<[string, [time: string | undefined, fields: object][], number | undefined]>([
  ["nobody's", [], undefined],
  ["a second at most behind its manager's time", [["2026-01-01T12:00:10Z", owned]], NOW - 19_250],
  [
    "the latest of those who have it",
    [
      ["2026-01-01T12:00:20Z", owned],
      ["2026-01-01T12:00:10Z", owned],
    ],
    NOW - 9_250,
  ],
  [
    "not another field's",
    [
      ["2026-01-01T12:00:10Z", owned],
      ["2026-01-01T12:00:20Z", { "f:spec": { "f:holderIdentity": {} } }],
    ],
    NOW - 19_250,
  ],
  ["never in the future", [["2026-01-01T12:00:30Z", owned]], NOW],
  [
    "unknown, where a client made a time up",
    [
      ["2026-01-01T12:01:00Z", owned],
      ["2026-01-01T12:00:10Z", owned],
    ],
    undefined,
  ],
  ["unknown, where the owner has no time", [[undefined, owned]], undefined],
])("the time of a field: %s", (_, entries, wanted) => {
  const managedFields = entries.map(([time, fieldsV1]) => ({ manager: "m", operation: "Update", time, fieldsV1 }));
  expect(lastWritten({ metadata: { managedFields } } as KubeObject, PATH, NOW)).toBe(wanted);
});
