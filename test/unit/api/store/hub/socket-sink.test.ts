import { describe, expect, it } from "vitest";
import type { Encoding } from "../../../../../src/api/rpc/store";
import { SOCKET_ALLOWANCE_BYTES, socketSink } from "../../../../../src/api/store/hub/socket-sink";

function setting(encoding?: Encoding) {
  const calls: (string | Uint8Array)[] = [];
  const socket = {
    fails: false,
    send(text: string | Uint8Array): void {
      if (socket.fails) throw new Error("the client is gone");
      calls.push(text);
    },
    close(code: number, reason = ""): void {
      if (socket.fails) throw new Error("the client is gone");
      calls.push(`close ${code} ${reason}`);
    },
  };
  let lost = 0;
  const sink = socketSink(socket, () => lost++, encoding);
  return { calls, socket, sink, lost: () => lost };
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("socketSink", () => {
  it("piece of several events: one message for each", () => {
    const { calls, sink } = setting();
    sink.write(bytes('{"a":1}\n{"b":2}\n'));
    expect(calls).toEqual(['{"a":1}\n', '{"b":2}\n']);
  });

  it("piece of several protobuf frames: one binary message for each, without its length", () => {
    const { calls, sink } = setting("protobuf");
    sink.write(Uint8Array.of(0, 0, 0, 2, 8, 9, 0, 0, 0, 1, 7));
    expect(calls).toEqual([Uint8Array.of(8, 9), Uint8Array.of(7)]);
  });

  it("bytes within the allowance: no backlog; beyond it: what is beyond", () => {
    const { sink } = setting();
    sink.write(bytes("x".repeat(SOCKET_ALLOWANCE_BYTES - 1) + "\n"));
    expect(sink.backlogBytes()).toBe(0);
    sink.write(bytes("yy\n"));
    expect(sink.backlogBytes()).toBe(3);
  });

  it("client that is gone: told once, and nothing is sent any more", () => {
    const { calls, socket, sink, lost } = setting();
    socket.fails = true;
    sink.write(bytes("a\n"));
    socket.fails = false;
    sink.write(bytes("b\n"));
    expect([calls, lost(), sink.backlogBytes()]).toEqual([[], 1, 0]);
  });

  it.each([
    ["end", "close 1000 the watch is over"],
    ["abort", "close 1000 too slow"],
  ] as const)("%s: a proper close, once", (call, wanted) => {
    const { calls, sink } = setting();
    if (call === "end") sink.end();
    else sink.abort("too slow");
    sink.end();
    sink.write(bytes("late\n"));
    expect(calls).toEqual([wanted]);
  });

  it("close that the client was faster with: is no error", () => {
    const { socket, sink } = setting();
    socket.fails = true;
    expect(() => sink.end()).not.toThrow();
  });
});
