import { expect, it } from "vitest";
import { badRequest } from "../../../../../src/api/meta/status";
import { readFrames } from "../../../../support/values/protobuf-answers";
import { refusedWatchFrame } from "../../../../../src/api/store/watch/refused-watch";

it("revision before the history: an ERROR event", () => {
  const frame = refusedWatchFrame({ ...badRequest("too old resource version"), reason: "Expired", code: 410 });
  expect(JSON.parse(new TextDecoder().decode(frame))).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
});

it("revision before the history, in protobuf: an ERROR event with the same Status", () => {
  const status = { ...badRequest("too old resource version"), reason: "Expired", code: 410 };
  const { events } = readFrames(refusedWatchFrame(status, "protobuf") ?? new Uint8Array());
  expect(events).toEqual([{ type: "ERROR", object: status }]);
});

it("any other refusal: an HTTP error", () => {
  expect(refusedWatchFrame(badRequest("no"))).toBeUndefined();
});
