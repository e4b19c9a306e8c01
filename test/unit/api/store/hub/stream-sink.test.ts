import { describe, expect, it } from "vitest";
import type { Encoding } from "../../../../../src/api/rpc/store";
import { streamSink, WATCH_BUFFER_BYTES } from "../../../../../src/api/store/hub/stream-sink";

function setting(encoding?: Encoding) {
  const calls: string[] = [];
  const stream = {
    desiredSize: WATCH_BUFFER_BYTES as number | null,
    fails: false,
    enqueue(bytes: Uint8Array): void {
      if (stream.fails) throw new Error("the reader is gone");
      stream.desiredSize = (stream.desiredSize ?? 0) - bytes.length;
      calls.push(new TextDecoder().decode(bytes));
    },
    close: () => void calls.push("close"),
    error: (reason: Error) => void calls.push(`error ${reason.message}`),
  };
  let lost = 0;
  const sink = streamSink(stream, () => lost++, encoding);
  return { calls, stream, sink, lost: () => lost };
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("streamSink", () => {
  it("write: the backlog is what the reader has not taken", () => {
    const { calls, sink } = setting();
    sink.write(bytes("event\n"));
    expect([calls, sink.backlogBytes()]).toEqual([["event\n"], 6]);
  });

  it("more than the buffer holds: the backlog goes on counting", () => {
    const { sink } = setting();
    sink.write(new Uint8Array(WATCH_BUFFER_BYTES + 5));
    expect(sink.backlogBytes()).toBe(WATCH_BUFFER_BYTES + 5);
  });

  it("failed stream: has no backlog", () => {
    const { stream, sink } = setting();
    stream.desiredSize = null;
    expect(sink.backlogBytes()).toBe(0);
  });

  it.each(["write", "probe"] as const)("%s to a client that is gone: told once, and nothing is written any more", (call) => {
    const { calls, stream, sink, lost } = setting();
    stream.fails = true;
    if (call === "write") sink.write(bytes("a"));
    else sink.probe();
    stream.fails = false;
    sink.write(bytes("b"));
    sink.end();
    expect([calls, lost(), sink.backlogBytes()]).toEqual([[], 1, 0]);
  });

  it("probe: a space, which readers skip", () => {
    const { calls, sink } = setting();
    sink.probe();
    expect(calls).toEqual([" "]);
  });

  it("probe between protobuf frames: nothing, because nothing can be skipped there", () => {
    const { calls, sink } = setting("protobuf");
    sink.probe();
    expect(calls).toEqual([]);
  });

  it.each([
    ["end", "close"],
    ["abort", "error too slow"],
  ] as const)("%s: %s, once", (call, wanted) => {
    const { calls, sink } = setting();
    if (call === "end") sink.end();
    else sink.abort("too slow");
    sink.end();
    sink.abort("again");
    sink.write(bytes("late"));
    expect(calls).toEqual([wanted]);
  });
});
