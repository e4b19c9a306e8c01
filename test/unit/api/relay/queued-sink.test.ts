import { expect, it } from "vitest";
import { queuedSink } from "../../../../src/api/relay/queued-sink";
import { SimClient } from "../../../support/relay/relay-world";

it("what is written: waits, in order, until the own request takes its turn", () => {
  const client = new SimClient();
  let wakes = 0;
  const sink = queuedSink(client, () => void wakes++);
  const bytes = new TextEncoder().encode("abc");
  sink.write(bytes);
  sink.probe();
  sink.end();
  expect([client.text, client.probes, client.state, wakes, sink.backlogBytes()]).toEqual(["", 0, "open", 3, 3]);
  sink.flush();
  expect([client.text, client.probes, client.state, sink.backlogBytes()]).toEqual(["abc", 1, "ended", 0]);
  sink.flush();
  expect([client.text, wakes]).toEqual(["abc", 3]);
});

it("a client whose reading does not show: is told as such", () => {
  expect(queuedSink(new SimClient(), () => undefined).isBlind).toBeUndefined();
  expect(queuedSink(Object.assign(new SimClient(), { isBlind: true as const }), () => undefined).isBlind).toBe(true);
});
