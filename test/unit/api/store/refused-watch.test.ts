import { expect, it } from "vitest";
import { badRequest } from "../../../../src/api/meta/status";
import { refusedWatchFrame } from "../../../../src/api/store/refused-watch";

it("revision before the history: an ERROR event", () => {
  const frame = refusedWatchFrame({ ...badRequest("too old resource version"), reason: "Expired", code: 410 });
  expect(JSON.parse(frame ?? "")).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
});

it("any other refusal: an HTTP error", () => {
  expect(refusedWatchFrame(badRequest("no"))).toBeUndefined();
});
